"""HorizonCRUCB: bounds an arm's mean outcome over the rounds left, by lines through its past outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.parameters import LARGEST
from rising_bandits.policies.rules.horizon import Outlook
from rising_bandits.policies.rules.prefix_sums import make_sums
from rising_bandits.problems.base import Problem

AHEAD = 100_000
"""The least number of rounds that are assumed to be left if there is no horizon."""
PROVED = 4.0
"""The constant C of the bonus C·log T for which the bound in the documentation is proved."""


@dataclass(kw_only=True, eq=False)
class HorizonCRUCB(BaseArmPolicy):
    r"""CRUCB that knows how many rounds are left, and uses several windows.

    Consider an arm with :math:`N` plays, and let :math:`m` be the number of rounds left. A least-squares line is fitted
    to the last :math:`w` outcomes, for :math:`w` = N, N/2, N/4, ... (``windows`` of them). If means are concave, the
    line lies above all later means. So each window gives an upper bound on the mean outcome of the next :math:`m`
    plays. The index is the smallest of these bounds:

    .. math::

        \min_w \frac1m \int_0^m \min\big(1,\; \bar x + \tfrac{\kappa\sigma}{\sqrt w}
        + s^+ (\tfrac{w+1}{2} + \Phi(x))\big)\,dx,
        \qquad s^+ = \max\big(0, s + \tfrac{\kappa\sigma}{\sqrt S}\big).

    Here :math:`\bar x` is the mean of the line, :math:`s` its slope, :math:`S = w(w^2-1)/12`, and :math:`\kappa` the
    bonus. :math:`\Phi` says how slopes fall (see `rising_bandits.policies.rules.decay`). A second bound is used if
    it is smaller: the mean of the extended line over the next :math:`m` plays, plus :math:`\kappa` standard deviations
    of that mean.

    If the reward is the largest outcome, the arm with the best recent average is always chosen (its index is raised by
    1). The policy takes O(1) time per play and window, and a fixed amount of memory per arm. The theory page on the
    horizon has the derivation, and says what is proved and what is only measured. Bounding the mean over the remaining
    rounds is the idea of CURE-UCB (*Rising Multi-Armed Bandits with Known Horizons*, arXiv 2602.10727).

    Parameters
    ----------
    sigma
        The subgaussian constant of the noise. None measures it from the differences of neighbouring outcomes.
    decay
        The power c of the assumed fall of slopes, from 0 to 10; 0 assumes concavity only.
    patience
        A number of plays, as a share of the horizon, over which slopes need only fall by the factor 2 to the power -c.
    windows
        How many windows, from 1 to 4. Each is half as long as the one before.
    bonus
        The constant C in :math:`\kappa^2 = C \log(1 + \frac{tm}{T}\frac{L}{KN})`. This bonus gets small for an arm that
        has had its share of the plays. ``"proved"`` uses :math:`\kappa^2 = 4 \log T` and the first bound only.
    ahead
        A number makes the policy ignore the horizon. The rounds left are then assumed to be as many as the rounds so
        far, and at least ``ahead``. None uses the horizon, or 100 000 as ``ahead`` if there is no horizon.

    >>> import numpy as np, rising_bandits as rb
    >>> policy = HorizonCRUCB(sigma=0.01)
    >>> policy.start(rb.problems.TopK(["x", "y"], k=1), horizon=100, rng=np.random.default_rng(0))
    >>> for outcome in (0.2, 0.21, 0.5, 0.5):
    ...     arms = policy.select()
    ...     policy.observe(arms, [outcome])
    >>> policy.indices().round(2).tolist()
    [0.67, 0.8]
    """

    name = "horizon-crucb"
    title = "HorizonCRUCB"
    colour = "#5E3C99"

    sigma: float | None = None
    decay: float = 0.5
    patience: float = 0.001
    windows: int = 3
    bonus: str | float = 2.0
    ahead: int | None = None

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{}, {"sigma": 0.05, "decay": 0.0, "bonus": "proved"}, {"ahead": 200, "windows": 4, "decay": 1.5}]

    def __post_init__(self) -> None:
        if self.sigma is not None:
            wanted = "a number of at least 0, the subgaussian constant of the noise, or None to measure it"
            self.sigma = _checks.number("sigma", self.sigma, low=0.0, limit=LARGEST, wanted=wanted)
        self.decay = _checks.number("decay", self.decay, low=0.0, high=10.0)
        self.patience = _checks.number("patience", self.patience, low=0.0, high=1.0)
        self.windows = _checks.integer("windows", self.windows, low=1, high=4)
        if self.ahead is not None:
            self.ahead = _checks.integer("ahead", self.ahead, low=1, limit=10**12)
        wanted = "'proved' or a number C of at least 0"
        if isinstance(self.bonus, str):
            if self.bonus != "proved":
                raise InputError(f"bonus must be {wanted}, got {self.bonus!r}")
        else:
            self.bonus = _checks.number("bonus", self.bonus, low=0.0, limit=LARGEST, wanted=wanted)

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Outlook:
        proved = isinstance(self.bonus, str)
        # Until it is measured, sigma is the largest that is possible in [0, 1].
        first = 0.5 if self.sigma is None else self.sigma
        return Outlook(
            plays=np.zeros(n_units, dtype=np.int64),
            sums=make_sums(n_units),
            lines=np.zeros((n_units, self.windows, 3)),
            value=np.full(n_units, np.inf),
            stamp=np.full(n_units, -1, dtype=np.int64),
            noise=np.array([first, 0.25, 1.0, 2.0]),
            last=np.zeros(n_units),
            horizon=horizon if horizon is not None and self.ahead is None else 0,
            ahead=AHEAD if self.ahead is None else self.ahead,
            measured=self.sigma is None,
            constant=PROVED if proved else float(self.bonus),
            proved=proved,
            decay=float(self.decay),
            patience=float(self.patience),
            share=problem.oracle.max_size / n_units,
            largest=problem.reward.name == "max",
        )
