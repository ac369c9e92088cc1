"""Export of a whole study to a file (Parquet or JSON lines), and import of such a file.

A row is an event. Its columns are ``seq``, ``kind``, ``at``, ``decision`` and ``body``, as in the log. The columns
``arms`` (labels) and ``outcomes`` (in the user's unit) repeat a part of ``body`` in a readable form.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rising_bandits import _checks
from rising_bandits._extras import require
from rising_bandits._files import replacing
from rising_bandits._parquet import check_pages
from rising_bandits.errors import InputError, RisingBanditsError, StorageError
from rising_bandits.problems.base import Label
from rising_bandits.studies.log.checking import check, check_first
from rising_bandits.studies.log.events import KINDS, Event
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.log import Log
from rising_bandits.studies.reports.history import history
from rising_bandits.studies.settings import Settings

FORMAT = 1
"""The format of exported files."""
SUFFIXES = (".parquet", ".jsonl")
_KEY = "rising_bandits_study"
"""The name under which a file holds the name and the settings of the study."""
_BATCH = 50_000
"""How many rows are read or written at a time."""
_TOGETHER = 2_000
"""How many events an import writes at a time."""
_LATEST = 9e9
"""The latest time of an event, in seconds since 1970 (the year 2255). The times of pandas do not go much further."""


def export(log: Log, path: Path) -> Path:
    """Write the log of a study to a file, see `Study.export`."""
    write = {".parquet": _write_parquet, ".jsonl": _write_lines}[_target(path)]
    header = {"format": FORMAT, "name": log.name, "settings": log.settings.as_dict()}
    with log.look() as (fold, reader):
        events = reader.later(log.number, 0)
        rows = (_row(event, fold.labels) for event in events)
        with writing(path) as aside:
            write(aside, header, rows)
    return path


def export_history(log: Log, path: Path) -> Path:
    """Write the history of a study to a file, see `Study.export_history`."""
    suffix = _target(path)
    table = history(log)
    table["arm"] = [str(arm) for arm in table["arm"]]
    table["super_arm"] = [[str(arm) for arm in arms] for arms in table["super_arm"]]
    if suffix == ".parquet":
        # A column of Parquet has one type, and metadata may have any.
        table["metadata"] = [json.dumps(said) for said in table["metadata"]]
    with writing(path) as aside:
        if suffix == ".parquet":
            table.to_parquet(aside, index=False)
        else:
            # Not with `to_json` of pandas, which would round the outcomes.
            plain = table.astype(object).where(table.notna(), None)
            with aside.open("w", encoding="utf-8") as handle:
                handle.writelines(json.dumps(row, default=str) + "\n" for row in plain.to_dict("records"))
    return path


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """As `replacing`. A file that cannot be written is an `InputError`."""
    try:
        with replacing(path) as aside:
            yield aside
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"path must be a file that can be written, got {str(path)!r} ({why})") from None


def written_labels(labels: Sequence[Label]) -> dict[Label, Label]:
    """Labels that are not text, by the text that a file has for them. Texts that two labels share are left out.

    >>> written_labels(["a", 1, ("b", "c")])
    {'1': 1, "('b', 'c')": ('b', 'c')}
    """
    count = Counter(map(str, labels))
    return {str(label): label for label in labels if not isinstance(label, str) and count[str(label)] == 1}


def read(path: Path) -> tuple[str, Settings, Iterator[Any]]:
    """Read the name, the settings and the rows of an exported file. `bring` checks the rows."""
    suffix = _suffix(path)
    if not path.is_file():
        raise InputError(f"path must be a file that a study was exported to, but {str(path)!r} does not exist")
    try:
        header, rows = (_read_parquet if suffix == ".parquet" else _read_lines)(path)
        settings = Settings.from_dict(header["settings"])
        name = str(header["name"])
        if header["format"] != FORMAT:
            raise InputError(f"{str(path)!r} is of format {header['format']!r}, this program reads {FORMAT}")
    except RisingBanditsError:
        raise
    except Exception as error:
        raise InputError(f"path must be a file that a study was exported to; {str(path)!r} is not ({error})") from None
    return name, settings, rows


def bring(log: Log, path: Path, rows: Iterator[Any]) -> Fold:
    """Write the rows of an exported file as the log of a hidden study. Each event is checked against those before it.

    Each batch is a transaction of its own, so that others can write to the database in between.

    Parameters
    ----------
    log
        The log of the new study.
    path
        The file, for error messages.
    rows
        Its rows, from `read`.

    Returns
    -------
    Fold
        The state of the study after the last event.
    """
    fold: Fold | None = None
    pending: list[Event] = []
    snapshots: list[tuple[int, bytes]] = []

    def flush() -> None:
        if fold is not None:
            # Before anything is stored: what cannot be learnt must not be in a log.
            with _damage(path, fold.seq):
                fold.learn()
        with log.storage.write(log.number) as writer:
            digest = writer.append(log.number, pending)
            for seq, body in snapshots:
                writer.keep_snapshot(log.number, seq, body)
        if fold is not None:
            fold.digest = digest
        pending.clear()
        snapshots.clear()

    for row, event in _events(path, rows):
        if event.kind == "problem" and event.body["spec"] is None:
            # Outside `_damage`: a problem that was not passed is not a fault of the file.
            log.resolve(event.body)
        late = fold is not None and event.kind in ("tell", "piece") and event.decision not in fold.waiting
        if pending and (late or len(pending) >= _TOGETHER):
            # The check of a late tell reads the earlier events of its decision from the log.
            flush()
        with _damage(path, event.seq):
            if fold is None:
                check_first(log, event)
                fold = log.begin(event)
            elif late:
                with log.storage.read() as reader:
                    check(log, fold, reader, event)
                fold.apply(event)
            else:
                check(log, fold, None, event)
                fold.apply(event)
            said = {name: part for name, part in _row(event, fold.labels).items() if name in row}
            if said != {name: row[name] for name in said}:
                raise InputError("the columns arms and outcomes must agree with the column body")
        pending.append(event)
        if log.due(fold):
            # Its checksum is known once its event is stored.
            flush()
            snapshots.append(log.snapshot(fold))
    if fold is None:
        raise InputError(f"{str(path)!r} holds no event; nothing was imported")
    flush()
    if fold.stale:
        with log.storage.read() as reader:
            log.relearn(fold, reader)
    return fold


def _events(path: Path, rows: Iterator[Any]) -> Iterator[tuple[dict[str, Any], Event]]:
    """The rows and their events. Each event is checked by itself, without the others."""
    for place in itertools.count(1):
        with _damage(path, place):
            row = next(rows, None)
            if row is None:
                return
            row = json.loads(row) if isinstance(row, str) else row
            body = json.loads(row["body"]) if isinstance(row["body"], str) else row["body"]
            row = {**row, "body": body}
            event = Event(
                row["seq"],
                row["kind"],
                _checks.number("at", row["at"], low=-_LATEST, high=_LATEST),
                row["decision"],
                body,
            )
            if isinstance(event.seq, bool) or event.seq != place:
                raise InputError(f"its number is {event.seq!r}")
            if event.kind not in KINDS:
                raise InputError(f"there is no kind {event.kind!r}")
            if event.decision is not None:
                _checks.integer("decision", event.decision, low=1)
            missing = {"spec", "labels"}.difference(body) if event.kind == "problem" else ()
            if not isinstance(body, dict) or missing:
                raise InputError(f"its body is incomplete: {body!r}")
        yield row, event


@contextlib.contextmanager
def _damage(path: Path, place: int) -> Iterator[None]:
    """Turn errors into an `InputError` that says which event of the file is damaged."""
    try:
        yield
    except StorageError:
        raise
    except KeyError as error:
        raise _damaged(path, place, f"{error} is missing") from None
    except (RisingBanditsError, TypeError, ValueError, AttributeError, LookupError, OSError, RecursionError) as error:
        raise _damaged(path, place, str(error)) from None


def _damaged(path: Path, place: int, why: str) -> InputError:
    """The error for a damaged event."""
    return InputError(f"{str(path)!r} is damaged at event {place}: {why}; nothing was imported")


def _suffix(path: Path) -> str:
    """The suffix of a file, checked."""
    if path.suffix not in SUFFIXES:
        raise InputError(f"path must end in .parquet or .jsonl, got {str(path)!r}")
    return path.suffix


def _target(path: Path) -> str:
    """The suffix of a file to write, checked."""
    if path.is_dir():
        raise InputError(f"path must be a file to write to, but {str(path)!r} is a folder")
    return _suffix(path)


def _row(event: Event, labels: list[Any]) -> dict[str, Any]:
    """The row of an event."""
    told = event.kind in ("tell", "piece")
    return {
        "seq": event.seq,
        "kind": event.kind,
        "at": event.at,
        "decision": event.decision,
        "arms": [str(labels[key]) for key in event.body.get("arms", [])],
        "outcomes": event.body["raw"] if told else None,
        "body": event.body,
    }


def _write_lines(path: Path, header: dict[str, Any], rows: Iterator[dict[str, Any]]) -> None:
    """Write JSON lines; the first line is the header."""
    with path.open("w", encoding="utf-8") as handle:
        handle.write(json.dumps({_KEY: header}) + "\n")
        handle.writelines(json.dumps(row) + "\n" for row in rows)


def _read_lines(path: Path) -> tuple[dict[str, Any], Iterator[Any]]:
    """The inverse of `_write_lines`; rows are still text."""

    def lines() -> Iterator[str]:
        with path.open(encoding="utf-8") as handle:
            next(handle)
            yield from handle

    with path.open(encoding="utf-8") as handle:
        header = json.loads(handle.readline())[_KEY]
    return header, lines()


def _write_parquet(path: Path, header: dict[str, Any], rows: Iterator[dict[str, Any]]) -> None:
    """Write Parquet, with the header in the metadata of the schema."""
    require("lab", "pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"seq": pa.int64(), "kind": pa.string(), "at": pa.float64(), "decision": pa.int64()}
    kinds |= {"arms": pa.list_(pa.string()), "outcomes": pa.list_(pa.float64()), "body": pa.string()}
    schema = pa.schema(kinds, metadata={_KEY: json.dumps(header)})
    with pq.ParquetWriter(path, schema) as writer:
        while batch := list(itertools.islice(rows, _BATCH)):
            flat = [{**row, "body": json.dumps(row["body"])} for row in batch]
            writer.write_table(pa.Table.from_pylist(flat, schema=schema))


def _read_parquet(path: Path) -> tuple[dict[str, Any], Iterator[Any]]:
    """The inverse of `_write_parquet`."""
    require("lab", "pyarrow")
    import pyarrow.parquet as pq

    with path.open("rb") as source:
        check_pages(source, pq.read_metadata(path))

    def rows() -> Iterator[dict[str, Any]]:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_BATCH):
                yield from batch.to_pylist()

    return json.loads(pq.read_schema(path).metadata[_KEY.encode()]), rows()
