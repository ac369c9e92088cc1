"""CURE-UCB, as we read it: the recent mean, the gain over the rounds left, and a bonus."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.parameters import checked_bonus, checked_epsilon, checked_sigma, known_horizon
from rising_bandits.policies.rules.projected import Projected, make_projected
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class CureUCB(BaseArmPolicy):
    r"""CURE-UCB in our reading: an optimistic estimate of the mean outcome over the rounds left; then the oracle.

    CURE-UCB (*Rising Multi-Armed Bandits with Known Horizons*, arXiv 2602.10727) estimates what an arm would earn in
    all the rounds that are left. **The paper's formula and constants could not be read here.** What follows is our
    reading of its abstract. For an arm with :math:`N` plays, window :math:`h = \max(1, \lceil\varepsilon N\rceil)`, at
    most :math:`N/2`, and :math:`m = T - t + 1` rounds left, with :math:`l = N-h+1, \dots, N`,

    .. math::

        \frac1h \sum_l X(l) + \max\Big(0, \frac1h \sum_l (n-l) \frac{X(l) - X(l-h)}{h}\Big)
        + \sigma (n-N+h-1) \sqrt{\frac{C \log T}{h^3}}, \qquad n = N + \frac{m+1}{2}.

    The line through the two windows has its mean over the next :math:`m` plays in the middle of them, at :math:`n`. So
    the terms are the recent mean, the projected gain over the rounds left, and the bonus of the rising index.

    It assumes means that rise and are concave in an arm's own plays, noise that is ``sigma``-subgaussian, and a known
    horizon. The paper has single arms; the oracle is our addition.

    Parameters
    ----------
    epsilon
        The window as a share of an arm's plays, above 0 and below 1/2.
    sigma
        The subgaussian constant of the noise, at least 0.
    bonus
        The constant C, at least 0.

    >>> import rising_bandits as rb
    >>> policy = CureUCB(sigma=0.0)
    >>> policy.start(rb.problems.TopK(["x"], k=1), horizon=11, rng=0)
    >>> for outcome in (0.1, 0.2):
    ...     policy.observe([0], [outcome])
    >>> {name: part.round(2).tolist() for name, part in policy.terms().items()}  # 9 rounds left: 5 steps of 0.1
    {'recent average': [0.2], 'predicted improvement': [0.5], 'bonus': [0.0]}
    """

    name = "cure-ucb"
    title = "CURE-UCB (our reading)"

    epsilon: float = 0.25
    sigma: float = 0.01
    bonus: float = 4.0

    def __post_init__(self) -> None:
        self.epsilon = checked_epsilon(self.epsilon)
        self.sigma = checked_sigma(self.sigma)
        self.bonus = checked_bonus(self.bonus)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Projected:
        rounds = known_horizon(type(self).__name__, horizon)
        constant = self.bonus * math.log(rounds)
        return make_projected(
            n_units, epsilon=self.epsilon, sigma=self.sigma, constant=constant, horizon=rounds, end=False
        )
