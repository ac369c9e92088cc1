r"""What an arm brings on average over the plays to come, if its slope falls from here on; closed forms.

From play :math:`N` on let the slope fall at least like a power, with a start that is pushed back by a
patience of :math:`a` plays:
:math:`\gamma(N+u) \le \gamma(N)\,\big(\tfrac{A}{A+u}\big)^c` with :math:`A = N + a`. For :math:`c = 0`
that is concavity alone. Then after :math:`x` more plays an arm has risen by at most its slope times

.. math::

    \Phi(x) = \int_0^x \Big(\frac{A}{A+u}\Big)^c du =
    \begin{cases}
        x & c = 0 \\
        A \log(1 + x/A) & c = 1 \\
        \frac{A}{1-c}\big((1+x/A)^{1-c} - 1\big) & \text{otherwise,}
    \end{cases}

and what it brings on average over the next :math:`m` plays is at most
:math:`\frac1m \int_0^m \min(1, \ell + s\,\Phi(x))\,dx`, because outcomes end at 1.
"""

from __future__ import annotations

import math

from rising_bandits._compile import compiled


@compiled
def _power(base: float, exponent: float) -> float:
    """``base ** exponent``; the powers that a decay of 0, 1/2 or 1 asks for without the cost of a power."""
    if exponent == 0.5:
        return math.sqrt(base)
    if exponent == 1.5:
        return base * math.sqrt(base)
    if exponent == 2.0:
        return base * base
    return float(base**exponent)


@compiled
def rise(start: float, plays: float, decay: float) -> float:
    """How far an arm of slope 1 has risen after ``plays`` more plays: the integral above with A = ``start``.

    >>> rise(100.0, 300.0, 0.0), rise(100.0, 300.0, 0.5), round(rise(100.0, 300.0, 1.0), 3)
    (300.0, 200.0, 138.629)
    """
    if decay == 0.0:
        return plays
    ratio = plays / start
    if decay == 1.0:
        return start * math.log1p(ratio)
    return start / (1.0 - decay) * (_power(1.0 + ratio, 1.0 - decay) - 1.0)


@compiled
def mean_rise(start: float, plays: float, decay: float) -> float:
    """The mean of `rise` over the next ``plays`` plays.

    >>> mean_rise(100.0, 300.0, 0.0), round(mean_rise(100.0, 300.0, 0.5), 3)
    (150.0, 111.111)
    """
    if decay == 0.0:
        return 0.5 * plays
    ratio = plays / start
    if ratio < 1e-4:
        # The closed forms lose their digits here; two terms of the series are exact to rounding.
        return 0.5 * plays * (1.0 - decay * ratio / 3.0)
    if decay == 1.0:
        return start * ((1.0 + 1.0 / ratio) * math.log1p(ratio) - 1.0)
    if decay == 2.0:
        return start * (1.0 - math.log1p(ratio) / ratio)
    return start / (1.0 - decay) * ((_power(1.0 + ratio, 2.0 - decay) - 1.0) / (ratio * (2.0 - decay)) - 1.0)


@compiled
def plays_to_rise(start: float, height: float, decay: float) -> float:
    """The inverse of `rise`: after how many plays an arm of slope 1 has risen by ``height``, which it must reach.

    >>> plays_to_rise(100.0, 200.0, 0.5)
    300.0
    """
    if decay == 0.0:
        return height
    if decay == 1.0:
        return start * math.expm1(height / start)
    return start * (_power(1.0 + (1.0 - decay) * height / start, 1.0 / (1.0 - decay)) - 1.0)


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
        return level + slope * mean_rise(start, plays, decay)
    below = min(plays_to_rise(start, (1.0 - level) / slope, decay), plays)
    return 1.0 - below / plays * (1.0 - level - slope * mean_rise(start, below, decay))
