r"""A posterior over rising curves, for the outcomes of one arm.

A *shape* is a curve :math:`f(n) = 1 - (1 + n/\tau)^{-\alpha}` that rises from 0 towards 1. An arm of this shape has
the mean :math:`b_0 + b_1 f(n)` at the play with :math:`n` plays before it. The prior of level and rise is normal, and
so is the noise. Then three sums per shape hold all that the outcomes tell, and the posterior has a closed form.
One more shape is flat: :math:`b_1 = 0`. The weight of a shape follows from how well it explains the outcomes.

Older plays count less: at play :math:`N` an outcome of play :math:`n` has the weight :math:`(n/N)^{2}`. No shape is
exactly right, and a wrong shape with many plays would be too sure of itself.
"""

from __future__ import annotations

import math

from rising_bandits._checks import Floats
from rising_bandits._compile import compiled

TAUS = (1.0, 8.0, 64.0, 512.0, 4096.0, 32768.0)
"""The numbers of plays after which a shape has risen by a good part."""
ALPHAS = (0.3, 1.0, 3.0)
"""How soon shapes settle."""
FLAT = 0.25
"""The weight of the flat shape before the first play. The others share the rest."""
FORGET = 2.0
"""The power with which older plays count less."""
SMALLEST_VARIANCE = 1e-8
"""The least variance of noise that is assumed, so that nothing is divided by 0."""
FARTHEST = 50.0
"""Shapes whose logarithm of the evidence is further from the best get no weight."""
NEGLIGIBLE = 1e-9
"""Shapes of less weight are left out of a forecast."""
# The places in a row of a posterior: means of level and rise, the variance of the rise, the weight of the shape.
LEVEL, RISE, VAR_RISE, WEIGHT = range(4)


@compiled
def _power(base: float, alpha: float) -> float:
    """The power ``base ** -alpha``; quick for whole numbers."""
    if alpha == 1.0:
        return 1.0 / base
    if alpha == 3.0:
        return 1.0 / (base * base * base)
    return float(base ** (-alpha))


@compiled
def height(n: float, tau: float, alpha: float) -> float:
    """The shape after ``n`` plays.

    >>> height(0.0, 8.0, 1.0), height(8.0, 8.0, 1.0), round(height(56.0, 8.0, 0.3), 3)
    (0.0, 0.5, 0.464)
    """
    return 1.0 - _power(1.0 + n / tau, alpha)


@compiled
def outlook(n: float, ahead: float, tau: float, alpha: float) -> tuple[float, float]:
    """The mean of the shape over the ``ahead`` plays after ``n`` plays, and the shape after ``n`` plays.

    >>> mean, now = outlook(8.0, 100.0, 8.0, 1.0)
    >>> round(mean, 4), now
    (0.8415, 0.5)
    """
    base = 1.0 + n / tau
    later = 1.0 + (n + ahead) / tau
    power = _power(base, alpha)
    if alpha == 1.0:
        return 1.0 - tau / ahead * math.log(later / base), 1.0 - power
    return 1.0 - tau / ahead * (later * _power(later, alpha) - base * power) / (1.0 - alpha), 1.0 - power


@compiled
def take_block(shapes: Floats, sums: Floats, totals: Floats, plays: float, count: float, x: float) -> None:
    """Add the last ``count`` outcomes of an arm, whose sum is ``x``, as if each had been in the middle of them.

    ``shapes`` has tau and alpha per row. ``sums`` gets f, f² and f·x per shape. ``totals`` gets the weight and the sum
    of all outcomes. ``plays`` is the number of plays, including these.
    """
    keep = ((plays - count) / plays) ** FORGET
    middle = plays - 0.5 * (count + 1.0)
    for shape in range(shapes.shape[0]):
        f = height(middle, shapes[shape, 0], shapes[shape, 1])
        sums[shape, 0] = keep * sums[shape, 0] + count * f
        sums[shape, 1] = keep * sums[shape, 1] + count * f * f
        sums[shape, 2] = keep * sums[shape, 2] + f * x
    totals[0] = keep * totals[0] + count
    totals[1] = keep * totals[1] + x


@compiled
def weigh(sums: Floats, totals: Floats, variance: float, prior: Floats, out: Floats) -> None:
    """Write the posterior of an arm: a row per shape, the flat one last.

    ``prior`` has the logarithm of each shape's weight, the flat one last, then mean and variance of the level and of
    the rise.
    """
    shapes = sums.shape[0]
    m0, v0, m1, v1 = prior[shapes + 1], prior[shapes + 2], prior[shapes + 3], prior[shapes + 4]
    precision = 1.0 / max(variance, SMALLEST_VARIANCE)
    n, x = totals[0] * precision, totals[1] * precision
    a00 = 1.0 / v0 + n
    r0 = m0 / v0 + x
    start = 0.5 * m0 * m0 / v0
    top = prior[shapes] + 0.5 * r0 * r0 / a00 - start
    out[shapes, LEVEL] = r0 / a00
    out[shapes, RISE] = 0.0
    out[shapes, VAR_RISE] = 0.0
    out[shapes, WEIGHT] = top
    start += 0.5 * m1 * m1 / v1
    least, pull, inverse = a00 / v1, m1 / v1, 1.0 / v1
    for shape in range(shapes):
        a01, a11 = sums[shape, 0] * precision, inverse + sums[shape, 1] * precision
        r1 = pull + sums[shape, 2] * precision
        # The determinant is at least a00/v1, but rounding may make it smaller where a shape has settled.
        scale = 1.0 / max(a00 * a11 - a01 * a01, least)
        level, rise = (a11 * r0 - a01 * r1) * scale, (a00 * r1 - a01 * r0) * scale
        evidence = prior[shape] + 0.5 * (level * r0 + rise * r1) - start
        out[shape, LEVEL] = level
        out[shape, RISE] = rise
        out[shape, VAR_RISE] = a00 * scale
        out[shape, WEIGHT] = evidence
        top = max(top, evidence)
    total = 0.0
    # The second factor of a weight is one over the square root of the determinants.
    flat = 1.0 / (a00 * v0)
    for shape in range(shapes + 1):
        less = top - out[shape, WEIGHT]
        weight = 0.0
        if less < FARTHEST:
            weight = math.exp(-less) * math.sqrt(flat if shape == shapes else flat * out[shape, VAR_RISE] * inverse)
        out[shape, WEIGHT] = weight
        total += weight
    for shape in range(shapes + 1):
        out[shape, WEIGHT] /= total


@compiled
def forecast(posterior: Floats, shapes: Floats, plays: float, ahead: float) -> tuple[float, float]:
    """The expected mean outcome over the next ``ahead`` plays, and its deviation.

    In the expectation negative rises count as 0 and means above 1 as 1. The deviation comes from what is unknown about
    the shape and about the rise that is still to come.
    """
    expected = 0.0
    first = 0.0
    second = 0.0
    for shape in range(posterior.shape[0]):
        weight, mean, spread = posterior[shape, WEIGHT], posterior[shape, LEVEL], 0.0
        if weight < NEGLIGIBLE:
            continue
        hopeful = mean
        if shape < shapes.shape[0]:
            tau, alpha = shapes[shape, 0], shapes[shape, 1]
            reach, now = outlook(plays, ahead, tau, alpha)
            mean += posterior[shape, RISE] * reach
            hopeful += max(0.0, posterior[shape, RISE]) * reach
            spread = posterior[shape, VAR_RISE] * (reach - now) ** 2
        mean = min(1.0, mean)
        expected += weight * min(1.0, hopeful)
        first += weight * mean
        second += weight * (mean * mean + spread)
    return expected, math.sqrt(max(0.0, second - first * first))
