"""EpsilonGreedy: the best means, and now and then a random super arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rising_bandits import _checks
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.parameters import LARGEST, checked_flag
from rising_bandits.policies.rules.greedy import Greedy, make_greedy
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class EpsilonGreedy(BaseArmPolicy):
    r"""With a small chance a random super arm, else the best one by the means of all outcomes.

    The chance of a random round is :math:`\varepsilon`, or with ``fading`` :math:`\min(1, \varepsilon K / t)` for
    :math:`K` base arms (Auer, Cesa-Bianchi and Fischer, *Machine Learning* 2002, with one constant for their c/d²). The
    random super arm is the oracle's answer to uniform random weights. So every arm in some super arm is tried, but not
    all super arms are equally likely.

    It assumes flat arms. It takes O(1) memory per arm.

    Parameters
    ----------
    epsilon
        The chance, from 0 to 1; with ``fading`` any number of at least 0.
    fading
        Whether the chance falls with the rounds.

    >>> import rising_bandits as rb
    >>> policy = EpsilonGreedy(epsilon=0.0)
    >>> policy.start(rb.problems.TopK(["x"], k=1), rng=0)
    >>> for outcome in (0.2, 0.4):
    ...     policy.observe([0], [outcome])
    >>> policy.indices().round(2).tolist()
    [0.3]
    """

    name = "epsilon-greedy"
    title = "ε-greedy"
    first_plays = 1

    epsilon: float = 0.1
    fading: bool = False

    def __post_init__(self) -> None:
        self.fading = checked_flag("fading", self.fading)
        if self.fading:
            self.epsilon = _checks.number("epsilon", self.epsilon, low=0.0, limit=LARGEST)
        else:
            self.epsilon = _checks.number("epsilon", self.epsilon, low=0.0, high=1.0)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{"epsilon": 5.0, "fading": True}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Greedy:
        return make_greedy(n_units, epsilon=self.epsilon, fading=self.fading)
