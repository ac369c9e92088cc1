"""R-SR: successive rejects for rising arms, to find the best super arm under a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.policies.levels import SuperArmPolicy
from rising_bandits.policies.parameters import checked_share, known_horizon
from rising_bandits.policies.rules.elimination import Elimination, make_elimination, standing
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class RSR(SuperArmPolicy):
    r"""R-SR for best super arm identification under a budget (Mussi et al., ICML 2024, arXiv 2302.07510).

    With :math:`n` super arms and a budget of :math:`T` rounds there are :math:`n - 1` phases. Phase :math:`j` brings
    every survivor to :math:`n_j` plays, and then the survivor with the lowest estimate is rejected:

    .. math::

        n_j = \Big\lceil \frac{1}{\overline{\log}\, n} \, \frac{T - n}{n + 1 - j} \Big\rceil,
        \qquad \overline{\log}\, n = \frac12 + \sum_{i=2}^{n} \frac1i.

    The estimate is the mean of the last :math:`h = \max(1, \lfloor\varepsilon N\rfloor)` rewards, so that it is not
    held down by early ones. It does not look ahead. `recommend` names the survivor with the best estimate.

    It assumes that the budget is large enough for the order of super arms to show. The paper has single arms. Here
    the units are listed super arms with rewards scaled to [0, 1]; what they share is not used.

    Parameters
    ----------
    window
        The number :math:`\varepsilon`: the share of the latest plays in an estimate, in (0, 1).

    >>> import rising_bandits as rb
    >>> policy = RSR()
    >>> policy.start(rb.problems.TopK(3, k=1), horizon=30, rng=0)
    >>> for _ in range(30):
    ...     arms = policy.select()
    ...     policy.observe(arms, [0.2 * arms[0]])
    >>> policy.plays.tolist(), policy.recommend().tolist()
    ([7, 11, 12], [2])
    """

    name = "r-sr"
    title = "R-SR"
    first_plays = 1

    window: float = 0.25

    def __post_init__(self) -> None:
        self.window = checked_share(self.window)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Elimination:
        budget = known_horizon(type(self).__name__, horizon)
        scale = 0.5 + sum(1.0 / i for i in range(2, n_units + 1))
        phases = np.arange(1, n_units)
        quota = np.maximum(1, np.ceil((budget - n_units) / (scale * (n_units + 1 - phases))))
        return make_elimination(n_units, quota, n_units - phases, self.window)

    def _worth(self) -> Floats:
        return standing(self._rule)
