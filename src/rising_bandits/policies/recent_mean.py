"""RecentMean: the mean of an arm's last few outcomes, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rising_bandits import _checks
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.rules.window import WindowUCB, make_window_ucb
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class RecentMean(BaseArmPolicy):
    r"""The mean of the last eight outcomes of each arm; then the oracle.

    The index is :math:`\frac1h \sum X` over the last :math:`h = \min(N, \text{window})` plays. There is no bonus, so
    the policy explores only as far as noise makes it.

    It is a rule of one line, without a source and without a guarantee. It is here because it beats many policies on
    real learning curves. An arm whose first outcomes are low may never be played again.

    Parameters
    ----------
    window
        How many outcomes, at least 1.

    >>> import rising_bandits as rb
    >>> policy = RecentMean(window=2)
    >>> policy.start(rb.problems.TopK(["x"], k=1), rng=0)
    >>> for outcome in (0.1, 0.2, 0.4):
    ...     policy.observe([0], [outcome])
    >>> policy.indices().round(2).tolist()
    [0.3]
    """

    name = "recent-mean"
    title = "mean of the last eight"
    first_plays = 1

    window: int = 8

    def __post_init__(self) -> None:
        self.window = _checks.integer("window", self.window, low=1, limit=10**12)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> WindowUCB:
        return make_window_ucb(n_units, self.window, 0.0)
