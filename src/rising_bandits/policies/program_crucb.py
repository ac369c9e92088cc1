"""CRUCB as the authors' AntMaze program runs it."""

from __future__ import annotations

from dataclasses import dataclass

from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.parameters import checked_bonus, checked_sigma
from rising_bandits.policies.rules.program import Program, make_program
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class ProgramCRUCB(BaseArmPolicy):
    r"""CRUCB as the published AntMaze program of the paper's authors computes it.

    It is the rule behind the AntMaze curves of *Combinatorial Rising Bandits* (ICLR 2026). The printed formula is
    `CRUCB`. The program differs from it in four points:

    - Of the slope term it keeps only the last summand, and only if it is positive.
    - Its window is a quarter of the plays, rounded down.
    - Arms with fewer than four plays are preferred to all others.
    - Its bonus is that of :math:`\delta = t^{-4}`, which is 40 log t.

    `rising_bandits.policies.rules.program` has the formula. One thing differs from the program: every arm that is in
    some super arm is played twice first, as with all policies of this library.

    Parameters
    ----------
    sigma
        The subgaussian constant of the noise; 0.0001 in the program.
    bonus
        The constant C of the bonus C·log t; 40 in the program.

    >>> import rising_bandits as rb
    >>> policy = ProgramCRUCB(sigma=0.0)
    >>> policy.start(rb.problems.TopK(["x"], k=1), rng=0)
    >>> for outcome in (0.1, 0.1, 0.1, 0.2):
    ...     policy.observe([0], [outcome])
    >>> policy.indices().round(3).tolist()  # 0.2 + (5 - 4 + 1) * (0.2 - 0.1)
    [0.4]
    """

    name = "program-crucb"
    title = "CRUCB (authors' program)"
    colour = "#8C510A"

    sigma: float = 1e-4
    bonus: float = 40.0

    def __post_init__(self) -> None:
        self.sigma = checked_sigma(self.sigma)
        self.bonus = checked_bonus(self.bonus)

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Program:
        return make_program(n_units, sigma=self.sigma, constant=self.bonus)
