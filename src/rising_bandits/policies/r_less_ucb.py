"""R-less-UCB: arms that rise with time, whether or not they are played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.parameters import checked_bonus, checked_epsilon, checked_flag, checked_sigma
from rising_bandits.policies.rules.restless import Restless, make_restless
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class RLessUCB(BaseArmPolicy):
    r"""Restless rising UCB on base arms (Metelli et al., *Stochastic Rising Bandits*, ICML 2022); then the oracle.

    It carries the slope of an arm per *round*, not per play, to the present round:

    .. math::

        \frac1h \sum_{l=N-h+1}^{N} \Big( X(l) + (t-t_l)\,\frac{X(l)-X(l-h)}{t_l-t_{l-h}} \Big)
        + \sigma\,(t-N+h-1)\sqrt{\frac{C \log t}{h^3}},

    where :math:`t_l` is the round of play :math:`l` and :math:`h` about :math:`\varepsilon N`
    (`rising_bandits.policies.rules.restless` says how it is rounded).

    It assumes that means rise with the rounds and are concave in them. The arms of this library rise with their own
    plays, so the assumption does not hold here; it is a rival for comparison. The program that the authors published
    computes the rested index under this name as well. The formula above is that of the paper, as we read it, with the
    bonus of the rested index, which is large enough here too. The paper has single arms; the oracle is our addition.

    Parameters
    ----------
    epsilon
        The window as a share of an arm's plays, above 0 and below 1/2; 1/4 in the authors' program.
    sigma
        The subgaussian constant of the noise, at least 0.
    bonus
        The constant C, at least 0; 40 in the authors' program.
    upward
        True replaces an improvement below 0 by 0; False is the formula of the paper.

    >>> import rising_bandits as rb
    >>> policy = RLessUCB(sigma=0.0)
    >>> policy.start(rb.problems.TopK(["x", "y"], k=1), rng=0)
    >>> for arm, outcome in ((0, 0.2), (1, 0.5), (0, 0.3)):
    ...     policy.observe([arm], [outcome])
    >>> policy.indices().round(3).tolist()  # 0.3, and one round more at 0.05 per round
    [0.35, inf]
    """

    name = "r-less-ucb"
    title = "R-less-UCB"

    epsilon: float = 0.25
    sigma: float = 0.01
    bonus: float = 40.0
    upward: bool = True

    def __post_init__(self) -> None:
        self.epsilon = checked_epsilon(self.epsilon)
        self.sigma = checked_sigma(self.sigma)
        self.bonus = checked_bonus(self.bonus)
        self.upward = checked_flag("upward", self.upward)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Restless:
        return make_restless(n_units, epsilon=self.epsilon, sigma=self.sigma, constant=self.bonus, upward=self.upward)
