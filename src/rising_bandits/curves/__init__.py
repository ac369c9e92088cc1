"""How an arm's mean outcome rises with its own plays, and what noise is added to it."""

from rising_bandits.curves.families import (
    Capped,
    Curve,
    Exponential,
    Flat,
    LateBloomer,
    Linear,
    PowerLaw,
    Scaled,
    Tabulated,
)
from rising_bandits.curves.measured import Dropping, Interpolated
from rising_bandits.curves.noise import Bernoulli, Failing, Gaussian, Noise, Noiseless
from rising_bandits.curves.spread import Spread

__all__ = [
    "Bernoulli",
    "Capped",
    "Curve",
    "Dropping",
    "Exponential",
    "Failing",
    "Flat",
    "Gaussian",
    "Interpolated",
    "LateBloomer",
    "Linear",
    "Noise",
    "Noiseless",
    "PowerLaw",
    "Scaled",
    "Spread",
    "Tabulated",
]
