"""Comparisons to publish: paired differences on shared worlds, with intervals, corrected p-values and ranks."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits._extras import require
from rising_bandits.errors import InputError
from rising_bandits.experiments.frame import Source, frame, runs_of
from rising_bandits.experiments.spec import OPTIONS

_EXACT = 12
"""Up to so many pairs all sign changes are tried."""
_MOST_RESAMPLES = 1_000_000


@dataclass(frozen=True)
class Difference:
    """One policy against the baseline on one task.

    Attributes
    ----------
    task, policy
        The task, with its options, and the label of the policy.
    pairs
        How many seeds both policies have.
    mean, baseline_mean
        The mean of the measure over these seeds, of the policy and of the baseline.
    difference
        The mean paired difference, policy minus baseline; negative if the policy has less.
    low, high
        Its confidence interval.
    p
        The p-value of "no difference".
    p_holm
        The p-value corrected by Holm for all comparisons of the table.
    effect
        The mean difference divided by the standard deviation of the differences.
    less
        The share of seeds on which the policy has less than the baseline; ties count half.
    """

    task: str
    policy: str
    pairs: int
    mean: float
    baseline_mean: float
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    effect: float
    less: float


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of policies over blocks, 1 for the least. Blocks are tasks, or seeds if there is one task.

    Attributes
    ----------
    mean
        The mean rank of each policy, the best first.
    blocks
        How many blocks there are.
    of
        What a block is: ``task`` or ``seed``.
    critical
        The critical difference of Nemenyi's test: mean ranks that differ by less are not told apart.
    p
        The p-value of Friedman's test of "all policies are alike"; NaN for fewer than three policies.
    """

    mean: dict[str, float]
    blocks: int
    of: str
    critical: float
    p: float

    def cliques(self) -> list[list[str]]:
        """Groups of policies that are not told apart, each as large as possible, the best first."""
        names = list(self.mean)
        found: list[list[str]] = []
        for place, name in enumerate(names):
            group = [other for other in names[place:] if self.mean[other] - self.mean[name] < self.critical]
            if len(group) > 1 and not any(set(group) <= set(other) for other in found):
                found.append(group)
        return found


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`. It prints as a table.

    Attributes
    ----------
    rows
        One row for each policy on each task.
    ranks
        Mean ranks over all tasks; None if no block has all policies.
    baseline, measure
        The label of the baseline, and the column that was compared.
    level, interval
        The confidence level, and how intervals were made.
    notes
        What was left out.
    """

    rows: list[Difference]
    ranks: Ranks | None
    baseline: str
    measure: str
    level: float
    interval: str
    notes: tuple[str, ...] = ()

    def frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        require("lab", "pandas")
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows], columns=[part.name for part in fields(Difference)])

    def to_csv(self) -> str:
        """The rows as CSV, every number in full."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([part.name for part in fields(Difference)])
        writer.writerows([list(asdict(row).values()) for row in self.rows])
        return out.getvalue()

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The headings and the cells of the table, rounded for people."""
        headings = ["task", "policy", "pairs", f"mean {self.measure}", f"minus {self.baseline}"]
        headings += [f"{self.level:.0%} interval", "p (Holm)", "effect", "less"]
        cells = [
            [
                row.task,
                row.policy,
                str(row.pairs),
                _number(row.mean),
                f"{'+' if row.difference > 0 else ''}{_number(row.difference)}",
                "–" if math.isnan(row.low) else f"{_number(row.low)} to {_number(row.high)}",
                _p(row.p_holm),
                "–" if math.isnan(row.effect) else f"{row.effect:.2f}",
                f"{row.less:.0%}",
            ]
            for row in self.rows
        ]
        return headings, cells

    def to_markdown(self) -> str:
        """The table in Markdown."""
        headings, cells = self.table()
        lines = [headings, ["---"] * 2 + ["---:"] * (len(headings) - 2), *cells]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"

    def to_latex(self) -> str:
        """The table in LaTeX, for the package booktabs."""
        headings, cells = self.table()
        body = [" & ".join(map(_latex, line)) + r" \\" for line in (headings, *cells)]
        columns = "ll" + "r" * (len(headings) - 2)
        lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", body[0], r"\midrule", *body[1:]]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"

    def __str__(self) -> str:
        headings, cells = self.table()
        widths = [max(len(line[place]) for line in (headings, *cells)) for place in range(len(headings))]
        lines = [
            "  ".join(
                cell.ljust(width) if place < 2 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in (headings, *cells)
        ]
        return "\n".join([*lines, *self.words()])

    def words(self) -> list[str]:
        """Sentences below the table: the ranks, and what was left out."""
        lines = []
        if self.ranks is not None:
            shown = ", ".join(f"{name} {rank:.2f}" for name, rank in self.ranks.mean.items())
            count = f"{self.ranks.blocks} {self.ranks.of}{'s' if self.ranks.blocks != 1 else ''}"
            lines.append(f"mean ranks over {count}, 1 is least: {shown}")
            if not math.isnan(self.ranks.critical):
                friedman = "" if math.isnan(self.ranks.p) else f"; Friedman's p {_p(self.ranks.p)}"
                lines.append(f"critical difference of mean ranks (Nemenyi, 5%): {self.ranks.critical:.2f}{friedman}")
        return [*lines, *self.notes]


def _number(value: float) -> str:
    """A number for people: four digits that count."""
    if math.isnan(value):
        return "–"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def _p(value: float) -> str:
    return "–" if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _latex(text: str) -> str:
    """Text with the letters escaped that LaTeX reads as commands."""
    out = "".join(
        {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}.get(c, c) for c in text
    )
    for letter in "&%$#_":
        out = out.replace(letter, f"\\{letter}")
    return out.replace("<", "$<$").replace("–", "--")


def compare(
    source: Source | Any,
    baseline: str | None = None,
    *,
    measure: str = "regret",
    interval: str = "bootstrap",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare policies with a baseline on the worlds that they share.

    Two runs of one task with one seed and horizon meet the same outcomes, so their difference is a paired difference.

    Parameters
    ----------
    source
        A results folder, runs as `run_plan` returns them, or a DataFrame as `frame` returns it, perhaps filtered.
    baseline
        The label of the policy to compare with, such as ``crucb``; by default the first.
    measure
        The column to compare, at the last round of each run: ``regret``, ``reward``, ``seconds`` or a metric.
    interval
        ``bootstrap`` for percentile intervals of the mean difference with p-values of the sign-change test, or ``t``
        for Student's intervals with p-values of the paired t-test.
    level
        The confidence level.
    resamples, seed
        How many resamples the bootstrap and the sign-change test take, and their seed.

    Returns
    -------
    Comparison
        The rows, mean ranks with their critical difference, and ways to print them.

    Raises
    ------
    InputError
        There are no runs to compare, or an argument is wrong.

    >>> import tempfile
    >>> from rising_bandits.experiments import make_plan, run_plan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plan = make_plan(["toy"], ["oracle", "random"], seeds=4, horizon=200)
    ...     found = compare(run_plan(plan, folder, workers=1), baseline="oracle", interval="t")
    >>> [(row.policy, row.pairs, row.less) for row in found.rows]
    [('random', 4, 0.0)]
    """
    if interval not in ("bootstrap", "t"):
        raise InputError(f"interval must be bootstrap or t, got {interval!r}")
    level = _checks.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    resamples = _checks.integer("resamples", resamples, low=100, high=_MOST_RESAMPLES)
    rng = np.random.default_rng(_checks.integer("seed", seed, low=0))
    values = _values(source, measure)
    labels = list(dict.fromkeys(label for cells in values.values() for label in cells))
    baseline = labels[0] if baseline is None else baseline
    if baseline not in labels or len(labels) < 2:
        raise InputError(f"baseline must be one of at least two policies, {', '.join(labels)}, got {baseline!r}")
    rows: list[Difference] = []
    notes: list[str] = []
    for world in dict.fromkeys(world for world, _ in values):
        blocks = [cells for (name, _), cells in values.items() if name == world]
        for label in labels:
            pairs = np.array([[cells[label], cells[baseline]] for cells in blocks if {label, baseline} <= cells.keys()])
            alone = sum(label in cells and baseline not in cells for cells in blocks)
            if label != baseline and alone:
                notes.append(f"{alone} runs of {label} on {world} are left out: {baseline} has no run of their seed")
            if label != baseline and len(pairs):
                rows.append(_difference(world, label, pairs, interval, level, resamples, rng))
    if not rows:
        raise InputError(f"no policy shares a task, horizon and seed with the baseline {baseline!r}")
    corrected = holm([row.p for row in rows])
    made = [Difference(**{**asdict(row), "p_holm": p}) for row, p in zip(rows, corrected, strict=True)]
    return Comparison(made, _ranks(values, labels), baseline, measure, level, interval, tuple(notes))


def _values(source: Any, measure: str) -> dict[tuple[str, Any], dict[str, float]]:
    """The measure of each run: by world and seed, then by the label of the policy."""
    require("lab", "pandas")
    import pandas as pd

    table = source if isinstance(source, pd.DataFrame) else frame(runs_of(source), final=True)
    needed = ["task", "label", "seed", "horizon", "round", measure]
    if missing := [name for name in needed if name not in table.columns]:
        raise InputError(f"measure must be a column of the results, and {', '.join(missing)} is not one of them")
    if not pd.api.types.is_numeric_dtype(table[measure]):
        raise InputError(f"measure must be a column of numbers, got {measure!r}")
    options = [name for name in OPTIONS if name in table.columns]
    many = {task: table.loc[table.task == task, "horizon"].nunique() > 1 for task in table["task"].unique()}
    found: dict[tuple[str, Any], dict[str, float]] = {}
    last = table[table["round"] == table["horizon"]]
    for row in last[[*needed, *options]].itertuples(index=False):
        told = {name: getattr(row, name) for name in options if not pd.isna(getattr(row, name))}
        told |= {"horizon": row.horizon} if many[row.task] else {}
        world = f"{row.task} [{', '.join(f'{k}={_whole(v)}' for k, v in told.items())}]" if told else row.task
        cells = found.setdefault((world, (row.horizon, row.seed)), {})
        if row.label in cells:
            raise InputError(f"there must be one run of {row.label} on {world} with seed {row.seed}, got two")
        value = float(getattr(row, measure))
        if math.isfinite(value):
            cells[row.label] = value
    if not any(found.values()):
        raise InputError(f"there must be finished runs with a {measure}, got none")
    return found


def _whole(value: Any) -> Any:
    """A number of a column as it was given: a column with gaps holds whole numbers as 20.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _difference(
    world: str, label: str, pairs: Floats, interval: str, level: float, resamples: int, rng: np.random.Generator
) -> Difference:
    """The row of one policy on one task; ``pairs`` holds its values beside those of the baseline."""
    from scipy import stats

    gaps = pairs[:, 0] - pairs[:, 1]
    count, mean = len(gaps), float(gaps.mean())
    low = high = p = effect = math.nan
    if count > 1:
        spread = float(gaps.std(ddof=1))
        effect = mean / spread if spread > 0 else (0.0 if mean == 0 else math.copysign(math.inf, mean))
        if interval == "t":
            half = float(stats.t.ppf(0.5 + level / 2, count - 1)) * spread / math.sqrt(count)
            low, high = mean - half, mean + half
            t = mean / (spread / math.sqrt(count)) if spread > 0 else effect
            p = float(2 * stats.t.sf(abs(t), count - 1))
        else:
            means = np.concatenate(
                [gaps[rng.integers(0, count, (size, count))].mean(axis=1) for size in _chunks(resamples, count)]
            )
            low, high = (float(end) for end in np.quantile(means, [0.5 - level / 2, 0.5 + level / 2]))
            p = sign_change(gaps, resamples, rng)
    less = float(np.mean(gaps < 0) + np.mean(gaps == 0) / 2)
    first, second = (float(side.mean()) for side in pairs.T)
    return Difference(world, label, count, first, second, mean, low, high, p, math.nan, effect, less)


def _chunks(resamples: int, count: int) -> list[int]:
    """Sizes of parts of the resamples that need little memory each."""
    size = max(1, min(resamples, 1_000_000 // count))
    return [size] * (resamples // size) + ([resamples % size] if resamples % size else [])


def sign_change(gaps: Floats, resamples: int, rng: np.random.Generator) -> float:
    """The p-value of "the differences are symmetric around 0": how often random signs give a mean as far from 0.

    Up to 12 differences all signs are tried; beyond that, ``resamples`` random ones.

    >>> sign_change(np.array([1.0, 2.0, 3.0]), 100, np.random.default_rng(0))
    0.25
    """
    observed = abs(float(gaps.sum())) * (1 - 1e-12)
    if len(gaps) <= _EXACT:
        signs = 1 - 2 * ((np.arange(2 ** len(gaps))[:, None] >> np.arange(len(gaps))) & 1)
        return float(np.mean(np.abs(signs @ gaps) >= observed))
    hits = sum(
        int((np.abs(rng.choice([-1.0, 1.0], (size, len(gaps))) @ gaps) >= observed).sum())
        for size in _chunks(resamples, len(gaps))
    )
    # The observed signs are one of the draws, so that the p-value is never 0.
    return (hits + 1) / (resamples + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected for several comparisons by Holm's method; NaN stays and does not count.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted((place for place, p in enumerate(p_values) if not math.isnan(p)), key=lambda place: p_values[place])
    out, before = [math.nan] * len(p_values), 0.0
    for rank, place in enumerate(order):
        before = max(before, min(1.0, (len(order) - rank) * p_values[place]))
        out[place] = before
    return out


def _ranks(values: dict[tuple[str, Any], dict[str, float]], labels: list[str]) -> Ranks | None:
    """Mean ranks over the blocks that have all policies."""
    from scipy import stats

    whole = {key: cells for key, cells in values.items() if set(labels) <= cells.keys()}
    worlds = list(dict.fromkeys(world for world, _ in whole))
    if not whole:
        return None
    rows = [[cells[label] for label in labels] for cells in whole.values()]
    of = "seed"
    if len(worlds) > 1:
        # Seeds of one task are not independent evidence about tasks: a task is one block, with means over its seeds.
        of = "task"
        rows = [
            np.mean(
                [[cells[label] for label in labels] for (name, _), cells in whole.items() if name == world], axis=0
            ).tolist()
            for world in worlds
        ]
    ranked = np.array([stats.rankdata(row) for row in rows]).mean(axis=0)
    count, blocks = len(labels), len(rows)
    mean = {labels[place]: float(ranked[place]) for place in np.argsort(ranked, kind="stable")}
    critical = p = math.nan
    if blocks > 1:
        width = float(stats.studentized_range.ppf(0.95, count, np.inf)) / math.sqrt(2)
        critical = width * math.sqrt(count * (count + 1) / (6 * blocks))
        columns = np.array(rows).T
        if count > 2 and any(len(set(row)) > 1 for row in rows):
            p = float(stats.friedmanchisquare(*columns).pvalue)
    return Ranks(mean, blocks, of, critical, p)
