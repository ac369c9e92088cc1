r"""Tests whether an arm has fallen. Rising and flat arms pass them, however noisy they are.

Let :math:`n` be the plays of an arm, :math:`\hat\mu_{1:s}` the mean of the first :math:`s`, :math:`\hat\mu_{s+1:n}`
the mean of the others, and kl the divergence of Bernoulli distributions. There are two tests. Each may spend half of
the chance :math:`\delta` of a false alarm.

**By levels.** The statistic is the generalised likelihood ratio over the cuts after which the mean is lower:

.. math::

    G = \max_{s:\, \hat\mu_{s+1:n} < \hat\mu_{1:s}} \; s\,\mathrm{kl}(\hat\mu_{1:s}, \hat\mu_{1:n})
    + (n-s)\,\mathrm{kl}(\hat\mu_{s+1:n}, \hat\mu_{1:n}).

If means never fall, all means before a cut are at most some :math:`c`, and all means after it at least :math:`c`. The
two summands are then at most :math:`s\,\mathrm{kl}^+(\hat\mu_{1:s}, c)` and
:math:`(n-s)\,\mathrm{kl}^-(\hat\mu_{s+1:n}, c)`, which are independent and exceed :math:`x` with probability at most
:math:`e^{-x}` each (Chernoff, for outcomes in [0, 1]). So their sum exceeds :math:`x` with probability at most
:math:`(1+x)e^{-x}`. A fall is reported if

.. math:: (1+G)\,e^{-G} \le \frac{\delta / 2}{K \cdot 2.62\, n^{3/2} \cdot n}.

The sum of the right side over all cuts, all :math:`n` and all K arms is at most :math:`\delta / 2`. Outcomes with
little noise are treated like any others in [0, 1], so this test finds small falls of precise outcomes late or never.

**By order.** This test measures the noise. If an arm does not fall, its outcomes are as likely in any other order, or
the present order is less of a fall than most others. So the chance of the means seen is at most that of drawing
:math:`s` of the :math:`n` outcomes without replacement. With the mean :math:`m`, the variance :math:`v`, the smallest
:math:`a` and the largest :math:`b` of all outcomes, and :math:`h(u) = (1+u)\log(1+u) - u`, it is at most
:math:`e^{-E}` for each of

.. math::

    s\,\mathrm{kl}\Big(\frac{\hat\mu_{1:s}-a}{b-a}, \frac{m-a}{b-a}\Big), \quad
    \frac{s\,v}{(b-m)^2}\, h\Big(\frac{(b-m)(\hat\mu_{1:s}-m)}{v}\Big)

(Hoeffding 1963, Theorem 4, with the bounds of Chernoff and Bennett), and for the same two of the later outcomes. An
arm that rose and then fell need not be below its old mean. So the test is also made on the later half of the
outcomes, on the later half of these, and so on: on at most :math:`\log_2 n` windows besides. A fall is reported if
:math:`2e^{-E}` of the largest, for a window times :math:`\log_2 n`, is at most the right side above. The bound holds
for independent outcomes that rise in distribution: for every level, the chance of an outcome above it does not fall.
Outcomes of 0 and 1 with rising means do, and so does a rising curve with noise of one size. The unit of the outcomes
does not matter.

Other arms are protected by what is asked besides. The fall is at least `SMALLEST`. Its square is more than :math:`2E`
times what the variances on both sides of the cut explain, and also what the differences between groups of outcomes
explain that are close to each other. So noise that grows is not called a fall, and noise that is alike in neighbouring
plays seldom is (`python bench/falls.py --alarms` measures how often).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError

FALSE_ALARM = 0.001
"""The chance that a fall is reported of arms that never fall, over all arms and all time."""
SMALLEST = 0.02
"""The smallest fall that the test by order reports."""
GROUP = 16
"""How many outcomes are a group in the test by order."""
_GROUPS, _LATER = 5, 8
"""The fewest groups that it looks at, so that neighbours can be compared: of all outcomes, and of a later window."""
_LAGS = (1, 2, 4)
"""How far apart groups are that are compared."""
_SERIES = 2.62
"""More than the sum of n^(-3/2) over n from 1."""
_MEDIAN = 0.455
"""The median of the square of a number with a standard normal distribution."""
_EDGE = 1e-9
_TINY = 1e-18
"""A variance that is a rounding error."""


@dataclass(frozen=True)
class Fall:
    """A fall of an arm."""

    since: int
    """The first play after the fall, from 1: the cut that explains the outcomes best."""
    plays: int
    """The plays so far."""
    before: float
    """The mean outcome before the fall."""
    after: float
    """The mean outcome since the fall."""
    chance: float
    """A bound on the chance to see this, ever and for any arm, if no arm falls."""
    first: int = 1
    """The first play that was looked at, from 1. The mean before the fall is that from this play on."""


def _divergence(p: Floats, q: float) -> Floats:
    """The divergence of Bernoulli distributions, for an array of means p."""
    p, q = np.clip(p, _EDGE, 1.0 - _EDGE), min(max(q, _EDGE), 1.0 - _EDGE)
    return np.asarray(p * np.log(p / q) + (1.0 - p) * np.log((1.0 - p) / (1.0 - q)))


class _Cuts(NamedTuple):
    """Neighbouring groups of outcomes, and the cuts between them."""

    sizes: Floats
    """How many outcomes each group has."""
    means: Floats
    """The mean of each group."""
    early: Floats
    """For each cut: how many outcomes come before it."""
    late: Floats
    """How many come after it."""
    before: Floats
    """The mean before it."""
    after: Floats
    """The mean after it."""
    mean: float
    """The mean of all."""

    @classmethod
    def of(cls, means: Floats, sizes: Floats) -> _Cuts:
        """The cuts between some groups."""
        total, count = np.cumsum(means * sizes), np.cumsum(sizes)
        early, late = count[:-1], count[-1] - count[:-1]
        before, after = total[:-1] / early, (total[-1] - total[:-1]) / late
        return cls(sizes, means, early, late, before, after, float(total[-1]) / float(count[-1]))


def _by_levels(cuts: _Cuts) -> tuple[float, int]:
    """The logarithm of the bound of the test by levels, and its cut."""
    ratio = cuts.early * _divergence(cuts.before, cuts.mean) + cuts.late * _divergence(cuts.after, cuts.mean)
    ratio[cuts.after >= cuts.before] = 0.0
    cut = int(np.argmax(ratio))
    return math.log1p(ratio[cut]) - float(ratio[cut]), cut


def _drawn(count: Floats, mean: Floats, whole: float, ends: tuple[float, float], variance: float) -> Floats:
    """The larger exponent of the two bounds for the mean of some outcomes, drawn without replacement.

    ``whole`` and ``variance`` are the mean and the variance of all outcomes. ``ends`` is how far they go from
    ``whole``: in the direction of ``mean``, and in the other one.
    """
    far, other = ends
    moved = np.abs(mean - whole)
    levels = _divergence((other + moved) / (far + other), other / (far + other))
    u = far * moved / variance
    return np.asarray(count * np.maximum(levels, variance / far**2 * ((1.0 + u) * np.log1p(u) - u)))


def _windows(groups: int) -> list[int]:
    """The group with which each window begins: all groups, their later half, the half of that, and so on."""
    sizes = [groups]
    while (half := (sizes[-1] + 1) // 2) >= _LATER:
        sizes.append(half)
    return [groups - size for size in sizes]


def _by_order(
    means: Floats, squares: Floats, sizes: Floats, ends: tuple[float, float]
) -> tuple[float, tuple[int, int, _Cuts]]:
    """The logarithm of the bound of the test by order; and the window, the cut in it, and the cuts of the window."""
    found = []
    for begin in _windows(means.size):
        cuts = _Cuts.of(means[begin:], sizes[begin:])
        logarithm, cut = _in_window(cuts, squares[begin:], ends)
        found.append((logarithm + math.log(2.0 * math.log2(float(sizes.sum())) if begin else 2.0), (begin, cut, cuts)))
    return min(found, key=lambda one: one[0])


def _in_window(cuts: _Cuts, squares: Floats, ends: tuple[float, float]) -> tuple[float, int]:
    """The logarithm of the bound of the test by order on some outcomes, and its cut."""
    low, high = ends
    sums = np.cumsum(squares * cuts.sizes)
    variance = float(sums[-1]) / float(cuts.sizes.sum()) - cuts.mean**2
    drop = cuts.before - cuts.after
    if len(cuts.means) < _GROUPS or variance <= _TINY or drop.max() < SMALLEST:
        return 0.0, 0
    up, down = high - cuts.mean, cuts.mean - low
    if up <= 0.0 or down <= 0.0:
        return 0.0, 0
    chance = np.maximum(
        _drawn(cuts.early, cuts.before, cuts.mean, (up, down), variance),
        _drawn(cuts.late, cuts.after, cuts.mean, (down, up), variance),
    )
    spread = np.maximum(sums[:-1] / cuts.early - cuts.before**2, 0.0) / cuts.early
    spread += np.maximum((sums[-1] - sums[:-1]) / cuts.late - cuts.after**2, 0.0) / cuts.late
    evidence = np.where(drop >= SMALLEST, np.minimum(chance, drop**2 / (2.0 * spread + _TINY)), 0.0)
    cut = int(np.argmax(evidence))
    between = max(_between(cuts, cut, lag) for lag in _LAGS if cuts.means.size >= 2 * lag + _GROUPS - 2)
    between *= 1.0 / float(cuts.early[cut]) + 1.0 / float(cuts.late[cut])
    return -min(float(evidence[cut]), float(drop[cut]) ** 2 / (2.0 * between + _TINY)), cut


def _between(cuts: _Cuts, cut: int, lag: int) -> float:
    """What groups ``lag`` places apart on the same side of a cut differ by, as a variance of one outcome."""
    steps = (cuts.means[lag:] - cuts.means[:-lag]) ** 2 / (1.0 / cuts.sizes[:-lag] + 1.0 / cuts.sizes[lag:])
    crossing = range(max(0, cut + 1 - lag), min(steps.size, cut + 1))
    return float(np.median(np.delete(steps, crossing))) / _MEDIAN


def _grouped(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Outcomes in groups of `GROUP`: means, mean squares and sizes."""
    starts = np.arange(0, values.size, GROUP)
    sizes = np.diff(np.append(starts, values.size)).astype(np.float64)
    return np.add.reduceat(values, starts) / sizes, np.add.reduceat(values**2, starts) / sizes, sizes


def _sharpest(cuts: _Cuts, group: int) -> int:
    """The cut between two outcomes that explains them best, not far from the cut after a group."""
    near = slice(group * GROUP, (group + 2) * GROUP)
    drop = cuts.before[near] - cuts.after[near]
    explained = cuts.early[near] * cuts.late[near] * np.sign(drop) * drop**2
    return group * GROUP + int(np.argmax(explained))


def fall(
    outcomes: Sequence[float] | Floats,
    *,
    counts: Sequence[int] | Ints | None = None,
    squares: Sequence[float] | Floats | None = None,
    ends: tuple[float, float] | None = None,
    arms: int = 1,
    false_alarm: float = FALSE_ALARM,
) -> Fall | None:
    """Find out whether an arm has fallen.

    Parameters
    ----------
    outcomes
        All outcomes of the arm in [0, 1], oldest first; with ``counts``, the means of neighbouring outcomes.
    counts
        How many outcomes each mean is of; None if each is one outcome. Only the cuts between means are tried, so the
        tests find fewer falls, and the chance of a false alarm is no larger.
    squares
        With ``counts``, the means of the squares of the same outcomes. Without them the noise is not known, and only
        the test by levels is made.
    ends
        With ``squares``, the smallest and the largest of all outcomes.
    arms
        How many arms are tested.
    false_alarm
        The chance of a false alarm over all arms and all time, in (0, 1).

    Returns
    -------
    Fall or None
        None if nothing shows that the arm has fallen.

    Raises
    ------
    InputError
        An argument is not valid.

    >>> found = fall([0.9] * 60 + [0.2] * 40)
    >>> found.since, found.before, found.after
    (61, 0.9, 0.2)
    >>> fall([0.9, 0.2], counts=[60, 40]).since
    61
    >>> fall([0.2] * 60 + [0.9] * 40) is None
    True

    Outcomes with little noise show a small fall soon.

    >>> fall([0.90, 0.91] * 32 + [0.85, 0.86] * 16).since
    65
    """
    values = _numbers("outcomes", outcomes)
    _checks.integer("arms", arms, low=1)
    _checks.number("false_alarm", false_alarm, low=0.0, high=1.0, open_low=True, open_high=True)
    if values.size < 2:
        return None
    sizes = np.ones(values.size, dtype=np.int64) if counts is None else _checks.array(counts)
    if sizes.shape != values.shape or sizes.dtype.kind != "i" or not (sizes >= 1).all():
        raise InputError(f"counts must be a list of integers of at least 1, one for each mean, got {counts!r:.80}")
    n = int(sizes.sum())
    lengths = sizes.astype(np.float64)
    cuts = _Cuts.of(values, lengths)
    logarithm, cut = _by_levels(cuts)
    first = 0
    if counts is None:
        means, powers, groups = _grouped(values)
        other, (begin, group, _) = _by_order(means, powers, groups, (float(values.min()), float(values.max())))
        if other < logarithm:
            logarithm, first = other, begin * GROUP
            cuts = _Cuts.of(values[first:], lengths[first:])
            cut = _sharpest(cuts, group)
    elif squares is not None:
        powers = _numbers("squares", squares)
        limits = () if ends is None else _checks.numbers("ends", ends, low=0.0, high=1.0)
        if powers.shape != values.shape or len(limits) != 2 or limits[0] > limits[1]:
            raise InputError("squares must be one for each mean, with the smallest and the largest outcome as ends")
        other, (begin, group, window) = _by_order(values, powers, lengths, (limits[0], limits[1]))
        if other < logarithm:
            logarithm, first, cuts, cut = other, int(sizes[:begin].sum()), window, group
    spent = math.log(2.0 * arms * _SERIES) + 2.5 * math.log(n)
    chance = math.exp(min(0.0, logarithm + spent))
    if chance > false_alarm:
        return None
    before, after = float(cuts.before[cut].round(12)), float(cuts.after[cut].round(12))
    return Fall(first + int(cuts.early[cut]) + 1, n, before, after, chance, first + 1)


def _numbers(name: str, given: Sequence[float] | Floats) -> Floats:
    """A list of numbers in [0, 1] as an array."""
    found = _checks.array(given)
    values = found.astype(np.float64) if found.dtype.kind in "iufb" else np.array(math.nan)
    if values.ndim != 1 or not ((values >= 0.0) & (values <= 1.0)).all():
        raise InputError(f"{name} must be a list of numbers in [0, 1], got {given!r:.80}")
    return values
