"""ESCB-2: one confidence ellipsoid for a whole super arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rising_bandits import _checks
from rising_bandits.errors import TooManySuperArmsError
from rising_bandits.oracles.explicit import packed
from rising_bandits.policies.engines.listed import Listed
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.parameters import LARGEST
from rising_bandits.policies.rules.window import ALL_PLAYS, WindowUCB, make_window_ucb
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class ESCB(BaseArmPolicy):
    r"""ESCB-2 for flat arms and sums (Combes, Talebi, Proutière and Lelarge, NeurIPS 2015).

    The value of a super arm :math:`S` at round :math:`t` is

    .. math::

        \sum_{i \in S} \hat\mu_i + c \sqrt{\frac{f(t)}{2} \sum_{i \in S} \frac1{N_i}},
        \qquad f(t) = \log t + 4 L \log\log t,

    with the mean :math:`\hat\mu_i` of all outcomes of base arm :math:`i`, its plays :math:`N_i`, and super arms of at
    most :math:`L` base arms. The bonus belongs to the super arm as a whole, so it is smaller than the sum of its arms'
    bonuses.

    The value is not a sum over arms, so an oracle for sums cannot maximise it; to do so is NP-hard in general. This
    class lists all super arms and compares them, which is exact. It refuses problems with too many super arms to list,
    and a round takes time in proportion to their number. It assumes flat arms, independent outcomes and a reward that
    is a sum; with another reward it still compares sums. `indices` returns the means.

    Parameters
    ----------
    bonus
        The factor c, at least 0; 1 in the paper.

    >>> import rising_bandits as rb
    >>> policy = ESCB()
    >>> policy.start(rb.problems.Explicit([["x"], ["y", "z"]]), rng=0)
    >>> for _ in range(200):
    ...     arms = policy.select()
    ...     policy.observe(arms, [0.9 if arm == 0 else 0.1 for arm in arms])
    >>> policy.plays.tolist()
    [178, 22, 22]
    """

    name = "escb"
    title = "ESCB-2"
    first_plays = 1

    bonus: float = 1.0

    def __post_init__(self) -> None:
        self.bonus = _checks.number("bonus", self.bonus, low=0.0, limit=LARGEST)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> WindowUCB:
        return make_window_ucb(n_units, ALL_PLAYS, 0.0)

    def _begin(self, problem: Problem, horizon: int | None) -> Any:
        engine = super()._begin(problem, horizon)
        oracle = problem.oracle
        try:
            listed = packed(oracle, oracle.super_arms())
        except TooManySuperArmsError as error:
            raise TooManySuperArmsError(f"ESCB compares all super arms, but {error}; use CUCB instead") from None
        return Listed(
            engine.rule,
            listed,
            engine.weights,
            engine.blocked,
            engine.masked,
            engine.luck,
            engine.cover,
            largest=oracle.max_size,
            bonus=self.bonus,
        )
