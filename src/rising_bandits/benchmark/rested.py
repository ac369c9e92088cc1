r"""The two rested instances of Metelli et al. (*Stochastic Rising Bandits*, ICML 2022, Section 7).

One arm is played per round. The mean of a polynomial arm is :math:`c\,(1 - b\,(n + b^{1/\rho})^{-\rho})`, that of an
exponential arm is :math:`c\,(1 - e^{-an/b})`. The parameters are those of the program that the authors published. The
noise is Gaussian with standard deviation 0.1, and there are 200 000 rounds.
"""

from __future__ import annotations

from rising_bandits.curves import Capped, Curve, Exponential, Gaussian, Linear, PowerLaw, Scaled
from rising_bandits.problems import Task, TopK

HORIZON = 200_000
_NOISE = Gaussian(0.1)


def _polynomial(rho: float, b: float, c: float) -> Curve:
    """A polynomial arm as a power law."""
    # c (1 - b (n + b^(1/rho))^-rho) equals c (1 - (1 + n / b^(1/rho))^-rho).
    return PowerLaw(scale=b ** (1.0 / rho), power=rho, end=c)


def _fifteen() -> tuple[Curve, ...]:
    """The curves of the instance with fifteen arms."""
    # As in the authors' program, this arm does not start at 0.
    early = PowerLaw(scale=199 ** (1.0 / 0.9), power=0.9, start=0.43 * (1.0 - 195.0 / 199.0), end=0.43)
    return (
        _polynomial(0.8, 177, 1.0),
        _polynomial(0.9, 571, 0.91),
        Exponential(time=162 / 3, end=0.73),
        Exponential(time=949 / 3, end=0.16),
        _polynomial(1.0, 144, 0.48),
        early,
        _polynomial(0.9, 695, 0.79),
        Exponential(time=271.0, end=0.62),
        Exponential(time=849.0, end=0.23),
        Exponential(time=457 / 5, end=0.39),
        _polynomial(1.0, 290, 0.37),
        _polynomial(1.0, 223, 0.17),
        # This curve would exceed 1, the largest possible outcome.
        Capped(Scaled(_polynomial(0.8, 85, 1.0), factor=1.08), cap=1.0),
        _polynomial(1.0, 219, 0.84),
        _polynomial(0.9, 124, 0.26),
    )


def metelli_15() -> Task:
    """The instance with fifteen arms, polynomial and exponential.

    >>> metelli_15().means(100_000).round(2).tolist()[:3]
    [0.98, 0.89, 0.73]
    """
    text = "15 single arms (Metelli et al., 2022)"
    return Task("metelli-15", TopK(15, 1), _fifteen(), HORIZON, _NOISE, description=text)


def metelli_2() -> Task:
    """The instance with two arms: one levels off at 0.4, the other rises linearly to 1 over 25 000 plays.

    >>> metelli_2().means([500, 12_500]).tolist()
    [0.2, 0.5]
    """
    curves = (PowerLaw(scale=500.0, power=1.0, end=0.4), Linear(duration=25_000))
    text = "2 single arms (Metelli et al., 2022)"
    return Task("metelli-2", TopK(2, 1), curves, HORIZON, _NOISE, description=text)
