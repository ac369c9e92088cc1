"""A whole study as one file, Parquet or JSON lines, and back.

A row is an event: ``seq``, ``kind``, ``at``, ``decision``, for people ``arms`` (labels) and ``outcomes`` (in the
user's unit), and ``body``, the event as the log has it, from which a study is made again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from rising_bandits._files import replacing
from rising_bandits.errors import InputError
from rising_bandits.studies.events import KINDS, Event
from rising_bandits.studies.history import history
from rising_bandits.studies.log import Log
from rising_bandits.studies.settings import Settings

FORMAT = 1
SUFFIXES = (".parquet", ".jsonl")
_KEY = "rising_bandits_study"
_BATCH = 50_000


def export(log: Log, path: Path) -> Path:
    """Write the log of a study."""
    write = {".parquet": _write_parquet, ".jsonl": _write_lines}[_suffix(path)]
    header = {"format": FORMAT, "name": log.name, "settings": log.settings.as_dict()}
    with log.look() as (fold, reader):
        events = reader.later(log.number, 0)
        rows = (_row(event, fold.labels) for event in events)
        with replacing(path) as aside:
            write(aside, header, rows)
    return path


def export_history(log: Log, path: Path) -> Path:
    """Write a row for every outcome."""
    table = history(log)
    table["arm"] = [str(arm) for arm in table["arm"]]
    table["super_arm"] = [[str(arm) for arm in arms] for arms in table["super_arm"]]
    suffix = _suffix(path)
    with replacing(path) as aside:
        if suffix == ".parquet":
            table.to_parquet(aside, index=False)
        else:
            # By hand, because pandas would round the outcomes.
            plain = table.astype(object).where(table.notna(), None)
            with aside.open("w") as handle:
                handle.writelines(json.dumps(row, default=str) + "\n" for row in plain.to_dict("records"))
    return path


def read(path: Path) -> tuple[str, Settings, Iterator[Event]]:
    """The name, the settings and the events that were exported, checked line by line."""
    suffix = _suffix(path)
    if not path.is_file():
        raise InputError(f"path must be a file that a study was exported to, but {str(path)!r} does not exist")
    try:
        header, rows = (_read_parquet if suffix == ".parquet" else _read_lines)(path)
        settings = Settings.from_dict(header["settings"])
        name = str(header["name"])
        if header["format"] != FORMAT:
            raise InputError(f"{str(path)!r} is of format {header['format']!r}, this program reads {FORMAT}")
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"path must be a file that a study was exported to; {str(path)!r} is not ({error})") from None
    return name, settings, _events(path, rows)


def _events(path: Path, rows: Iterable[dict[str, Any]]) -> Iterator[Event]:
    place = 0
    try:
        for place, row in enumerate(rows, start=1):
            event = Event(row["seq"], row["kind"], float(row["at"]), row["decision"], row["body"])
            if event.seq != place or event.kind not in KINDS or (event.kind == "problem") < (place == 1):
                raise ValueError(f"event {event.seq!r} of kind {event.kind!r} cannot stand in line {place}")
            yield event
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{str(path)!r} is damaged at event {place}: {error}; nothing was imported") from None
    if place == 0:
        raise InputError(f"{str(path)!r} holds no event; nothing was imported")


def _suffix(path: Path) -> str:
    if path.suffix not in SUFFIXES:
        raise InputError(f"path must end in .parquet or .jsonl, got {str(path)!r}")
    return path.suffix


def _row(event: Event, labels: list[Any]) -> dict[str, Any]:
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
    with path.open("w") as handle:
        handle.write(json.dumps({_KEY: header}) + "\n")
        handle.writelines(json.dumps(row) + "\n" for row in rows)


def _read_lines(path: Path) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    def lines() -> Iterator[dict[str, Any]]:
        with path.open() as handle:
            next(handle)
            for line in handle:
                yield json.loads(line)

    with path.open() as handle:
        header = json.loads(handle.readline())[_KEY]
    return header, lines()


def _write_parquet(path: Path, header: dict[str, Any], rows: Iterator[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"seq": pa.int64(), "kind": pa.string(), "at": pa.float64(), "decision": pa.int64()}
    kinds |= {"arms": pa.list_(pa.string()), "outcomes": pa.list_(pa.float64()), "body": pa.string()}
    schema = pa.schema(kinds, metadata={_KEY: json.dumps(header)})
    with pq.ParquetWriter(path, schema) as writer:
        while batch := list(islice(rows, _BATCH)):
            flat = [{**row, "body": json.dumps(row["body"])} for row in batch]
            writer.write_table(pa.Table.from_pylist(flat, schema=schema))


def _read_parquet(path: Path) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    import pyarrow.parquet as pq

    def rows() -> Iterator[dict[str, Any]]:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_BATCH):
                for row in batch.to_pylist():
                    yield {**row, "body": json.loads(row["body"])}

    return json.loads(pq.read_schema(path).metadata[_KEY.encode()]), rows()
