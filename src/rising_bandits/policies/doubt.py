"""Whether the outcomes that a policy observes contradict the noise that it was told."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from rising_bandits.theory.noise import Contradiction, Steps, contradiction


class Doubt:
    """Compares outcomes with a subgaussian constant while they are observed.

    Parameters
    ----------
    sigma
        The subgaussian constant that the policy was told, at least 0.
    n_arms
        The number of base arms.

    >>> doubt = Doubt(0.01, n_arms=1)
    >>> found = [doubt.add([0], [outcome]) for outcome in (1.0, 0.0) * 4]
    >>> found[-1].arm, found[-1].pairs
    (0, 4)
    """

    def __init__(self, sigma: float, n_arms: int) -> None:
        self._sigma, self._n_arms = sigma, n_arms
        self.steps: dict[int, Steps] = {}
        """How the outcomes of each arm vary from play to play."""

    def copy(self) -> Doubt:
        """An independent copy."""
        made = Doubt(self._sigma, self._n_arms)
        made.steps = {arm: copy.copy(steps) for arm, steps in self.steps.items()}
        return made

    def add(self, arms: Sequence[int], outcomes: Sequence[float]) -> Contradiction | None:
        """Add an outcome of each of some arms. Returns the contradiction that one of them completes, if any."""
        for arm, outcome in zip(arms, outcomes, strict=True):
            seen = self.steps.get(arm)
            if seen is None:
                seen = self.steps[arm] = Steps()
            if seen.add(outcome) and seen.against(self._sigma, self._n_arms):
                return contradiction({arm: seen}, self._sigma, self._n_arms)
        return None
