r"""A test whether an arm has fallen. Rising and flat arms pass it, however noisy they are.

Let :math:`n` be the plays of an arm, :math:`\hat\mu_{1:s}` the mean of the first :math:`s` and :math:`\hat\mu_{s+1:n}`
the mean of the others, and kl the divergence of Bernoulli distributions. The statistic is the generalised likelihood
ratio over the cuts after which the mean is lower:

.. math::

    G = \max_{s:\, \hat\mu_{s+1:n} < \hat\mu_{1:s}} \; s\,\mathrm{kl}(\hat\mu_{1:s}, \hat\mu_{1:n})
    + (n-s)\,\mathrm{kl}(\hat\mu_{s+1:n}, \hat\mu_{1:n}).

If means never fall, all means before a cut are at most some :math:`c`, and all means after it at least :math:`c`. The
two summands are then at most :math:`s\,\mathrm{kl}^+(\hat\mu_{1:s}, c)` and
:math:`(n-s)\,\mathrm{kl}^-(\hat\mu_{s+1:n}, c)`, which are independent and exceed :math:`x` with probability at most
:math:`e^{-x}` each (Chernoff, for outcomes in [0, 1]). So their sum exceeds :math:`x` with probability at most
:math:`(1+x)e^{-x}`. A fall is reported if

.. math:: (1+G)\,e^{-G} \le \frac{\delta}{K \cdot 2.62\, n^{3/2} \cdot n}.

The sum of the right side over all cuts, all :math:`n` and all K arms is at most :math:`\delta`, the chance of a false
alarm over all time. Outcomes with little noise are treated like any others in [0, 1], so small falls of precise
outcomes are found late.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError

FALSE_ALARM = 0.001
"""The chance that a fall is reported of arms that never fall, over all arms and all time."""
_SERIES = 2.62
"""More than the sum of n^(-3/2) over n from 1."""
_EDGE = 1e-9


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


def _divergence(p: Floats, q: float) -> Floats:
    """The divergence of Bernoulli distributions, for an array of means p."""
    p, q = np.clip(p, _EDGE, 1.0 - _EDGE), min(max(q, _EDGE), 1.0 - _EDGE)
    return np.asarray(p * np.log(p / q) + (1.0 - p) * np.log((1.0 - p) / (1.0 - q)))


def fall(
    outcomes: Sequence[float] | Floats,
    *,
    counts: Sequence[int] | Ints | None = None,
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
        test finds fewer falls, and the chance of a false alarm is no larger.
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
    """
    try:
        values = np.asarray(outcomes, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(math.nan)
    if values.ndim != 1 or not ((values >= 0.0) & (values <= 1.0)).all():
        raise InputError(f"outcomes must be a list of numbers in [0, 1], got {outcomes!r:.80}")
    _checks.integer("arms", arms, low=1)
    _checks.number("false_alarm", false_alarm, low=0.0, high=1.0, open_low=True, open_high=True)
    if values.size < 2:
        return None
    sizes = np.ones(values.size, dtype=np.int64) if counts is None else np.asarray(counts)
    if sizes.shape != values.shape or sizes.dtype.kind != "i" or not (sizes >= 1).all():
        raise InputError(f"counts must be a list of integers of at least 1, one for each mean, got {counts!r:.80}")
    total = np.cumsum(values * sizes)
    count = np.cumsum(sizes)
    n, count = int(count[-1]), count[:-1]
    before, after = total[:-1] / count, (total[-1] - total[:-1]) / (n - count)
    mean = float(total[-1]) / n
    ratio = count * _divergence(before, mean) + (n - count) * _divergence(after, mean)
    ratio[after >= before] = 0.0
    cut = int(np.argmax(ratio))
    evidence = float(ratio[cut])
    spent = math.log(arms * _SERIES) + 2.5 * math.log(n)
    chance = math.exp(min(0.0, math.log1p(evidence) - evidence + spent))
    if chance > false_alarm:
        return None
    return Fall(int(count[cut]) + 1, n, float(before[cut].round(12)), float(after[cut].round(12)), chance)
