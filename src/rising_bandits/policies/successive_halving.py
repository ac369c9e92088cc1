"""SuccessiveHalving: super arms get equally many plays, and the worse half leaves, again and again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits.policies.levels import SuperArmPolicy
from rising_bandits.policies.parameters import checked_share, known_horizon
from rising_bandits.policies.rules.elimination import Elimination, make_elimination, standing
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class SuccessiveHalving(SuperArmPolicy):
    r"""Sequential halving on listed super arms, then the survivor for ever (Karnin, Koren and Somekh, ICML 2013).

    With :math:`n` super arms and :math:`B` rounds there are :math:`R = \lceil \log_2 n \rceil` phases. In each, every
    survivor gets :math:`\lfloor B / (R \cdot \text{survivors}) \rfloor` plays, and at least one. Then the half with the
    better estimates stays (rounded up). Jamieson and Talwalkar (AISTATS 2016) use the same scheme for learning curves.

    The estimate is the mean of a super arm's rewards, of all plays or of the latest. It assumes that the order of super
    arms shows early. Base arms that super arms share rise for all of them, which the policy does not use.

    Parameters
    ----------
    budget
        The share of the horizon that is spent on elimination, above 0 and at most 1.
    window
        None uses all plays for an estimate; a number in (0, 1) that share of the latest plays.

    >>> import rising_bandits as rb
    >>> policy = SuccessiveHalving(budget=1.0)
    >>> policy.start(rb.problems.TopK(4, k=1), horizon=16, rng=0)
    >>> for _ in range(16):
    ...     arms = policy.select()
    ...     policy.observe(arms, [0.2 * arms[0]])
    >>> policy.plays.tolist()
    [2, 2, 6, 6]
    """

    name = "successive-halving"
    title = "successive halving"
    first_plays = 1

    budget: float = 0.2
    window: float | None = None

    def __post_init__(self) -> None:
        self.budget = _checks.number("budget", self.budget, low=0.0, high=1.0, open_low=True)
        if self.window is not None:
            self.window = checked_share(self.window)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{"budget": 1.0, "window": 0.5}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Elimination:
        rounds = int(self.budget * known_horizon(type(self).__name__, horizon))
        phases = math.ceil(math.log2(n_units)) if n_units > 1 else 0
        quota, keep, left, each = [], [], n_units, 0
        for _ in range(phases):
            each += max(1, rounds // (phases * left))
            left = (left + 1) // 2
            quota.append(each)
            keep.append(left)
        return make_elimination(n_units, np.array(quota, np.int64), np.array(keep, np.int64), self.window or 0.0)

    def _worth(self) -> Floats:
        return standing(self._rule)
