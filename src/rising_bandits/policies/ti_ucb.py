"""TI-UCB, as we read it: arms that rise along a line until they converge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rising_bandits import _checks
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.parameters import LARGEST, checked_bonus, checked_sigma
from rising_bandits.policies.rules.increasing import Increasing, make_increasing
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class TIUCB(BaseArmPolicy):
    r"""TI-UCB in our reading: a predicted increase, and a test whether the arm has converged; then the oracle.

    TI-UCB (Xia et al., *Which LLM to Play?*, WWW 2024, arXiv 2403.07213) predicts the next outcome of an arm by a
    least-squares line in the number of its plays, and detects convergence by comparing the predictions of two
    neighbouring windows. **The constants of its bonus and of its test could not be read here.** This is our reading,
    with the deviation of the line's prediction as the bonus (`rising_bandits.policies.rules.increasing` has the
    formula):

    .. math::

        \hat a (n+1) + \hat b + \sigma \sqrt{C \log t \Big(\frac1n + \frac{3(n+1)}{n(n-1)}\Big)}.

    It assumes that the mean of an arm rises along a line in its own plays and then stays where it is. The prediction is
    for the next play only; it does not look further ahead. It takes O(``window``) memory per arm. The paper has single
    arms; the oracle is our addition.

    Parameters
    ----------
    window
        The plays in each of the two windows of the test, at least 2.
    threshold
        By how much their predictions must differ, above 0.
    sigma
        The subgaussian constant of the noise, at least 0.
    bonus
        The constant C, at least 0.

    >>> import rising_bandits as rb
    >>> policy = TIUCB(window=3, sigma=0.0)
    >>> policy.start(rb.problems.TopK(["x"], k=1), rng=0)
    >>> for outcome in (0.1, 0.2, 0.3):
    ...     policy.observe([0], [outcome])
    >>> {name: part.round(2).tolist() for name, part in policy.terms().items()}
    {'recent average': [0.2], 'predicted improvement': [0.2], 'bonus': [0.0]}
    """

    name = "ti-ucb"
    title = "TI-UCB (our reading)"

    window: int = 50
    threshold: float = 0.1
    sigma: float = 0.01
    bonus: float = 4.0

    def __post_init__(self) -> None:
        self.window = _checks.integer("window", self.window, low=2, limit=10**6)
        self.threshold = _checks.number("threshold", self.threshold, low=0.0, open_low=True, limit=LARGEST)
        self.sigma = checked_sigma(self.sigma)
        self.bonus = checked_bonus(self.bonus)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{"window": 6, "sigma": 0.1}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Increasing:
        return make_increasing(
            n_units, window=self.window, threshold=self.threshold, sigma=self.sigma, constant=self.bonus
        )
