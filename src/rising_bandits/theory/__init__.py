"""Theory that can be computed with: optima now, bounds and diagnostics to come."""

from rising_bandits.theory.optimum import OptimalConstant, optimal_constant

__all__ = ["OptimalConstant", "optimal_constant"]
