"""The guard: who sends a request, and from where. Tokens, sessions of the page, and requests from other sites."""

from __future__ import annotations

import logging
import secrets
import time
from collections import OrderedDict
from urllib.parse import urlsplit

from rising_bandits.errors import InputError
from rising_bandits.serve.limits import Limits, Rate
from rising_bandits.serve.problems import Refused
from rising_bandits.serve.tokens import EVERYTHING, Grant, Tokens, digest

_LOGGER = logging.getLogger(__name__)
LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""The names of this machine for itself."""
COOKIE = "rising_session"
"""The cookie of a session of the page."""
SESSION = 12 * 3600.0
"""How long a session lasts, in seconds."""
_SESSIONS = 1_000
_SAFE = ("GET", "HEAD", "OPTIONS")
_NOBODY = Grant("nobody", frozenset(), frozenset())


class Guard:
    """Finds out what a request may do.

    Parameters
    ----------
    tokens
        The tokens that the service knows.
    limits
        The limits of the service.
    hosts
        The host names under which the service is reached; None for those of loopback if no token is needed, else any.
    """

    def __init__(self, tokens: Tokens, limits: Limits, hosts: tuple[str, ...] | None = None) -> None:
        self.tokens = tokens
        self._hosts = hosts
        self._rate, self._failures = Rate(limits.rate), Rate(limits.failures)
        self._proven: set[str] = set()
        """The hashes of tokens that were right."""
        self._sessions: OrderedDict[str, tuple[str, float]] = OrderedDict()
        """For the hash of each secret: the hash of its token, and until when it lasts."""

    # -- where it comes from

    def check_origin(self, method: str, headers: dict[str, str]) -> None:
        """Refuse a request for another host, or a change that a page of another site asks for.

        Browsers add ``Sec-Fetch-Site`` and ``Origin`` themselves, and no page can change them. Other programs send
        neither, and they hold no cookie of the page.
        """
        host = headers.get("host", "")
        allowed = self._hosts
        if allowed is None and not self._needed():
            allowed = LOOPBACK
        if allowed is not None and _name(host) not in allowed:
            raise Refused(421, f"this service is reached as {', '.join(allowed)}; allow other names with --allow-host")
        if method in _SAFE:
            return
        site = headers.get("sec-fetch-site")
        if site is not None and site not in ("same-origin", "none"):
            raise Refused(403, "a page of another site must not change anything here")
        origin = headers.get("origin")
        if origin is not None and (not host or _netloc(origin) != host.lower()):
            raise Refused(403, "a page of another site must not change anything here")

    # -- who it is

    def grant(self, needed: bool, headers: dict[str, str], peer: str) -> Grant:
        """What a request may do.

        Parameters
        ----------
        needed
            Whether the operation needs a right at all.
        headers
            The headers of the request.
        peer
            The address that it comes from.
        """
        if not needed:
            return _NOBODY
        open_to_all = not self._needed()
        found = EVERYTHING if open_to_all else self._found(headers, peer)
        if not self._rate.take(peer if open_to_all else found.name):
            raise Refused(429, f"at most {self._rate.rate:g} requests a second", {"Retry-After": "1"})
        return found

    def _needed(self) -> bool:
        """Whether a token is needed. Where the file of tokens cannot be read, nobody gets in."""
        try:
            return self.tokens.needed
        except (InputError, OSError) as error:
            _LOGGER.error("nobody gets in: %s", error)
            raise Refused(503, "the file of tokens cannot be read; the log of the service says more") from None

    def _found(self, headers: dict[str, str], peer: str) -> Grant:
        """What the token or the session of a request allows."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            return self.check(token.strip(), peer)
        session = self._session(headers)
        if session is not None:
            return session
        raise Refused(
            401, "send a token in the header 'Authorization: Bearer ...'", {"WWW-Authenticate": 'Bearer realm="rising"'}
        )

    def check(self, token: str, peer: str) -> Grant:
        """What a token allows. Whoever sends wrong ones too often has to wait.

        Behind a proxy all clients have one address. So a token that was right before is let in meanwhile.
        """
        mark = digest(token)
        found = self.tokens.grant_of(mark)
        if (found is None or mark not in self._proven) and self._failures.spent(peer):
            raise Refused(429, "too many wrong tokens", {"Retry-After": "1"})
        if found is None:
            self._failures.take(peer)
            raise Refused(
                401, "the token is not known", {"WWW-Authenticate": 'Bearer realm="rising", error="invalid_token"'}
            )
        self._proven.add(mark)
        return found

    # -- sessions of the page

    def begin(self, token: str, headers: dict[str, str], peer: str) -> str:
        """Begin a session for the holder of a token, and return the text of its cookie.

        Where a proxy adds TLS, the browser says so in ``Origin``, and the cookie is for TLS only.
        """
        self.check(token, peer)
        secret = secrets.token_urlsafe(32)
        self._sessions[digest(secret)] = (digest(token), time.monotonic() + SESSION)
        while len(self._sessions) > _SESSIONS:
            self._sessions.popitem(last=False)
        secure = "; Secure" if headers.get("origin", "").lower().startswith("https:") else ""
        return f"{COOKIE}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={SESSION:.0f}{secure}"

    def end(self, headers: dict[str, str]) -> str:
        """End the session of a request, and return a cookie that takes the place of its own."""
        self._sessions.pop(digest(_cookie(headers) or ""), None)
        return f"{COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0"

    def _session(self, headers: dict[str, str]) -> Grant | None:
        """What the session of a request allows; None if there is no session, or if its token was revoked."""
        secret = _cookie(headers)
        if secret is None:
            return None
        mark, until = self._sessions.get(digest(secret), ("", 0.0))
        return self.tokens.grant_of(mark) if time.monotonic() < until else None


def _cookie(headers: dict[str, str]) -> str | None:
    """The secret of a session, from the cookies of a request. Other services of the host may have set odd ones.

    >>> _cookie({"cookie": 'other={"a": 1}; rising_session=secret; more'})
    'secret'
    """
    for each in headers.get("cookie", "").split(";"):
        name, _, value = each.partition("=")
        if name.strip() == COOKIE:
            return value.strip()
    return None


def _netloc(origin: str) -> str:
    """The host and the port of a header Origin; nothing if there is none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _name(host: str) -> str:
    """The host name of a header Host, without the port.

    >>> _name("LOCALHOST:8765"), _name("[::1]:8765")
    ('localhost', '::1')
    """
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""
