"""ExploreThenCommit: the same number of plays for every arm, then one super arm for ever."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.rules.greedy import Greedy, make_greedy
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class ExploreThenCommit(BaseArmPolicy):
    r"""Every base arm is played equally often; then the super arm with the best means is played for ever.

    Each base arm gets :math:`m` plays, and its mean is that of its first :math:`m` outcomes. By default :math:`m =
    \lceil (T/K)^{2/3} (\log T)^{1/3} \rceil` for :math:`T` rounds and :math:`K` base arms, which gives a regret of
    order :math:`T^{2/3}` on single flat arms (Slivkins, *Introduction to Multi-Armed Bandits*, Section 1.2). While it
    explores, it plays super arms with many arms that still need plays. Exploration ends after :math:`mK` rounds at the
    latest, also if an arm cannot be reached.

    It assumes flat arms. It takes O(1) memory per arm.

    Parameters
    ----------
    plays_each
        The number m of plays of each arm, at least 2. None computes it from the horizon, which must then be known.

    >>> import rising_bandits as rb
    >>> policy = ExploreThenCommit(plays_each=3)
    >>> policy.start(rb.problems.TopK(["x", "y"], k=1), rng=0)
    >>> chosen = []
    >>> for _ in range(10):
    ...     arms = policy.select()
    ...     policy.observe(arms, [0.4 + 0.2 * arms[0]])
    ...     chosen.append(int(arms[0]))
    >>> chosen
    [0, 0, 1, 1, 0, 1, 1, 1, 1, 1]
    """

    name = "explore-then-commit"
    title = "explore, then commit"

    plays_each: int | None = None

    def __post_init__(self) -> None:
        if self.plays_each is not None:
            self.plays_each = _checks.integer("plays_each", self.plays_each, low=2, limit=10**12)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{"plays_each": 5}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Greedy:
        if self.plays_each is not None:
            return make_greedy(n_units, forced=self.plays_each)
        if horizon is None:
            raise InputError(
                "plays_each must be given when the horizon is unknown, as in ExploreThenCommit(plays_each=50)"
            )
        each = math.ceil((horizon / n_units) ** (2.0 / 3.0) * math.log(max(horizon, 2)) ** (1.0 / 3.0))
        return make_greedy(n_units, forced=max(2, each))
