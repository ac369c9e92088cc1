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

import csv
import hashlib
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rising_bandits import _checks
from rising_bandits._extras import require
from rising_bandits.curves import Bernoulli, Gaussian, Interpolated, Noise, Spread
from rising_bandits.errors import InputError
from rising_bandits.problems.sets import TopK
from rising_bandits.problems.tasks import Task

COLUMNS = {
    "arm": ("arm", "model", "learner"),
    "play": ("play", "plays", "samples"),
    "mean": ("mean", "accuracy", "value"),
    "sd": ("sd", "std", "spread"),
}
"""The names that each column may have."""
MOST_BYTES = 100 * 2**20
"""The largest file that is read."""
Points = dict[float, tuple[float, float | None]]
"""The mean and the deviation of each measured play."""


def from_file(
    path: str,
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
    table = read(path, digest=digest)
    for name in arms:
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
    try:
        deviation = float(noise)
    except ValueError:
        deviation = math.nan
    return Gaussian(_checks.number("noise", deviation, low=0.0, high=1.0, wanted="'bernoulli' or a number in [0, 1]"))


def _curve(points: Points, values: Sequence[float]) -> Interpolated:
    """Values at measured plays as a curve over previous plays."""
    return Interpolated(tuple(play - 1.0 for play in points), tuple(values))


def read(path: str, *, digest: str | None = None) -> dict[str, Points]:
    """Read a table of curves: for each arm, in the order of the file, its measured plays in ascending order.

    Parameters
    ----------
    path
        A file whose name ends in ``.csv`` or ``.parquet``.
    digest
        The digest of the file, if it must be this one.
    """
    content = _content(path)
    found = hashlib.sha256(content).hexdigest()[:12]
    if digest not in (None, found):
        raise InputError(f"table {path!r} has changed: its digest is {found}, not {digest}")
    kind = Path(path).suffix.lower()
    if kind == ".csv":
        header, rows = _csv_rows(path, content)
    elif kind == ".parquet":
        header, rows = _parquet_rows(path, content)
    else:
        raise InputError(f"table {path!r} must be a file that ends in .csv or .parquet")
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


def digest_of(path: str) -> str:
    """The first 12 hexadecimal digits of the SHA-256 of a file."""
    return hashlib.sha256(_content(path)).hexdigest()[:12]


def _content(path: str) -> bytes:
    """The bytes of a file that is not too large."""
    try:
        if Path(path).stat().st_size > MOST_BYTES:
            raise InputError(f"table {path!r} must have at most {MOST_BYTES >> 20} MB")
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(f"table {path!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None


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
    """The header and the numbered rows of a Parquet file."""
    require("lab", "pyarrow", "or give the table as a CSV file")
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(content))
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"table {path!r} is not a Parquet file: {str(error).splitlines()[0]}") from None
    columns = [column.to_pylist() for column in table.columns]
    return list(table.column_names), enumerate(zip(*columns, strict=True), start=1)


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
