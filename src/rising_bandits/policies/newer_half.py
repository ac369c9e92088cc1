"""NewerHalf: the mean of the newer half of an arm's outcomes, with a small bonus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rising_bandits import _checks
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.parameters import LARGEST, checked_bonus
from rising_bandits.policies.rules.newer_half import NewerHalfUCB, make_newer_half
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class NewerHalf(BaseArmPolicy):
    r"""The mean of the newer half of each arm's outcomes and a bonus for its noise; then the oracle.

    The index of an arm with :math:`N` plays is, with :math:`w = \max(1, \lfloor N/2 \rfloor)`,

    .. math::

        \frac1w \sum_{l=N-w+1}^{N} X(l) + \sigma \sqrt{\frac{C \log t}{w}}.

    It is a rule of one line, without a source and without a guarantee. It is here because it beats many policies on
    real learning curves. It does not look ahead, so it leaves arms that rise late. It takes O(N) memory per arm.

    Parameters
    ----------
    sigma
        The deviation of the noise. None measures it from the differences of neighbouring outcomes.
    bonus
        The constant C, at least 0.

    >>> import rising_bandits as rb
    >>> policy = NewerHalf(sigma=0.1)
    >>> policy.start(rb.problems.TopK(["x"], k=1), rng=0)
    >>> for outcome in (0.1, 0.2, 0.4, 0.6):
    ...     policy.observe([0], [outcome])
    >>> {name: part.round(2).tolist() for name, part in policy.terms().items()}
    {'recent average': [0.5], 'bonus': [0.13]}
    """

    name = "newer-half"
    title = "mean of the newer half"
    first_plays = 1

    sigma: float | None = None
    bonus: float = 2.0

    def __post_init__(self) -> None:
        if self.sigma is not None:
            wanted = "a number of at least 0, the deviation of the noise, or None to measure it"
            self.sigma = _checks.number("sigma", self.sigma, low=0.0, limit=LARGEST, wanted=wanted)
        self.bonus = checked_bonus(self.bonus)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> NewerHalfUCB:
        return make_newer_half(n_units, sigma=self.sigma, constant=self.bonus)
