"""The result of a run, and the rounds that it records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError
from rising_bandits.problems.base import Label
from rising_bandits.problems.tasks import Task
from rising_bandits.theory.optimum import OptimalConstant


def checkpoints(horizon: int, extra: Sequence[int] = (), count: int = 200) -> Ints:
    """Choose the rounds to record.

    Parameters
    ----------
    horizon
        The last round. It is always recorded.
    extra
        Further rounds to record.
    count
        About this many rounds are spread evenly, and as many again evenly on a logarithmic axis.

    Returns
    -------
    numpy.ndarray
        The rounds, ascending.

    >>> checkpoints(10, count=4).tolist()
    [1, 2, 5, 8, 10]
    """
    horizon = _checks.integer("horizon", horizon, low=1, limit=10**12)
    count = _checks.integer("count", count, low=1, limit=10**7)
    spread = np.geomspace(1, horizon, count).round().astype(np.int64)
    even = np.linspace(horizon / count, horizon, count).round().astype(np.int64)
    found = _checks.listed(extra)
    if found is None:
        raise InputError(f"rounds must be a list of rounds to record, as in [100, 1000], got {extra!r:.80}")
    further = np.array([_checks.integer("rounds", value, low=1, high=horizon) for value in found], dtype=np.int64)
    return np.unique(np.concatenate([spread, even.clip(1), further, [horizon]]))


@dataclass(frozen=True)
class Run:
    """The result of a run: regret, rewards and plays. `simulate` and `Simulation.result` make it.

    The optimal constant super arm for the horizon is the comparator of the regret.
    """

    task: Task = field(repr=False)
    """The task."""
    policy: str
    """The policy with its parameters."""
    horizon: int
    """The number of rounds."""
    seed: int
    """The seed."""
    rounds: Ints = field(repr=False)
    """The recorded rounds, ascending; the last one is the horizon. The arrays below have one number for each."""
    reward: Floats = field(repr=False)
    """Cumulative expected reward.

    NaN if arms fail by chance under cascading feedback and `rising_bandits.theory.cascade` has no formula."""
    regret: Floats = field(repr=False)
    """Cumulative expected regret: the comparator's expected reward minus ``reward``. It may be negative.

    NaN if the comparator is not known: if ``reward`` is NaN, for cascading feedback with other noise than arms that
    fail by chance, and if finding it would take a list of too many super arms."""
    realised_reward: Floats = field(repr=False)
    """Cumulative reward of the outcomes that were drawn."""
    realised_regret: Floats = field(repr=False)
    """The comparator's expected reward minus ``realised_reward``."""
    plays: Ints = field(repr=False)
    """Plays of each base arm over the whole run."""
    plays_at: Ints = field(repr=False)
    """Plays of each base arm up to each of ``rounds``, one row per round.

    It has no columns if there would be more than 20 million numbers."""
    super_arm_plays: dict[tuple[int, ...], int] = field(repr=False)
    """Plays of each super arm that was played, by its arm numbers in ascending order."""
    optimum: OptimalConstant | None = field(repr=False)
    """The comparator; None if it is not known."""
    seconds: float = 0.0
    """The time spent in the loop, in seconds."""

    @property
    def plays_by_label(self) -> dict[Label, int]:
        """Plays of each base arm, by its label."""
        return {label: int(count) for label, count in zip(self.task.problem.labels, self.plays, strict=True)}

    @property
    def super_arm_plays_by_label(self) -> dict[tuple[Label, ...], int]:
        """Plays of each super arm, by the labels of its arms in the order of use; most played first."""
        problem = self.task.problem
        ordered = sorted(self.super_arm_plays.items(), key=lambda item: -item[1])
        return {tuple(problem.labels_of(problem.ordered(arms))): count for arms, count in ordered}

    @property
    def optimal_plays(self) -> int:
        """How often the comparator was played; 0 if it is not known."""
        return 0 if self.optimum is None else self.super_arm_plays.get(tuple(self.optimum.super_arm.tolist()), 0)
