"""Thompson sampling for rising arms: forced plays, then samples, from all plays or from the latest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.parameters import checked_deviation, checked_posterior, checked_sigma, checked_window
from rising_bandits.policies.rules.window import ALL_PLAYS, WindowTS, make_window_ts
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class RisingTS(BaseArmPolicy):
    r"""Explore-then-Thompson-sampling for rising arms (Fiandri, Metelli and Trovò, arXiv 2505.12092); then the oracle.

    Every arm first gets :math:`\Gamma` forced plays. Then the index of an arm is a sample, from its last :math:`h`
    outcomes :math:`x` (all outcomes without a ``window``):

    - ``"beta"``, for ET-Beta-TS and ET-Beta-SWTS: :math:`\mathrm{Beta}(1 + \sum x, 1 + h - \sum x)`;
    - ``"gaussian"``, for :math:`\gamma`-ET-GTS and :math:`\gamma`-ET-SWGTS:
      :math:`\mathcal N(\frac1h \sum x, \sigma^2/h)`, with :math:`\gamma = 1/\sigma^2`.

    The forced plays let an arm rise before it is judged. The paper chooses :math:`\Gamma` and the window from
    properties of the instance that nobody knows beforehand; the defaults here are ours. A window here counts plays of
    the arm, as in `SWCTS`. The paper has single arms; the oracle is our addition. Outcomes between 0 and 1 are added as
    they are.

    Parameters
    ----------
    forced
        The number Γ of forced plays of each arm. None takes a tenth of the rounds, but no more than their square root
        for an arm, so the horizon must be known.
    posterior
        ``"beta"`` or ``"gaussian"``.
    sigma
        The deviation of an outcome for the Gaussian posterior.
    window
        How many of the latest plays count. A float in (0, 1) is a share of the plays; None counts all plays.

    >>> import rising_bandits as rb
    >>> policy = RisingTS(forced=3, window=2)
    >>> policy.start(rb.problems.TopK(["x", "y"], k=1), rng=0)
    >>> chosen = []
    >>> for _ in range(6):
    ...     arms = policy.select()
    ...     policy.observe(arms, [0.5])
    ...     chosen.append(int(arms[0]))
    >>> chosen
    [0, 0, 1, 1, 0, 1]
    """

    name = "rising-ts"
    title = "TS for rising arms"

    forced: int | None = None
    posterior: str = "beta"
    sigma: float = 0.5
    window: int | float | None = None

    def __post_init__(self) -> None:
        if self.forced is not None:
            self.forced = _checks.integer("forced", self.forced, low=0, limit=10**12)
        self.posterior = checked_posterior(self.posterior)
        # Only the Gaussian posterior uses it; a task without noise tells 0.
        self.sigma = (checked_deviation if self.posterior == "gaussian" else checked_sigma)(self.sigma)
        if self.window is not None:
            self.window = checked_window(self.window)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{"forced": 6, "posterior": "gaussian", "sigma": 0.1, "window": 10}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> WindowTS:
        forced = self.forced
        if forced is None:
            if horizon is None:
                raise InputError("forced must be given when the horizon is unknown, as in RisingTS(forced=50)")
            forced = max(2, min(math.isqrt(horizon), horizon // (10 * n_units)))
        window = ALL_PLAYS if self.window is None else self.window
        return make_window_ts(n_units, window, forced, self.sigma if self.posterior == "gaussian" else 0.0)
