"""The class `Task`: a problem with curves and noise, so that it can be simulated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits.curves import Curve, Gaussian, Noise
from rising_bandits.curves.curve import check_curves
from rising_bandits.curves.noise import check_noise
from rising_bandits.errors import InputError
from rising_bandits.problems.base import Problem


@dataclass(frozen=True)
class Task:
    """A problem that can be simulated: it has a curve for every base arm, a noise model and a horizon.

    Parameters
    ----------
    name
        The name of the task.
    problem
        The problem.
    curves
        One curve per base arm, in the order of arm numbers.
    horizon
        The number of rounds of a simulation, T.
    noise
        The noise model of the outcomes.
    description
        One line for the user.
    cascade
        True for cascading feedback: a round ends at the first outcome of 0, and the arms after it are not played.
    recorded
        True if the curves were measured, so that a simulation replays them.

    >>> from rising_bandits.curves import Flat, Linear
    >>> from rising_bandits.problems import TopK
    >>> task = Task("mine", TopK(2, 1), (Flat(0.4), Linear(duration=10)), horizon=100)
    >>> task.means(5).tolist()
    [0.4, 0.5]
    """

    name: str
    problem: Problem
    curves: tuple[Curve, ...]
    horizon: int
    noise: Noise = field(default_factory=lambda: Gaussian(0.01))
    description: str = ""
    cascade: bool = False
    recorded: bool = False

    def __post_init__(self) -> None:
        if not isinstance(cast(object, self.name), str) or not self.name:
            raise InputError(f"name must be a text such as 'commute', got {self.name!r}")
        if not isinstance(cast(object, self.description), str):
            raise InputError(f"description must be a text, got {self.description!r:.80}")
        _checks.boolean("cascade", self.cascade)
        _checks.boolean("recorded", self.recorded)
        if not isinstance(cast(object, self.problem), Problem):
            raise InputError(f"problem must be a Problem such as ShortestPath(...), got {self.problem!r}")
        object.__setattr__(self, "curves", check_curves("curves", self.curves))
        _checks.integer("horizon", self.horizon, low=1, limit=10**12)
        if len(self.curves) != self.problem.n_arms:
            raise InputError(f"curves must hold one per base arm, {self.problem.n_arms}, got {len(self.curves)}")
        check_noise(self.noise, self.problem.n_arms)

    @property
    def sigma(self) -> float:
        """The subgaussian constant of the noise, which the paper's policies know."""
        return self.noise.sigma

    def means(self, n: npt.ArrayLike) -> Floats:
        """The mean of every arm after a number of plays.

        Parameters
        ----------
        n
            How many plays an arm had before: one number for all arms, or one number per arm.
        """
        given = _checks.array(n)
        if given.dtype.kind not in "iu" or given.shape not in ((), (self.problem.n_arms,)) or given.min() < 0:
            raise InputError(
                f"n must be a whole number of plays of at least 0, or {self.problem.n_arms} of them, got {n!r}"
            )
        plays = np.broadcast_to(given.astype(np.int64), (self.problem.n_arms,))
        return np.array([float(curve(count)) for curve, count in zip(self.curves, plays, strict=True)])

    @property
    def late(self) -> list[int]:
        """The arms that rise (late bloomers). The other arms are flat (early peakers)."""
        return [arm for arm, curve in enumerate(self.curves) if curve.settled != 0]


def check_task(task: object) -> None:
    """Check that an argument is a task.

    Parameters
    ----------
    task
        What was given as the task.

    Raises
    ------
    InputError
        It is not a `Task`.
    """
    if not isinstance(task, Task):
        raise InputError(f"task must be a Task, as in rb.tasks.get('path-easy'), got {task!r}")
