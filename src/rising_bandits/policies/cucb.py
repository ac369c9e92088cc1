"""CUCB: the upper confidence bound of every base arm from all its plays, and the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.parameters import checked_bonus
from rising_bandits.policies.rules.window import ALL_PLAYS, WindowUCB, make_window_ucb
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class CUCB(BaseArmPolicy):
    r"""Combinatorial UCB for arms that do not change (Chen, Wang and Yuan, ICML 2013).

    The index of an arm with :math:`N` plays is :math:`\frac1N \sum X + \sqrt{C \log t / N}` over all its outcomes.

    It assumes flat arms with outcomes in [0, 1]. On arms that rise, old outcomes hold the mean down. On a problem of
    stages, where one arm of each stage is chosen, it is UCB1 in every stage. It takes O(1) memory per arm.

    Parameters
    ----------
    bonus
        The constant C, at least 0; 3/2 in the paper of Chen, Wang and Yuan, and 2 for UCB1 of Auer et al. (2002).

    >>> import rising_bandits as rb
    >>> policy = CUCB()
    >>> policy.start(rb.problems.TopK(["x"], k=1), rng=0)
    >>> for outcome in (0.2, 0.4):
    ...     policy.observe([0], [outcome])
    >>> {name: part.round(2).tolist() for name, part in policy.terms().items()}
    {'recent average': [0.3], 'bonus': [0.91]}
    """

    name = "cucb"
    title = "CUCB"
    first_plays = 1

    bonus: float = 1.5

    def __post_init__(self) -> None:
        self.bonus = checked_bonus(self.bonus)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{"bonus": 2.0}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> WindowUCB:
        return make_window_ucb(n_units, ALL_PLAYS, self.bonus)
