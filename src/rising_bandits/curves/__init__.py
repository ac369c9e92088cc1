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
from rising_bandits.curves.noise import Bernoulli, Failing, Gaussian, Noise, Noiseless

__all__ = [
    "Bernoulli",
    "Capped",
    "Curve",
    "Exponential",
    "Failing",
    "Flat",
    "Gaussian",
    "LateBloomer",
    "Linear",
    "Noise",
    "Noiseless",
    "PowerLaw",
    "Scaled",
    "Tabulated",
]
