"""HorizonCRUCB: what an arm would bring on average over the rounds left, bounded by lines through its past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.rules.horizon import Outlook
from rising_bandits.policies.rules.prefix_sums import make_sums
from rising_bandits.problems.base import Problem

AHEAD = 100_000
"""With no horizon given, at least so many rounds are taken to be still to come."""
PROVED = 4.0
"""C in C·log T with which the bound in the documentation is proved."""


@dataclass(kw_only=True, eq=False)
class HorizonCRUCB(BaseArmPolicy):
    r"""CRUCB that knows how many rounds are left, and looks at several windows at once.

    For an arm with :math:`N` plays and :math:`m` rounds left, take the least-squares line through its last
    :math:`w` outcomes, for :math:`w` = N, N/2, N/4, ... (``windows`` of them). Where means are concave the
    line lies above all that is to come. With :math:`\bar x` its mean, :math:`s` its slope,
    :math:`S = w(w^2-1)/12`, :math:`\kappa` the bonus, and slopes that go on falling as
    :math:`\Phi` says (see `rising_bandits.policies.rules.decay`), the window bounds the mean outcome over the
    :math:`m` plays to come, and the index is the smallest of these bounds:

    .. math::

        \min_w \frac1m \int_0^m \min\big(1,\; \bar x + \tfrac{\kappa\sigma}{\sqrt w}
        + s^+ (\tfrac{w+1}{2} + \Phi(x))\big)\,dx,
        \qquad s^+ = \max\big(0, s + \tfrac{\kappa\sigma}{\sqrt S}\big),

    or the mean of the line plus :math:`\kappa` deviations of that mean, where that is smaller.

    - ``sigma``: the noise is ``sigma``-subgaussian; None measures it from steps between neighbouring outcomes.
    - ``decay``: the power c with which slopes fall at least; 0 assumes concavity and no more.
    - ``patience``: over so many plays slopes need only fall slowly (by 2 to the power -c), as a share of the horizon.
    - ``windows``: how many windows, each half as long as the one before.
    - ``bonus``: C in :math:`\kappa^2 = C \log(1 + \frac{tm}{T}\frac{L}{KN})`, which lets an arm rest as its
      share of the plays is reached; or ``"proved"`` for :math:`\kappa^2 = 4 \log T`
      and the first bound only.
    - ``ahead``: in place of a horizon, as many rounds as have been are taken to be still to come, and at
      least so many; 100 000 where there is no horizon, and a number makes it do without one.

    For a reward that is the largest outcome, the arm that is best today is always kept (its index is
    raised by 1). Costs O(1) per play and windows, and a fixed memory per arm. The theory page on the horizon has the
    derivation, what is proved of it and what is only measured. The remaining horizon as the thing to
    bound is the idea of CURE-UCB (*Rising Multi-Armed Bandits with Known Horizons*, arXiv 2602.10727).

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
            self.sigma = _checks.number("sigma", self.sigma, low=0.0, wanted=wanted)
        self.decay = _checks.number("decay", self.decay, low=0.0, high=10.0)
        self.patience = _checks.number("patience", self.patience, low=0.0, high=1.0)
        self.windows = _checks.integer("windows", self.windows, low=1, high=4)
        if self.ahead is not None:
            self.ahead = _checks.integer("ahead", self.ahead, low=1)
        wanted = "'proved' or a number C of at least 0"
        if isinstance(self.bonus, str):
            if self.bonus != "proved":
                raise InputError(f"bonus must be {wanted}, got {self.bonus!r}")
        else:
            self.bonus = _checks.number("bonus", self.bonus, low=0.0, wanted=wanted)

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Outlook:
        proved = isinstance(self.bonus, str)
        # Before there is anything to measure the noise is taken to be the largest that [0, 1] allows.
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
