"""Running the service: uvicorn, the rule about loopback, and an end that lets requests finish."""

from __future__ import annotations

import gc
import ipaddress
import logging
import socket
import sys
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from rising_bandits.errors import InputError
from rising_bandits.serve.app import make_app
from rising_bandits.serve.kept import default_folder
from rising_bandits.serve.limits import Limits
from rising_bandits.serve.protocol import Protocol
from rising_bandits.serve.tokens import Tokens
from rising_bandits.studies.storage.sql import Storage

DRAIN = 30
"""How many seconds requests that are underway have to finish."""
_SWITCH = 0.001
"""After how many seconds a busy thread makes way for another one."""


_OBJECTS = 20_000
"""After how many new objects the garbage collector looks for cycles. A request leaves hardly any."""


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_exposure(host: str, tokens: Tokens) -> None:
    """Refuse to listen where others can reach the service without a token."""
    if not is_loopback(host) and not tokens.needed:
        raise InputError(
            f"host must be a loopback address, such as 127.0.0.1, unless there is a token, got {host!r}; "
            "set RISING_TOKEN, or make a token with 'rising serve token create'"
        )


class _Server(uvicorn.Server):
    """A server that ends its streams when it is told to stop."""

    def __init__(self, config: uvicorn.Config, app: Starlette) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let requests finish, and end the streams, which would never."""
        state = getattr(self._app.state, "rising", None)
        if state is not None:
            state.hub.draining.set()
        super().handle_exit(sig, frame)


def run(
    storage: str,
    host: str,
    port: int,
    tokens: Tokens,
    limits: Limits,
    hosts: tuple[str, ...] | None = None,
    *,
    power_safe: bool = False,
    say: Callable[[str], object] = print,
) -> None:
    """Serve until SIGTERM or Ctrl-C.

    Parameters
    ----------
    storage
        The URL of the database.
    host, port
        Where to listen; port 0 stands for any free one.
    tokens, limits, hosts, power_safe
        As in `make_app`.
    say
        A function that is called with a line for the person who started it.

    Raises
    ------
    InputError
        Others could reach the service without a token, the address cannot be listened at, or the storage is not a URL
        of a database.
    StorageError
        The database cannot be opened.
    """
    check_exposure(host, tokens)
    # A database that cannot be opened is one line for the person who starts it, before anything listens.
    Storage(storage, power_safe=power_safe).close()
    app = make_app(storage, tokens=tokens, limits=limits, power_safe=power_safe, hosts=hosts, folder=default_folder())
    note = "tokens needed" if tokens.needed else "no token"
    listen_and_serve(app, host, port, lambda address: say(f"rising serve: {address} ({note})"))


def listen_and_serve(app: Starlette, host: str, port: int, say: Callable[[str], object]) -> None:
    """Serve an application until SIGTERM or Ctrl-C. ``say`` is called with its address."""
    bound = _listen(host, port)
    place = f"[{host}]" if ":" in host else host
    say(f"http://{place}:{bound.getsockname()[1]}/")
    sys.setswitchinterval(_SWITCH)
    gc.freeze()
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    _Server(config(app), app).run(sockets=[bound])


def config(app: Starlette) -> uvicorn.Config:
    """How uvicorn serves an application, by default at a free port."""
    return uvicorn.Config(
        app,
        port=0,
        http=Protocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=DRAIN,
        lifespan="on",
    )


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host.strip("[]"), port))
        bound.listen(2048)
    except OSError as error:
        bound.close()
        raise InputError(f"cannot listen at {host}, port {port}: {error.strerror or error}") from None
    bound.set_inheritable(True)
    return bound
