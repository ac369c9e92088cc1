"""R-UCBE: upper confidence bounds on what rising arms give at the end of a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.parameters import LARGEST, checked_epsilon, checked_sigma, known_horizon
from rising_bandits.policies.rules.projected import Projected, make_projected
from rising_bandits.policies.rules.terms import AVERAGE, IMPROVEMENT
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class RUCBE(BaseArmPolicy):
    r"""R-UCBE for best (super) arm identification under a budget (Mussi et al., ICML 2024, arXiv 2302.07510).

    The goal is not a small regret. After :math:`T` rounds, `recommend` names the super arm that would be
    best if its arms had been played :math:`T` times. The index is an optimistic estimate of an arm's mean at play
    :math:`T`. For an arm with :math:`N` plays and window :math:`h = \max(1, \lceil\varepsilon N\rceil)`, at most
    :math:`N/2`, with :math:`l = N-h+1, \dots, N`,

    .. math::

        \frac1h \sum_l X(l) + \max\Big(0, \frac1h \sum_l (T-l) \frac{X(l) - X(l-h)}{h}\Big)
        + \sigma (T-N+h-1) \sqrt{\frac{a}{h^3}}.

    It assumes means that rise and are concave in an arm's own plays, noise that is ``sigma``-subgaussian, and a known
    budget. The paper has single arms and keeps an improvement below 0. Here the oracle chooses the super arm from the
    indices, and an improvement below 0 is replaced by 0. `recommend` leaves out the bonus; with it, arms that were
    played little were recommended too often. The right :math:`a` depends on the
    instance; the default is ours.

    Parameters
    ----------
    epsilon
        The window as a share of an arm's plays, above 0 and below 1/2.
    sigma
        The subgaussian constant of the noise, at least 0.
    exploration
        The number a, at least 0.

    >>> import rising_bandits as rb
    >>> policy = RUCBE(sigma=0.0)
    >>> policy.start(rb.problems.TopK(["x", "y"], k=1), horizon=10, rng=0)
    >>> for outcome in (0.5, 0.5, 0.1, 0.2):
    ...     policy.observe(policy.select(), [outcome])
    >>> policy.indices().round(2).tolist()  # 0.2, and 8 steps of 0.1
    [0.5, 1.0]
    >>> policy.recommend().tolist()
    [1]
    """

    name = "r-ucbe"
    title = "R-UCBE"

    epsilon: float = 0.25
    sigma: float = 0.01
    exploration: float = 10.0

    def __post_init__(self) -> None:
        self.epsilon = checked_epsilon(self.epsilon)
        self.sigma = checked_sigma(self.sigma)
        self.exploration = _checks.number("exploration", self.exploration, low=0.0, limit=LARGEST)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Projected:
        budget = known_horizon(type(self).__name__, horizon)
        return make_projected(
            n_units, epsilon=self.epsilon, sigma=self.sigma, constant=self.exploration, horizon=budget, end=True
        )

    def _worth(self) -> Floats:
        parts = self.terms()
        return np.asarray(parts[AVERAGE] + parts[IMPROVEMENT]) if parts else self.indices()
