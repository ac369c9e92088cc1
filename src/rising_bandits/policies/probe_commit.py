"""Probe and commit, as we read it: probes of every arm, then one super arm by what the probes promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rising_bandits import _checks
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.parameters import known_horizon
from rising_bandits.policies.rules.projected import Projected, make_projected
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class ProbeAndCommit(BaseArmPolicy):
    r"""Every arm is probed equally often; then the super arm with the best outlook is played for ever.

    It stands for the probe-and-commit algorithm of arXiv 2609.17595. **The paper could not be read here; this is our
    reading of its name.** Each of :math:`K` base arms gets :math:`p` plays. A line through the two last windows of
    :math:`h = \max(1, \lceil p/4 \rceil)` probes gives the mean outcome of the :math:`m = T - pK` rounds left:

    .. math::

        \frac1h \sum_l X(l) + \max\Big(0, \frac1h \sum_l (n-l) \frac{X(l) - X(l-h)}{h}\Big),
        \qquad n = p + \frac{m+1}{2}, \quad l = p-h+1, \dots, p.

    The oracle's super arm for these values is played to the end. There is no bonus. If the line is wrong, for instance
    because arms do not rise on for ever, nothing corrects it. While it probes, super arms with many arms that still
    need probes are played. Probing ends after :math:`pK` rounds at the latest.

    It assumes means that rise along a line, little noise, and a known horizon.

    Parameters
    ----------
    probes
        The number p of plays of each arm, at least 2. None takes a tenth of the rounds for probes: :math:`T/(10K)`, and
        at least 2.

    >>> import rising_bandits as rb
    >>> policy = ProbeAndCommit(probes=2)
    >>> policy.start(rb.problems.TopK(["x", "y"], k=1), horizon=20, rng=0)
    >>> for arm, outcome in ((0, 0.5), (0, 0.5), (1, 0.1), (1, 0.2)):
    ...     policy.observe([arm], [outcome])
    >>> policy.indices().round(2).tolist()  # 0.2, and 8.5 steps of 0.1
    [0.5, 1.05]
    """

    name = "probe-and-commit"
    title = "probe and commit (our reading)"

    probes: int | None = None

    def __post_init__(self) -> None:
        if self.probes is not None:
            self.probes = _checks.integer("probes", self.probes, low=2, limit=10**12)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{"probes": 6}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Projected:
        rounds = known_horizon(type(self).__name__, horizon)
        probes = max(2, rounds // (10 * n_units)) if self.probes is None else self.probes
        return make_projected(n_units, epsilon=0.25, sigma=0.0, constant=0.0, horizon=rounds, end=False, forced=probes)
