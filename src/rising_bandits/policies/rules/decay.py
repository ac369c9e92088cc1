r"""Closed forms for the mean outcome of an arm over its next plays, if its slope falls like a power.

Assume that from play :math:`N` on the slope :math:`\gamma` falls at least like a power, after a patience of :math:`a`
plays: :math:`\gamma(N+u) \le \gamma(N)\,\big(\tfrac{A}{A+u}\big)^c` with :math:`A = N + a`. For :math:`c = 0` this is
concavity. Then after :math:`x` more plays the arm has risen by at most its slope times

.. math::

    \Phi(x) = \int_0^x \Big(\frac{A}{A+u}\Big)^c du =
    \begin{cases}
        x & c = 0 \\
        A \log(1 + x/A) & c = 1 \\
        \frac{A}{1-c}\big((1+x/A)^{1-c} - 1\big) & \text{otherwise.}
    \end{cases}

Outcomes are at most 1. So for an arm with level :math:`\ell` and slope :math:`s`, the mean over the next :math:`m`
plays is at most :math:`\frac1m \int_0^m \min(1, \ell + s\,\Phi(x))\,dx`.
"""

from __future__ import annotations

import math

from rising_bandits._compile import compiled


@compiled
def rise(start: float, plays: float, decay: float) -> float:
    """How far an arm of slope 1 has risen after ``plays`` more plays: the integral above with A = ``start``.

    >>> rise(100.0, 300.0, 0.0), rise(100.0, 300.0, 0.5), round(rise(100.0, 300.0, 1.0), 3)
    (300.0, 200.0, 138.629)
    """
    if decay == 0.0:
        return plays
    ratio = plays / start
    if decay == 0.5:
        return 2.0 * start * (math.sqrt(1.0 + ratio) - 1.0)
    if decay == 1.0:
        return start * math.log1p(ratio)
    # With expm1 and log1p no digits are lost for a decay near 1.
    return start * math.expm1((1.0 - decay) * math.log1p(ratio)) / (1.0 - decay)


@compiled
def mean_rise(start: float, plays: float, decay: float) -> float:
    r"""The mean of `rise` over the next ``plays`` plays.

    With :math:`r = m/A`, :math:`d = 1 - c` and :math:`E = (1+r)^d - 1` it is
    :math:`\frac{A}{1+d}\big(\frac{1+r}{r}\cdot\frac{E}{d} - 1\big)`, which loses no digits
    for c near 1. For c near 2 an equal formula with :math:`(1+r)^{1+d} - 1` is used.

    >>> mean_rise(100.0, 300.0, 0.0), round(mean_rise(100.0, 300.0, 0.5), 3)
    (150.0, 111.111)
    """
    if decay == 0.0:
        return 0.5 * plays
    ratio = plays / start
    if ratio < 1e-4:
        # The closed forms lose digits here. Two terms of the series are exact up to rounding.
        return 0.5 * plays * (1.0 - decay * ratio / 3.0)
    rest = 1.0 - decay
    if decay == 0.5:
        # The default decay, without a logarithm, to save time.
        return 2.0 * start * (((1.0 + ratio) * math.sqrt(1.0 + ratio) - 1.0) / (1.5 * ratio) - 1.0)
    length = math.log1p(ratio)
    if abs(1.0 + rest) < 0.5:
        whole = length if decay == 2.0 else math.expm1((1.0 + rest) * length) / (1.0 + rest)
        return start / rest * (whole / ratio - 1.0)
    grown = length if decay == 1.0 else math.expm1(rest * length) / rest
    return start / (1.0 + rest) * ((1.0 + 1.0 / ratio) * grown - 1.0)


@compiled
def plays_to_rise(start: float, height: float, decay: float) -> float:
    """The inverse of `rise`: after how many plays an arm of slope 1 has risen by ``height``; infinite if never.

    >>> plays_to_rise(100.0, 200.0, 0.5)
    300.0
    """
    if decay == 0.0:
        return height
    if decay == 0.5:
        root = 1.0 + 0.5 * height / start
        return start * (root * root - 1.0)
    if decay == 1.0:
        # Beyond this the exponential overflows.
        return start * math.expm1(height / start) if height < 700.0 * start else math.inf
    inside = (1.0 - decay) * height / start
    if inside <= -1.0:
        # It never rises that far.
        return math.inf
    return start * math.expm1(math.log1p(inside) / (1.0 - decay))


@compiled
def mean_outlook(level: float, slope: float, start: float, plays: float, decay: float) -> float:
    r"""The mean of :math:`\min(1, \ell + s\,\Phi(x))` over the next ``plays`` plays.

    >>> mean_outlook(0.5, 0.001, 100.0, 1000.0, 0.0)
    0.875
    >>> mean_outlook(0.5, 0.0, 100.0, 1000.0, 0.5), mean_outlook(1.2, 0.1, 100.0, 1000.0, 0.5)
    (0.5, 1.0)
    """
    if level >= 1.0:
        return 1.0
    if slope <= 0.0:
        return level
    if level + slope * rise(start, plays, decay) <= 1.0:
        return min(1.0, level + slope * mean_rise(start, plays, decay))
    below = min(plays_to_rise(start, (1.0 - level) / slope, decay), plays)
    return min(1.0, max(level, 1.0 - below / plays * (1.0 - level - slope * mean_rise(start, below, decay))))
