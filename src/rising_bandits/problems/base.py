"""The class `Problem`: base arms with labels, an oracle that knows the super arms, and a reward."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rising_bandits import _checks
from rising_bandits._checks import Ints
from rising_bandits.errors import InputError, RisingBanditsError
from rising_bandits.oracles import SuperArmOracle, from_spec
from rising_bandits.oracles.answers import check_oracle, in_order
from rising_bandits.oracles.base import MOST_ARMS
from rising_bandits.problems.rewards import Reward, as_reward

Label = Hashable


class Problem:
    """What a user optimises: an oracle, a reward, and a label for every base arm.

    Parameters
    ----------
    oracle
        The oracle that knows the super arms.
    reward
        How the outcomes of a super arm make its reward: a `Reward`, or the name of a built-in one.
    labels
        One label per base arm, hashable and all different. By default the arm numbers.
    aliases
        Further names of arms for `index`, each with its arm number.
    groups
        Names of several arms at once for `named` and `mask`, each with its arm numbers, such as all edges of a node.

    Raises
    ------
    InputError
        An argument is not valid, for instance if two labels are equal.

    >>> from rising_bandits.oracles import KSubsets
    >>> problem = Problem(KSubsets(3, 2), labels=["ann", "bob", "cy"])
    >>> problem.labels_of(problem.oracle.solve([0.1, 0.9, 0.5]))
    ['bob', 'cy']
    >>> problem.index("bob")
    1
    """

    def __init__(
        self,
        oracle: SuperArmOracle,
        reward: Reward | str = "sum",
        labels: Sequence[Label] | None = None,
        aliases: Mapping[Label, int] | None = None,
        groups: Mapping[Label, Iterable[int]] | None = None,
    ) -> None:
        if not isinstance(cast(object, oracle), SuperArmOracle):
            raise InputError(f"oracle must be an oracle such as KSubsets(3, 2), got {oracle!r}")
        check_oracle(oracle)
        self.oracle = oracle
        self.reward = as_reward(reward)
        self.labels: tuple[Label, ...] = (
            tuple(range(oracle.n_arms)) if labels is None else tuple(_checks.labels("labels", labels))
        )
        if len(self.labels) != oracle.n_arms:
            raise InputError(f"labels must name each of the {oracle.n_arms} base arms, got {len(self.labels)} labels")
        for argument, given in (("aliases", aliases), ("groups", groups)):
            if given is not None and not isinstance(cast(object, given), Mapping):
                raise InputError(f"{argument} must map names to arms, got {given!r:.80}")
        self._number: dict[Label, int] = {
            alias: _checks.integer(f"the arm of alias {alias!r}", arm, low=0, high=oracle.n_arms - 1)
            for alias, arm in (aliases or {}).items()
        }
        self._number.update({label: arm for arm, label in enumerate(self.labels)})
        self._groups: dict[Label, tuple[int, ...]] = {
            name: tuple(
                _checks.integer(f"an arm of {name!r}", arm, low=0, high=oracle.n_arms - 1)
                for arm in _checks.labels(f"the arms of {name!r}", arms)
            )
            for name, arms in (groups or {}).items()
            if name not in self._number
        }
        if len(set(self.labels)) != len(self.labels):
            seen: set[Label] = set()
            twice = next(label for label in self.labels if label in seen or seen.add(label))  # type: ignore[func-returns-value]
            raise InputError(f"labels must be different, got {twice!r} twice; rename one of the two")

    @property
    def n_arms(self) -> int:
        """Number of base arms, K."""
        return self.oracle.n_arms

    @property
    def exact(self) -> bool:
        """Whether the oracle always finds the super arm of largest reward."""
        return self.oracle.exact and self.reward.function is None and self.reward.name in self.oracle.exact_for

    @property
    def scale(self) -> float:
        """The largest reward that is possible with outcomes in [0, 1]."""
        return self.reward.largest(self.oracle.max_size)

    def index(self, label: Label) -> int:
        """The number of an arm.

        Parameters
        ----------
        label
            The label or an alias of the arm.

        Raises
        ------
        InputError
            There is no such label.
        """
        try:
            return self._number[label]
        except (KeyError, TypeError):
            known = ", ".join(repr(name) for name in self.labels[:6]) + (", ..." if self.n_arms > 6 else "")
            raise InputError(f"label must be one of the problem's arms ({known}), got {label!r}") from None

    def named(self, name: Label) -> list[int]:
        """The numbers of the arms that a name stands for.

        Parameters
        ----------
        name
            The label or an alias of an arm; or the name of a worker, a job or a node, which stands for all of its arms.
            Where a name has two meanings, ``("worker", name)``, ``("job", name)`` and ``("node", name)`` have one.

        Raises
        ------
        InputError
            There is no such name.

        >>> from rising_bandits.problems import Matching
        >>> problem = Matching(["ann", "bob"], ["cats", "cars", "maps"])
        >>> problem.labels_of(problem.named("ann"))
        ['ann->cats', 'ann->cars', 'ann->maps']
        """
        try:
            if name in self._groups:
                return list(self._groups[name])
        except TypeError:
            pass
        return [self.index(name)]

    def arms_of(self, labels: Iterable[Label]) -> Ints:
        """The numbers of several arms, in the order given.

        Parameters
        ----------
        labels
            Labels or aliases.
        """
        return np.array([self.index(label) for label in _checks.labels("labels", labels)], dtype=np.int64)

    def labels_of(self, arms: Iterable[int]) -> list[Label]:
        """The labels of several arms, in the order given.

        Parameters
        ----------
        arms
            Arm numbers.
        """
        found = _checks.listed(arms)
        if found is None:
            raise InputError(f"arms must be a list of numbers from 0 to {self.n_arms - 1}, got {arms!r:.80}")
        wanted = f"numbers from 0 to {self.n_arms - 1}"
        return [self.labels[_checks.integer("arms", arm, low=0, high=self.n_arms - 1, wanted=wanted)] for arm in found]

    @property
    def choices(self) -> tuple[str, ...]:
        """The names of the families of which a decision may choose one; empty if there is only one family."""
        return self.oracle.choices

    def among(self, choice: str | tuple[Label, Label]) -> Problem:
        """The same base arms with one family of super arms, such as the paths between one pair of nodes.

        Parameters
        ----------
        choice
            One of ``choices``, such as ``"a->d"``, or the pair ``("a", "d")``.

        Raises
        ------
        InputError
            There is no such family.
        """
        part = self.oracle.among(choice_name(choice))
        return Problem(part, self.reward, self.labels, self._number)

    def mask(self, labels: Iterable[Label]) -> npt.NDArray[np.bool_]:
        """A mask for `SuperArmOracle.solve` and `Policy.select` that forbids some arms.

        Parameters
        ----------
        labels
            Labels or aliases of the arms that may not be used; or names of workers, jobs or nodes, see `named`.

        Returns
        -------
        array of bool
            One boolean per base arm, True for the arms that may not be used.

        >>> from rising_bandits.oracles import KSubsets
        >>> Problem(KSubsets(3, 1), labels=["x", "y", "z"]).mask(["y"]).tolist()
        [False, True, False]
        """
        blocked = np.zeros(self.n_arms, dtype=np.bool_)
        for label in _checks.labels("labels", labels):
            blocked[self.named(label)] = True
        return blocked

    def ordered(self, arms: Sequence[int] | Ints) -> Ints:
        """The arms of a super arm in the order in which they are played, such as the edges along a path.

        Parameters
        ----------
        arms
            The arm numbers of a super arm.
        """
        return in_order(self.oracle, _checks.arms(arms, self.n_arms))

    def spec(self) -> dict[str, Any] | None:
        """Describe the problem as plain data for `from_spec`.

        Returns
        -------
        dict or None
            Data that JSON can hold. None if the oracle or the reward contains Python code, or if a label is not a
            string, a number or a tuple of them.
        """
        oracle = self.oracle.spec()
        if oracle is None or self.reward.function is not None:
            return None
        try:
            labels = [_plain(label) for label in self.labels]
            aliases = [[_plain(label), arm] for label, arm in self._number.items()]
            groups = [[_plain(name), list(arms)] for name, arms in self._groups.items()]
        except InputError:
            return None
        spec = {"oracle": oracle, "reward": self.reward.name, "labels": labels, "aliases": aliases}
        return {**spec, "groups": groups} if groups else spec

    @staticmethod
    def from_spec(spec: Mapping[str, Any]) -> Problem:
        """Build a problem from its description. Labels and arm numbers are the same as before.

        Parameters
        ----------
        spec
            What `spec` returned.

        Raises
        ------
        InputError
            The description is damaged.

        >>> from rising_bandits.oracles import KSubsets
        >>> Problem.from_spec(Problem(KSubsets(2, 1), labels=["a", ("b", 1)]).spec()).labels
        ('a', ('b', 1))
        """
        try:
            labels = [_label(label) for label in spec["labels"]]
            aliases = {_label(label): arm for label, arm in spec["aliases"]}
            if not isinstance(spec["reward"], str):
                raise InputError(f"the reward of a saved problem must be a name, got {spec['reward']!r}")
            # Descriptions of older versions have no groups.
            groups = {_label(name): arms for name, arms in spec.get("groups", ())}
            return Problem(from_spec(spec["oracle"]), spec["reward"], labels, aliases, groups)
        except RisingBanditsError:
            raise
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError) as error:
            raise InputError(f"the description of a problem is damaged: {type(error).__name__} {error}") from None

    def __repr__(self) -> str:
        count = self.oracle.shown_count()
        family = "super arms" if count is None else f"{count} super arms"
        size, reward = self.oracle.max_size, self.reward.name
        how = "" if self.exact else ", solver not exact for this reward"
        return f"{type(self).__name__}({self.n_arms} base arms, {family} of up to {size}, {reward} reward{how})"


def check_problem(problem: object) -> None:
    """Refuse what is not a problem."""
    if not isinstance(problem, Problem):
        raise InputError(f"problem must be a Problem such as ShortestPath(...), got {problem!r}")


def same_problem(one: Mapping[str, Any], two: Mapping[str, Any]) -> bool:
    """Whether two descriptions are of the same problem. Other names of arms may differ between versions."""
    return all(one.get(part) == two.get(part) for part in ("oracle", "reward", "labels"))


def gather(kinds: Mapping[str, Sequence[Label]]) -> dict[Label, list[int]]:
    """Groups of arms from what each arm belongs to.

    Parameters
    ----------
    kinds
        For each kind, such as ``"worker"``, what each arm belongs to. A name that two kinds share is only known
        together with its kind, as in ``("job", "x")``.

    >>> gather({"worker": ["ann", "ann", "bob"], "job": ["x", "y", "x"]})["x"]
    [0, 2]
    """
    groups: dict[Label, list[int]] = {}
    owner: dict[Label, str] = {}
    for kind, names in kinds.items():
        for arm, name in enumerate(names):
            groups.setdefault((kind, name), []).append(arm)
            if owner.setdefault(name, kind) == kind:
                groups.setdefault(name, []).append(arm)
            else:
                groups[name] = []
    return {name: arms for name, arms in groups.items() if arms}


def _plain(label: Label) -> Any:
    """Convert a label to data that JSON can hold."""
    if isinstance(label, tuple):
        return {"tuple": [_plain(part) for part in label]}
    if isinstance(label, np.generic):
        label = label.item()
    if label is None or isinstance(label, str | int | float | bool):
        return label
    raise InputError(f"labels must be strings, numbers or tuples of them to be saved, got {label!r}")


def _label(data: Any) -> Label:
    """Convert data from `_plain` back to the label."""
    if isinstance(data, dict):
        return tuple(_label(part) for part in data["tuple"])
    return data  # type: ignore[no-any-return]


def label_list(name: str, value: int | Sequence[Label]) -> list[Label]:
    """The labels as a list. A count stands for the labels 0, 1, 2, ..."""
    if isinstance(value, bool | str):
        raise InputError(f"{name} must be a list of labels or a number of them, got {value!r}")
    if isinstance(value, int | np.integer):
        return list(range(_checks.integer(name, value, low=1, limit=MOST_ARMS)))
    labels = _checks.labels(name, value)
    if not labels:
        raise InputError(f"{name} must hold at least one label, got none")
    return labels


def choice_name(choice: object) -> str:
    """The name of a family: a text, or a pair of a source and a target.

    >>> choice_name(("a", "d"))
    'a->d'
    """
    if isinstance(choice, tuple) and len(choice) == 2:
        return f"{choice[0]}->{choice[1]}"
    if not isinstance(choice, str):
        raise InputError(f"among must be the name of a family, or a pair of a source and a target, got {choice!r}")
    return choice
