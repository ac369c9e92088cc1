"""Claims and how they are judged: verdicts, paired tests over seeds, and Holm's correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.experiments.paired import holm as corrected

Verdict = Literal["held", "level", "did not hold", "not judged"]
VERDICTS: tuple[Verdict, ...] = ("did not hold", "level", "held", "not judged")
"""All verdicts, in the order in which reports list them."""
ALPHA = 0.01
"""The largest corrected p-value at which a difference counts as one."""
LEVEL = 0.01
"""Two mean regrets whose difference is below this share of the larger one are called level."""


@dataclass(frozen=True)
class Claim:
    """A claim and how it was judged.

    Attributes
    ----------
    text
        The claim.
    verdict
        "held", "did not hold", "level" if the difference is too small or too uncertain to decide, or "not judged".
    evidence
        The numbers that decided it, with the threshold.
    items
        The figures, tables and theorems of the paper that say it, such as "Figure 5"; empty for a check of our own.
    """

    text: str
    verdict: Verdict
    evidence: str
    items: tuple[str, ...] = ()

    @property
    def held(self) -> bool:
        """Whether the claim held."""
        return self.verdict == "held"

    @property
    def of_paper(self) -> bool:
        """Whether the paper makes this claim; the others are checks of our own."""
        return bool(self.items)


def judged(held: bool) -> Verdict:
    """The verdict of a claim that either holds or does not.

    >>> judged(True), judged(False)
    ('held', 'did not hold')
    """
    return "held" if held else "did not hold"


@dataclass(frozen=True)
class Paired:
    """A comparison of two policies on the same seeds.

    Attributes
    ----------
    difference
        The mean of "theirs minus ours"; positive if ours has less regret.
    share
        The difference as a share of the larger mean.
    seeds
        How many seeds both have.
    lower
        On how many of them ours has less regret.
    p
        The two-sided p-value of the paired t-test; NaN if it is undefined, for all differences are equal or there is
        one seed only.
    """

    difference: float
    share: float
    seeds: int
    lower: int
    p: float


def paired(ours: Floats, theirs: Floats) -> Paired:
    """Compare final regrets seed by seed.

    Parameters
    ----------
    ours, theirs
        The regrets, with the same seed at the same place. If one has fewer seeds, those that both have are compared.

    >>> paired(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    Paired(difference=2.0, share=0.5714285714285714, seeds=2, lower=2, p=nan)
    """
    from scipy import stats

    seeds = min(len(ours), len(theirs))
    ours, theirs = np.asarray(ours, dtype=float)[:seeds], np.asarray(theirs, dtype=float)[:seeds]
    difference = theirs - ours
    # What rounding leaves of equal differences is not a spread.
    spread = float(np.ptp(difference)) > 1e-9 * max(1.0, float(np.abs(difference).max()))
    p = float(stats.ttest_1samp(difference, 0.0).pvalue) if spread else float("nan")
    top = max(abs(float(np.mean(ours))), abs(float(np.mean(theirs))))
    mean = float(difference.mean())
    return Paired(mean, mean / top if top > 0 else 0.0, difference.size, int((difference > 0).sum()), p)


def larger(ours: Floats, theirs: Floats) -> tuple[Verdict, float]:
    """Whether numbers of one task are larger than those of another, whose seeds have nothing to do with them.

    Parameters
    ----------
    ours, theirs
        The numbers, one per seed.

    Returns
    -------
    tuple
        The verdict at `ALPHA`, and the two-sided p-value of Welch's t-test; NaN if there is no spread.

    >>> larger(np.array([11.0, 12.0, 10.5]), np.array([1.0, 2.0, 1.5]))[0]
    'held'
    """
    from scipy import stats

    difference = float(np.mean(ours) - np.mean(theirs))
    spread = min(len(ours), len(theirs)) > 1 and max(float(np.ptp(ours)), float(np.ptp(theirs))) > 0.0
    p = float(stats.ttest_ind(ours, theirs, equal_var=False).pvalue) if spread else float("nan")
    if not np.isnan(p) and p > ALPHA:
        return "level", p
    return judged(difference > 0.0), p


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Correct p-values for having made several tests, by Holm's method; NaN stays NaN and is not counted.

    Parameters
    ----------
    p
        The p-values of the tests, by name.

    >>> holm({"a": 0.01, "b": 0.04, "c": float("nan")})
    {'a': 0.02, 'b': 0.04, 'c': nan}
    """
    return dict(zip(p, corrected(list(p.values())), strict=True))


def compare(regret: Mapping[str, Floats], ours: str, rivals: Sequence[str]) -> dict[str, Paired]:
    """One policy against others on the same seeds, with p-values that Holm's method has corrected.

    Parameters
    ----------
    regret
        The final regret of every policy, one number per seed, from the first seed on.
    ours
        The policy that is compared.
    rivals
        The policies that it is compared with.
    """
    raw = {name: paired(regret[ours], regret[name]) for name in rivals}
    corrected = holm({name: test.p for name, test in raw.items()})
    return {
        name: Paired(test.difference, test.share, test.seeds, test.lower, corrected[name]) for name, test in raw.items()
    }


def lowest(tests: Mapping[str, Paired]) -> Verdict:
    """Whether a policy has less regret than all others, given its comparisons.

    It does if its regret is lower by at least the share `LEVEL` than every other one, with a corrected p of at most
    `ALPHA`. It does not if some other policy's regret is lower by as much, with such a p. Otherwise they are level.
    Without noise there is no p-value, and the difference decides.

    >>> lowest({"x": Paired(5.0, 0.5, 10, 10, 0.001)}), lowest({"x": Paired(5.0, 0.003, 10, 10, 0.001)})
    ('held', 'level')
    """

    def sure(test: Paired) -> bool:
        return abs(test.share) >= LEVEL and (test.p <= ALPHA or (np.isnan(test.p) and test.seeds > 1))

    if any(sure(test) and test.difference < 0 for test in tests.values()):
        return "did not hold"
    return "held" if all(sure(test) and test.difference > 0 for test in tests.values()) else "level"


def p_text(test: Paired) -> str:
    """A p-value for a table.

    >>> p_text(Paired(1.0, 0.1, 10, 10, 0.0004)), p_text(Paired(1.0, 0.1, 10, 10, float("nan")))
    ('< 0.001', 'same on all seeds')
    """
    if np.isnan(test.p):
        return "one seed" if test.seeds < 2 else "same on all seeds"
    return number_text(test.p)


def number_text(p: float) -> str:
    """A p-value as text, which is never 0.

    >>> number_text(0.0004), number_text(0.0312)
    ('< 0.001', '0.031')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
