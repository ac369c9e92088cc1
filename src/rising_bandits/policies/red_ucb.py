"""R-ed-UCB: the rising index on super arms, which ignores the base arms that they share."""

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

    It computes the index of `CRUCB` from the reward of a super arm, scaled to [0, 1]. A sum is divided by the largest
    size :math:`L` of a super arm; a maximum is left as it is. The noise of the scaled reward is taken to be
    :math:`\sigma/\sqrt{L}` for sums and :math:`\sigma` otherwise.

    Parameters
    ----------
    epsilon
        The window as a share of a super arm's plays, above 0 and below 1/2.
    sigma
        The subgaussian constant of the noise of base arms, at least 0.
    bonus
        The constant C of the bonus, C·log t under the root: ``"paper"`` for 30, ``"reference"`` for 4, or a number.
    resolution
        None keeps every outcome of two windows. A number from 4 to 4096 keeps so many blocks of outcomes per window
        instead (see `rising_bandits.policies.rules.coarse`).
    upward
        True replaces a predicted improvement below 0 by 0. Rising arms have no such improvement; the paper keeps it.

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
