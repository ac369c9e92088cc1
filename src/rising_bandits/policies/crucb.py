"""CRUCB, the paper's policy: rising indices of base arms, from which the oracle chooses a super arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.parameters import LARGEST, checked_epsilon, checked_flag, checked_sigma
from rising_bandits.policies.rules.coarse import Coarse, make_coarse
from rising_bandits.policies.rules.rising import Rising, make_rising
from rising_bandits.problems.base import Problem

BONUSES = {"paper": 30.0, "reference": 4.0}
"""The constants C of the bonus C·log t: 10·log t³ in the paper, 4·log t in the program that its authors published."""


def bonus_constant(bonus: str | float) -> float:
    """The constant C of the bonus C·log t.

    >>> bonus_constant("paper"), bonus_constant(2.5)
    (30.0, 2.5)
    """
    if isinstance(bonus, str):
        if bonus not in BONUSES:
            raise InputError(f"bonus must be 'paper', 'reference' or a number C for C·log t, got {bonus!r}")
        return BONUSES[bonus]
    return _checks.number(
        "bonus", bonus, low=0.0, limit=LARGEST, wanted="'paper', 'reference' or a number C of at least 0 for C·log t"
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RisingParameters:
    """The parameters of policies with the rising index, checked.

    Parameters
    ----------
    epsilon
        The window as a share of an arm's plays, above 0 and below 1/2.
    sigma
        The subgaussian constant of the noise, at least 0.
    bonus
        The constant C of the bonus, C·log t under the root: ``"paper"`` for 30, ``"reference"`` for 4, or a number.
    resolution
        None keeps every outcome of two windows. A number from 4 to 4096 keeps so many blocks of outcomes per window
        instead (see `rising_bandits.policies.rules.coarse`).
    upward
        True replaces a predicted improvement below 0 by 0. Rising arms have no such improvement; the paper keeps it.
    """

    epsilon: float = 0.125
    sigma: float = 0.01
    bonus: str | float = "paper"
    resolution: int | None = None
    upward: bool = False

    def __post_init__(self) -> None:
        self.epsilon = checked_epsilon(self.epsilon)
        self.sigma = checked_sigma(self.sigma)
        constant = bonus_constant(self.bonus)
        if not isinstance(self.bonus, str):
            self.bonus = constant
        if self.resolution is not None:
            wanted = "None for the exact index, or an integer from 4 to 4096, the blocks in a window"
            self.resolution = _checks.integer("resolution", self.resolution, low=4, high=4096, wanted=wanted)
        self.upward = checked_flag("upward", self.upward)

    def __repr__(self) -> str:
        given = f"epsilon={self.epsilon!r}, sigma={self.sigma!r}, bonus={self.bonus!r}"
        coarse = "" if self.resolution is None else f", resolution={self.resolution!r}"
        upward = ", upward=True" if self.upward else ""
        return f"{type(self).__name__}({given}{coarse}{upward})"

    def _make(self, n_units: int, sigma: float) -> Rising | Coarse:
        """The index rule with these parameters."""
        given: Any = {
            "epsilon": self.epsilon,
            "sigma": sigma,
            "constant": bonus_constant(self.bonus),
            "upward": self.upward,
        }
        if self.resolution is None:
            return make_rising(n_units, **given)
        return make_coarse(n_units, **given, resolution=self.resolution)


class CRUCB(RisingParameters, BaseArmPolicy):
    r"""Combinatorial Rising UCB (*Combinatorial Rising Bandits*, ICLR 2026, Algorithm 1).

    The index of an arm is an optimistic forecast of its outcome at play :math:`t`. For an arm with :math:`N` plays and
    window :math:`h = \max(1, \lceil\varepsilon N\rceil)`, at most :math:`N/2`, it is

    .. math::

        \frac1h \sum_l X(l) + \frac1h \sum_l (t-l) \frac{X(l) - X(l-h)}{h}
        + \sigma (t-N+h-1) \sqrt{\frac{10 \log t^3}{h^3}}, \quad l = N-h+1..N.

    CRUCB assumes that the mean of an arm rises and is concave in the arm's own plays, and that the noise is
    ``sigma``-subgaussian. It takes O(1) time per arm and round, and O(``epsilon`` N) memory per arm.

    With a ``resolution`` R, it takes O(R) memory per arm. The index is then the exact index of another window, which is
    longer by less than h/R and ends less than h/R plays ago.

    With ``upward``, the second term is never below 0. Without it, as in the paper, noise larger than ``sigma`` can give
    an arm such a low index that it is never played again: a negative slope is carried on to the horizon. Outside of
    comparisons with the paper, use ``upward=True``. The paper's guarantee holds with it too. A policy whose outcomes
    contradict ``sigma`` warns once with a `SigmaWarning` (see `rising_bandits.theory.noise`).

    Parameters
    ----------
    epsilon
        The window as a share of an arm's plays, above 0 and below 1/2.
    sigma
        The subgaussian constant of the noise, at least 0.
    bonus
        The constant C of the bonus, C·log t under the root: ``"paper"`` for 30, ``"reference"`` for 4, or a number.
    resolution
        None keeps every outcome of two windows. A number from 4 to 4096 keeps so many blocks of outcomes per window
        instead (see `rising_bandits.policies.rules.coarse`).
    upward
        True replaces a predicted improvement below 0 by 0. Rising arms have no such improvement; the paper keeps it.

    >>> import numpy as np, rising_bandits as rb
    >>> policy = CRUCB(sigma=0.1)
    >>> policy.start(rb.problems.TopK(["x", "y"], k=1), rng=np.random.default_rng(0))
    >>> for outcome in (0.2, 0.3, 0.5, 0.5):
    ...     arms = policy.select()
    ...     policy.observe(arms, [outcome])
    >>> policy.indices().round(2).tolist()
    [2.68, 2.58]
    """

    name = "crucb"
    title = "CRUCB"
    colour = "#D55E00"

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{}, {"resolution": 8}, {"upward": True, "sigma": 0.1}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Rising | Coarse:
        return self._make(n_units, self.sigma)
