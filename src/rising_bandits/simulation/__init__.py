"""The only loop, the environments that it plays in, and what it writes down."""

from rising_bandits.simulation.run import Run, Simulation, checkpoints, simulate

__all__ = ["Run", "Simulation", "checkpoints", "simulate"]
