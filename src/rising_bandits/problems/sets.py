"""Problems on sets: sets of k arms, explicit lists and linear constraints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits.errors import InputError
from rising_bandits.oracles import ExplicitSets, KSubsets, LinearSets
from rising_bandits.problems.base import Label, Problem, label_list
from rising_bandits.problems.rewards import Reward


class TopK(Problem):
    """Sets of exactly k arms; the reward is the sum of their outcomes.

    Parameters
    ----------
    arms
        The labels of the base arms, or how many there are.
    k
        Number of arms in a super arm.

    >>> problem = TopK(["x", "y", "z"], k=2)
    >>> problem.labels_of(problem.oracle.solve([0.1, 0.9, 0.5]))
    ['y', 'z']
    """

    _reward = "sum"

    def __init__(self, arms: int | Sequence[Label], k: int) -> None:
        labels = label_list("arms", arms)
        super().__init__(KSubsets(len(labels), k), self._reward, labels)


class KMax(TopK):
    """Sets of exactly k arms; the reward is the largest of their outcomes.

    Parameters
    ----------
    arms
        The labels of the base arms, or how many there are.
    k
        Number of arms in a super arm.

    >>> KMax(3, k=2).reward([0.2, 0.7])
    0.7
    """

    _reward = "max"


class Explicit(Problem):
    """A list of super arms.

    Parameters
    ----------
    super_arms
        The super arms, each a list of arms. Arms are given by their labels.
    reward
        The reward of a super arm: a `Reward`, or the name of a built-in one.
    labels
        The labels of the base arms, in the order of arm numbers. By default arms are numbered in order of appearance.
        If the arms in ``super_arms`` are exactly the numbers 0 to K-1, each arm keeps its number.

    >>> Explicit([[0], [1, 2]]).n_arms
    3
    >>> Explicit([["walk"], ["bus", "tram"]]).labels
    ('walk', 'bus', 'tram')
    """

    def __init__(
        self,
        super_arms: Sequence[Sequence[Label]],
        *,
        reward: Reward | str = "sum",
        labels: Sequence[Label] | None = None,
    ) -> None:
        listed = _checks.listed(super_arms)
        if not listed:
            raise InputError(f"super_arms must be a list of at least one list of arms, got {super_arms!r:.80}")
        families = [_checks.listed(arms) for arms in listed]
        for arms, found in zip(listed, families, strict=True):
            if not found:
                raise InputError(f"each super arm must be a non-empty list of arms, got {arms!r:.80}")
        whole = [_checks.labels("super_arms", found or ()) for found in families]
        used = list(dict.fromkeys(arm for arms in whole for arm in arms))
        if labels is None:
            numbered = all(isinstance(arm, int | np.integer) and not isinstance(arm, bool) for arm in used)
            labels = list(range(len(used))) if numbered and set(used) == set(range(len(used))) else used
        number = {label: arm for arm, label in enumerate(_checks.labels("labels", labels))}
        for arm in used:
            if arm not in number:
                raise InputError(f"every arm of super_arms must be one of labels, got {arm!r}")
        sets = [[number[arm] for arm in arms] for arms in whole]
        super().__init__(ExplicitSets(sets, len(labels)), reward, labels)


class LinearConstraints(Problem):
    """Non-empty sets whose 0/1 vectors x satisfy ``lower <= matrix @ x <= upper``.

    Small families are listed, large ones are solved by HiGHS; see `LinearSets`.

    Parameters
    ----------
    matrix
        The coefficients, with one row per constraint and one column per base arm.
    lower, upper
        The bounds, one per row. None means no bound.
    labels
        One label per base arm. By default the arm numbers.
    reward
        The reward of a set: a `Reward`, or the name of a built-in one.

    Raises
    ------
    InfeasibleError
        No non-empty set satisfies the constraints.

    >>> problem = LinearConstraints([[2, 1, 2]], upper=[3], labels=["x", "y", "z"])
    >>> problem.labels_of(problem.oracle.solve([0.5, 0.3, 0.4]))
    ['x', 'y']
    """

    def __init__(
        self,
        matrix: npt.ArrayLike,
        lower: Sequence[float | None] | Floats | None = None,
        upper: Sequence[float | None] | Floats | None = None,
        *,
        labels: Sequence[Label] | None = None,
        reward: Reward | str = "sum",
    ) -> None:
        super().__init__(LinearSets(matrix, lower, upper), reward, labels)
