"""Simulations: the loop, the environments that it plays in, and the records of a run."""

from rising_bandits.simulation.run import Run, Simulation, checkpoints, simulate

__all__ = ["Run", "Simulation", "checkpoints", "simulate"]
