"""Problems with groups and budgets: one of each group, sets within a budget, and both together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.oracles import BudgetSets, GroupChoices
from rising_bandits.problems.base import Label, Problem
from rising_bandits.problems.rewards import Reward

Named = Mapping[Any, Sequence[Label]]


def _read_groups(groups: Named | Sequence[Sequence[Label]]) -> tuple[list[list[int]], list[Label], dict[Label, int]]:
    """Arm numbers by group, a label per arm, and aliases."""
    if not isinstance(groups, Mapping | Sequence) or isinstance(groups, str | bytes) or len(groups) == 0:
        raise InputError(f"groups must be a mapping or a list with at least one group, got {groups!r}")
    parts: list[tuple[Label | None, list[Label]]] = []
    for name, members in groups.items() if isinstance(groups, Mapping) else ((None, group) for group in groups):
        found = _checks.labels("a group", members)
        if not found or len(set(found)) != len(found):
            raise InputError(f"each group must be a non-empty list of different labels, got {members!r}")
        parts.append((name, found))
    labels: list[Label] = []
    aliases: dict[Label, int] = {}
    numbers: list[list[int]] = []
    for name, members in parts:
        numbers.append(list(range(len(labels), len(labels) + len(members))))
        for member in members:
            if name is not None:
                aliases[name, member] = len(labels)
            labels.append(member if name is None else f"{name}:{member}")
    return numbers, labels, aliases


class OneOfEach(Problem):
    """Exactly one arm of each group, such as a tool for each stage of a pipeline or a model for each data set.

    The best arm of each group is the best super arm for every built-in reward, so the solver is exact for all of them.
    Arms are played in the order of the groups, so with cascading feedback a failed stage ends the round.

    Parameters
    ----------
    groups
        A mapping from the name of each group to its members, or a list of lists of labels. In a mapping, the member
        ``"bm25"`` of the group ``"search"`` has the label ``"search:bm25"``. It can also be looked up by the tuple
        ``("search", "bm25")``.
    reward
        The reward of a super arm: a `Reward`, or the name of a built-in one.

    >>> problem = OneOfEach({"search": ["bm25", "dense"], "answer": ["small", "large"]}, reward="product")
    >>> problem.labels_of(problem.oracle.solve([0.7, 0.9, 0.5, 0.4]))
    ['search:dense', 'answer:small']
    >>> problem.exact
    True
    """

    def __init__(self, groups: Named | Sequence[Sequence[Label]], *, reward: Reward | str = "sum") -> None:
        numbers, labels, aliases = _read_groups(groups)
        super().__init__(GroupChoices(numbers), reward, labels, aliases)


class Knapsack(Problem):
    """Sets of arms whose total cost stays within a budget; with groups, exactly one arm of each group.

    Parameters
    ----------
    costs
        The cost of each arm, by label: a mapping such as ``{"x": 2.5}``. With groups, the keys are tuples of a group
        and a member, or the labels ``"group:member"``.
    budget
        The largest total cost of a super arm, above 0.
    groups
        Groups as for `OneOfEach`. By default there are none.
    reward
        The reward of a super arm. The solver is exact for ``"sum"``.
    resolution
        The number of units into which the budget is cut if costs have to be rounded; see `BudgetSets`.

    Raises
    ------
    InfeasibleError
        No super arm is within the budget.

    >>> problem = Knapsack({"x": 2, "y": 1, "z": 2}, budget=3)
    >>> problem.labels_of(problem.oracle.solve([0.5, 0.3, 0.4]))
    ['x', 'y']
    >>> models = {"cats": ["small", "large"], "cars": ["small", "large"]}
    >>> minutes = {("cats", "small"): 1, ("cats", "large"): 5, ("cars", "small"): 1, ("cars", "large"): 4}
    >>> problem = Knapsack(minutes, budget=6, groups=models)
    >>> problem.labels_of(problem.oracle.solve([0.2, 0.9, 0.3, 0.8]))
    ['cats:large', 'cars:small']
    """

    def __init__(
        self,
        costs: Mapping[Any, float],
        budget: float,
        *,
        groups: Named | Sequence[Sequence[Label]] | None = None,
        reward: Reward | str = "sum",
        resolution: int = 1_000,
    ) -> None:
        if not isinstance(cast(object, costs), Mapping) or len(costs) == 0:
            raise InputError(f"costs must map the label of each arm to its cost, as in {{'x': 2.5}}, got {costs!r}")
        aliases: dict[Label, int] = {}
        if groups is None:
            numbers, labels = None, list(costs)
        else:
            numbers, labels, aliases = _read_groups(groups)
        number = {**aliases, **{label: arm for arm, label in enumerate(labels)}}
        found: dict[int, float] = {}
        for label, cost in costs.items():
            if label not in number:
                raise InputError(f"costs must name arms of the groups, got {label!r}")
            found[number[label]] = _checks.number(f"the cost of {label!r}", cost, low=0.0)
        missing = [label for arm, label in enumerate(labels) if arm not in found]
        if missing:
            raise InputError(f"costs must have a cost for every arm, but {missing[0]!r} has none")
        self.costs = {label: found[arm] for arm, label in enumerate(labels)}
        self.budget = _checks.number("budget", budget, low=0.0, open_low=True)
        oracle = BudgetSets(list(self.costs.values()), self.budget, numbers, resolution)
        super().__init__(oracle, reward, labels, aliases)
