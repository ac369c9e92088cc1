"""Python objects in place of engines and solvers. Their methods have the names of the operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InfeasibleError
from rising_bandits.oracles import SuperArmOracle
from rising_bandits.oracles.answers import drawn, in_order


class PythonSolver:
    """An oracle without a compiled solver, as an engine sees it."""

    def __init__(self, oracle: SuperArmOracle) -> None:
        self._oracle = oracle

    def solve(self, weights: Floats, out: Ints) -> int:
        """Write the best super arm into ``out`` and return its size; a weight of minus infinity forbids an arm."""
        forbidden = np.isneginf(weights)
        mask = forbidden if forbidden.any() else None
        try:
            arms = self._oracle.search(weights if mask is None else np.where(mask, 0.0, weights), mask)
        except InfeasibleError:
            return 0
        out[: arms.size] = arms
        return int(arms.size)


class PythonEngine:
    """An engine that calls any object with ``select`` and ``observe``, and checks what it answers."""

    def __init__(self, policy: Any, oracle: SuperArmOracle) -> None:
        self._policy, self._oracle = policy, oracle

    def ready(self, pushes: int) -> bool:
        """Always: Python needs no plan."""
        return True

    def select(self, t: int, rng: object, out: Ints) -> int:
        """What the object proposes. It is an error if that is not a super arm."""
        arms = in_order(self._oracle, self._oracle.check_super_arm(self._policy.select()))
        out[: arms.size] = arms
        return int(arms.size)

    def learn(self, arms: Ints, outcomes: Floats, played: int) -> None:
        """Hand the outcomes on as copies: the object may keep them, and the loop writes over its own arrays."""
        if played == arms.size:
            self._policy.observe(arms.copy(), outcomes.copy())
        else:
            self._policy.observe(arms.copy(), outcomes.copy(), np.arange(arms.size) < played)


class Sampled:
    """A uniformly random super arm of a family that is too large to list."""

    def __init__(self, oracle: SuperArmOracle) -> None:
        self._oracle = oracle

    def ready(self, pushes: int) -> bool:
        """Always."""
        return True

    def select(self, t: int, rng: np.random.Generator, out: Ints) -> int:
        """A random super arm in the order of its structure."""
        arms = in_order(self._oracle, drawn(self._oracle, rng))
        out[: arms.size] = arms
        return int(arms.size)

    def learn(self, arms: Ints, outcomes: Floats, played: int) -> None:
        """Nothing is learnt."""
