r"""The two rested instances of Metelli et al. (*Stochastic Rising Bandits*, ICML 2022, Section 7): one arm at a time.

Polynomial arms are :math:`c\,(1 - b\,(n + b^{1/\rho})^{-\rho})`, exponential ones :math:`c\,(1 - e^{-an/b})`; the
parameters are those of the program that the authors published. Gaussian noise of 0.1, 200 000 rounds.
"""

from __future__ import annotations

from rising_bandits.curves import Capped, Curve, Exponential, Gaussian, Linear, PowerLaw, Scaled
from rising_bandits.problems import Task, TopK

HORIZON = 200_000
_NOISE = Gaussian(0.1)


def _polynomial(rho: float, b: float, c: float) -> Curve:
    # c (1 - b (n + b^(1/rho))^-rho) is c (1 - (1 + n / b^(1/rho))^-rho).
    return PowerLaw(scale=b ** (1.0 / rho), power=rho, end=c)


def _fifteen() -> tuple[Curve, ...]:
    # Its scale is not the one that would start it at zero, as in the authors' program.
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
        # It would pass 1, where outcomes end.
        Capped(Scaled(_polynomial(0.8, 85, 1.0), factor=1.08), cap=1.0),
        _polynomial(1.0, 219, 0.84),
        _polynomial(0.9, 124, 0.26),
    )


def metelli_15() -> Task:
    """Fifteen arms with curves of two families.

    >>> metelli_15().means(100_000).round(2).tolist()[:3]
    [0.98, 0.89, 0.73]
    """
    text = "15 single arms (Metelli et al., 2022)"
    return Task("metelli-15", TopK(15, 1), _fifteen(), HORIZON, _NOISE, description=text)


def metelli_2() -> Task:
    """An arm that fades at 0.4 and one that rises straight to 1 over 25 000 plays.

    >>> metelli_2().means([500, 12_500]).tolist()
    [0.2, 0.5]
    """
    curves = (PowerLaw(scale=500.0, power=1.0, end=0.4), Linear(duration=25_000))
    text = "2 single arms (Metelli et al., 2022)"
    return Task("metelli-2", TopK(2, 1), curves, HORIZON, _NOISE, description=text)
