"""Tasks from a table of the user's own curves: a CSV or Parquet file with a row per arm and measured play.

======= =================================================================================
column  content
======= =================================================================================
arm     the name of the arm; also ``model`` or ``learner``
play    the number of the play, from 1; also ``plays`` or ``samples``
mean    the mean outcome of this play, in [0, 1]; also ``accuracy`` or ``value``
sd      optional: the standard deviation of an outcome; also ``std`` or ``spread``
======= =================================================================================

Between two measured plays, means and deviations are interpolated with straight lines. Before the first they are those
of the first, and after the last those of the last. Curves may fall.
"""

from __future__ import annotations

import contextlib
import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rising_bandits import _checks
from rising_bandits._extras import require
from rising_bandits._parquet import check_pages
from rising_bandits.curves import Bernoulli, Gaussian, Interpolated, Noise, Spread
from rising_bandits.errors import InputError
from rising_bandits.problems import user_files
from rising_bandits.problems.sets import TopK
from rising_bandits.problems.tasks import Task

COLUMNS = {
    "arm": ("arm", "model", "learner"),
    "play": ("play", "plays", "samples"),
    "mean": ("mean", "accuracy", "value"),
    "sd": ("sd", "std", "spread"),
}
"""The names that each column may have."""
MOST_ROWS = 4_000_000
"""The largest number of rows of a Parquet file that is read. The largest CSV file has about as many."""
_MOST_LETTERS = 1_000
"""The longest text in a Parquet file."""
Points = dict[float, tuple[float, float | None]]
"""The mean and the deviation of each measured play."""


def from_file(
    path: str | Path,
    *,
    noise: str | float | None = None,
    k: int = 1,
    arms: Sequence[str] = (),
    horizon: int | None = None,
    digest: str | None = None,
) -> Task:
    """Build a task from a table of curves. A super arm is any set of ``k`` arms, and its reward is their sum.

    Parameters
    ----------
    path
        A file whose name ends in ``.csv`` or ``.parquet``.
    noise
        ``"bernoulli"`` for outcomes of 0 or 1, or the standard deviation of Gaussian noise. By default the column
        ``sd``.
    k
        The number of arms in a super arm.
    arms
        The arms to take, by name; by default all.
    horizon
        The number of rounds; by default the largest play in the file.
    digest
        The first 12 hexadecimal digits of the file's SHA-256. Another file is refused.

    Raises
    ------
    InputError
        The file cannot be read, is not such a table, or an argument does not fit it.
    """
    path = str(path)
    table = read(path, digest=digest)
    for name in _checks.labels("arms", arms):
        if name not in table:
            raise InputError(f"arms must be in {path!r}, which has {_some(table)}; got {name!r}")
    chosen = {name: table[name] for name in dict.fromkeys(arms)} if arms else table
    last = max(max(points) for points in chosen.values())
    rounds = _checks.integer("horizon", math.ceil(last) if horizon is None else horizon, low=1, limit=10**9)
    if not 1 <= _checks.integer("k", k, low=1) <= len(chosen):
        raise InputError(f"k must be from 1 to {len(chosen)}, the number of arms in {path!r}, got {k}")
    means = tuple(_curve(points, [mean for mean, _ in points.values()]) for points in chosen.values())
    return Task(
        Path(path).stem,
        TopK(list(chosen), k),
        means,
        rounds,
        _noise(path, noise, chosen),
        description=f"{len(chosen)} curves from {Path(path).name}",
        recorded=True,
    )


def _noise(path: str, noise: str | float | None, table: Mapping[str, Points]) -> Noise:
    """The noise model that was asked for, or that of the column sd."""
    if noise is None:
        deviations = {name: [sd for _, sd in points.values()] for name, points in table.items()}
        known = {name: [sd for sd in found if sd is not None] for name, found in deviations.items()}
        if any(len(known[name]) != len(deviations[name]) for name in table):
            raise InputError(
                f"noise must be given, as 'bernoulli' or a number: {path!r} has no column sd, or it has gaps"
            )
        return Spread(tuple(_curve(points, known[name]) for name, points in table.items()))
    if noise == "bernoulli":
        return Bernoulli()
    if isinstance(noise, str):
        with contextlib.suppress(ValueError):
            noise = float(noise)
    return Gaussian(_checks.number("noise", noise, low=0.0, high=1.0, wanted="'bernoulli' or a number in [0, 1]"))


def _curve(points: Points, values: Sequence[float]) -> Interpolated:
    """Values at measured plays as a curve over previous plays."""
    return Interpolated(tuple(play - 1.0 for play in points), tuple(values))


def read(path: str | Path, *, digest: str | None = None) -> dict[str, Points]:
    """Read a table of curves: for each arm, in the order of the file, its measured plays in ascending order.

    Parameters
    ----------
    path
        A file whose name ends in ``.csv`` or ``.parquet``.
    digest
        The digest of the file, if it must be this one.
    """
    path = str(path)
    kind = Path(path).suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise InputError(f"table {path!r} must be a file that ends in .csv or .parquet")
    content = user_files.content_of("table", path, digest)
    header, rows = (_csv_rows if kind == ".csv" else _parquet_rows)(path, content)
    place = _places(path, header)
    table: dict[str, dict[float, tuple[float, float | None]]] = {}
    for number, row in rows:
        where = f"row {number} of {path!r}"
        if len(row) < len(header):
            raise InputError(f"{where} must have {len(header)} cells, got {len(row)}")
        arm = "" if row[place["arm"]] is None else str(row[place["arm"]]).strip()
        if not arm:
            raise InputError(f"{where} must name an arm, got {row[place['arm']]!r}")
        play = _cell(where, "play", row[place["play"]], low=1.0, high=1e12)
        mean = _cell(where, "mean", row[place["mean"]], low=0.0, high=1.0)
        given = row[place["sd"]] if "sd" in place else None
        sd = None if given is None or given == "" else _cell(where, "sd", given, low=0.0, high=1.0)
        if play in table.setdefault(arm, {}):
            raise InputError(f"{where} repeats play {play:g} of the arm {arm!r}")
        table[arm][play] = mean, sd
    if not table:
        raise InputError(f"table {path!r} must have at least one row")
    return {arm: dict(sorted(points.items())) for arm, points in table.items()}


def digest_of(path: str | Path) -> str:
    """The digest of a file, as `from_file` takes it."""
    return user_files.digest(user_files.content_of("table", path))


def _csv_rows(path: str, content: bytes) -> tuple[list[str], Iterable[tuple[int, Sequence[Any]]]]:
    """The header and the numbered rows of a CSV file."""
    try:
        rows = [
            row for row in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True) if any(row)
        ]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"table {path!r} is not a CSV file in UTF-8: {error}") from None
    if not rows:
        raise InputError(f"table {path!r} is empty")
    return rows[0], enumerate(rows[1:], start=2)


def _parquet_rows(path: str, content: bytes) -> tuple[list[str], Iterable[tuple[int, Sequence[Any]]]]:
    """The header and the numbered rows of a Parquet file, of the columns that are used.

    A small file can stand for many rows or for one long text many times, so sizes are checked before rows are made.
    """
    require("lab", "pyarrow", "or give the table as a CSV file")
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            schema, metadata, rows = file.schema_arrow, file.metadata, int(file.metadata.num_rows)
        names = [schema.names[at] for at in _places(path, schema.names).values()]
        if rows > MOST_ROWS:
            raise InputError(f"table {path!r} must have at most {MOST_ROWS:,} rows, got {rows:,}")
        kinds = {name: schema.field(name).type for name in names}
        texts = [name for name, kind in kinds.items() if _is_text(kind)]
        for name, kind in kinds.items():
            if name not in texts and not (pa.types.is_primitive(kind) or pa.types.is_decimal(kind)):
                raise InputError(f"column {name!r} of {path!r} must hold numbers or texts, got {kind}")
        check_pages(io.BytesIO(content), metadata, names)
        table = pq.read_table(pa.BufferReader(content), columns=names, read_dictionary=texts)
        for name in texts:
            column = pc.dictionary_encode(table.column(name))
            longest = max((pc.max(pc.binary_length(part.dictionary)).as_py() or 0 for part in column.chunks), default=0)
            if longest > _MOST_LETTERS:
                raise InputError(f"column {name!r} of {path!r} must have texts of at most {_MOST_LETTERS} letters")
        if table.num_rows != rows:
            raise InputError(f"table {path!r} must have as many rows as it says")
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"table {path!r} is not a Parquet file: {str(error).splitlines()[0]}") from None
    columns = [column.to_pylist() for column in table.columns]
    return list(table.column_names), enumerate(zip(*columns, strict=True), start=1)


def _is_text(kind: Any) -> bool:
    """Whether the values of a column are texts, perhaps as categories."""
    import pyarrow as pa

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(inner) or pa.types.is_large_string(inner))


def _places(path: str, header: Sequence[str]) -> dict[str, int]:
    """Where each column is."""
    names = [str(name).strip().lower() for name in header]
    place = {}
    for column, accepted in COLUMNS.items():
        found = [at for at, name in enumerate(names) if name in accepted]
        if len(found) > 1:
            raise InputError(f"table {path!r} must have one column {column!r}, got {[header[at] for at in found]}")
        if found:
            place[column] = found[0]
        elif column != "sd":
            raise InputError(
                f"table {path!r} must have the columns arm, play and mean (and perhaps sd), got {list(header)!r:.120}"
            )
    return place


def _cell(where: str, column: str, value: Any, *, low: float, high: float) -> float:
    """A number from a cell."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise InputError(f"{column} in {where} must be a number in [{low:g}, {high:g}], got {value!r:.80}")
    return _checks.number(f"{column} in {where}", number, low=low, high=high)


def _some(table: Mapping[str, Points]) -> str:
    """Some of the arms, for a message."""
    return ", ".join(repr(name) for name in list(table)[:5]) + (", ..." if len(table) > 5 else "")
