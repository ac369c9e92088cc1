"""Chronicles on disk, so that a service that starts again need not read whole logs.

A file says nothing that the log does not. It is bound to its log by the checksum of the newest event that it covers,
which covers all events before. A file that is damaged, of another format or of another log is passed over.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import zlib
from pathlib import Path

import msgspec

from rising_bandits._files import replacing
from rising_bandits.errors import RisingBanditsError
from rising_bandits.serve.chronicle import Chronicle
from rising_bandits.studies import Study

EVERY = 10_000
"""After how many new events a chronicle is stored again."""
AT_ONCE = 20_000
"""How many events are read at a time, so that a request does not take long."""
MOST_BYTES = 200_000_000
"""The largest chronicle that is read."""
_MARK = b"rising-bandits chronicle 5\n"
_LOGGER = logging.getLogger(__name__)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Chronicle).decode


def default_folder() -> Path | None:
    """``rising-bandits/pages`` in the user's cache folder; None for a user without a home."""
    home = os.environ.get("XDG_CACHE_HOME")
    with contextlib.suppress(RuntimeError):
        return (Path(home) if home else Path.home() / ".cache") / "rising-bandits" / "pages"
    return None


class Chronicles:
    """The chronicles of the studies of a service: in memory, and in a folder.

    Parameters
    ----------
    folder
        Where they are stored; None for nowhere.
    most
        How many are in memory at most.
    """

    def __init__(self, folder: Path | None, most: int) -> None:
        self._folder, self._most = folder, most
        self._held: dict[str, tuple[int, Chronicle]] = {}
        self._stored: dict[str, int] = {}
        """The newest event of what is stored, by the name of the study."""

    def of(self, study: Study) -> tuple[Chronicle, int]:
        """The chronicle of a study, and how many events it has still to read. Called within a read of its desk."""
        name, number = study.name, study._log.number
        held = self._held.get(name)
        found = None if held is None or held[0] != number else held[1]
        if found is not None and found.scale != study.scale.spec():
            found = None
        if found is None:
            found = self._load(study) or Chronicle.of(study)
            self._stored[name] = found.seq
        self._held.pop(name, None)
        # A chronicle that was taken in by half is not kept.
        left = found.follow(study, AT_ONCE)
        self._held[name] = (number, found)
        if found.seq - self._stored[name] >= EVERY:
            self._store(study, found)
            self._stored[name] = found.seq
        while len(self._held) > self._most:
            oldest = next(iter(self._held))
            del self._held[oldest], self._stored[oldest]
        return found, left

    def _path(self, study: Study) -> Path | None:
        """The file of a study. Its name is a hash, because names of studies and addresses may hold anything."""
        if self._folder is None:
            return None
        about = f"{study._log.storage.place}\n{study._log.number}\n{study.name}"
        return self._folder / f"{hashlib.sha256(about.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}.chronicle"

    def _load(self, study: Study) -> Chronicle | None:
        """The chronicle in the file of a study; None if there is none that fits the log."""
        path = self._path(study)
        if path is None:
            return None
        try:
            data = path.read_bytes()
            head = len(_MARK) + 32
            if not data.startswith(_MARK) or hashlib.sha256(data[head:]).digest() != data[len(_MARK) : head]:
                raise ValueError("it is damaged or of another format")
            reader = zlib.decompressobj()
            found: Chronicle = _decode(reader.decompress(data[head:], MOST_BYTES))
            return found if found.digest and found.fits(study) else None
        except FileNotFoundError:
            return None
        except (OSError, ValueError, zlib.error, msgspec.MsgspecError, RisingBanditsError) as error:
            _LOGGER.warning("the kept chronicle of study %r is not used, its log is read: %s", study.name, error)
            return None

    def _store(self, study: Study, found: Chronicle) -> None:
        """Write the file of a study. Without it the service only starts more slowly, so a failure is only logged."""
        path = self._path(study)
        # A database of an older version has no checksums, so a file could not be bound to its log.
        if path is None or not found.digest:
            return
        try:
            packed = zlib.compress(_encode(found), 1)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with replacing(path) as aside:
                aside.touch(mode=0o600)
                aside.write_bytes(_MARK + hashlib.sha256(packed).digest() + packed)
        except OSError as error:
            _LOGGER.warning("the chronicle of study %r cannot be kept: %s", study.name, error)
