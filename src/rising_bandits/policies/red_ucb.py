"""R-ed-UCB: the rising index on whole super arms, blind to what they share."""

from __future__ import annotations

import math
from typing import Any

from rising_bandits.policies.crucb import RisingParameters
from rising_bandits.policies.levels import SuperArmPolicy
from rising_bandits.policies.rules.coarse import Coarse
from rising_bandits.policies.rules.rising import Rising
from rising_bandits.problems.base import Problem


class RedUCB(RisingParameters, SuperArmPolicy):
    r"""Rested rising UCB on super arms (Metelli et al., *Stochastic Rising Bandits*, ICML 2022).

    The index of `CRUCB` on the reward of a super arm, scaled to [0, 1]: divided by the largest size
    :math:`L` for sums, by 1 for the maximum. Given the base arms' :math:`\sigma`, it uses
    :math:`\sigma/\sqrt{L}` for sums and :math:`\sigma` otherwise.

    >>> import rising_bandits as rb
    >>> policy = RedUCB(sigma=0.1)
    >>> policy.start(rb.problems.Explicit([[0], [1, 2]]), rng=0)
    >>> policy.select().tolist()
    [0]
    """

    name = "r-ed-ucb"
    title = "R-ed-UCB"
    colour = "#CC79A7"

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{}, {"resolution": 8, "upward": True}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Rising | Coarse:
        shrink = math.sqrt(problem.oracle.max_size) if problem.reward.additive else 1.0
        return self._make(n_units, self.sigma / shrink)
