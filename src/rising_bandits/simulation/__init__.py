"""Simulations: the loop, the environments that it plays in, the records of a run, and recommendations judged."""

from rising_bandits.simulation.delays import Geometric
from rising_bandits.simulation.identification import ErrorRate, Identification, best_after, error_rate, identify
from rising_bandits.simulation.result import Run, checkpoints
from rising_bandits.simulation.run import Simulation, simulate

__all__ = [
    "ErrorRate",
    "Geometric",
    "Identification",
    "Run",
    "Simulation",
    "best_after",
    "checkpoints",
    "error_rate",
    "identify",
    "simulate",
]
