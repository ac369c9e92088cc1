"""The base of policies with an index rule, whether for base arms or for super arms."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError
from rising_bandits.policies import saving
from rising_bandits.policies.engines.cover import PLAYS_FIRST, copy_cover
from rising_bandits.policies.engines.live import Met
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.relearning import rearrange_rule
from rising_bandits.policies.rules.operations import indices, roomy, update
from rising_bandits.policies.rules.rings import ring_fields, with_room
from rising_bandits.policies.rules.terms import AVERAGE
from rising_bandits.policies.underway import Underway
from rising_bandits.problems.base import Problem


class RulePolicy(Policy):
    """A policy with an index rule. A subclass has to write only `make_rule`.

    A rule keeps an index for each *unit*: a base arm, or a super arm for policies that act on super arms.
    """

    first_plays: ClassVar[int] = PLAYS_FIRST
    """How often each unit is played before indices decide."""

    @abstractmethod
    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> Any:
        """Make the index rule, before the first play.

        Parameters
        ----------
        n_units
            The number of units.
        problem
            The problem.
        horizon
            How many rounds there will be; None if nobody knows.

        Returns
        -------
        object
            A NamedTuple with registered ``indices``, ``update`` and ``roomy`` (see
            `rising_bandits.policies.rules.operations`), or a Python object with methods of these names.
        """

    @property
    def _rule(self) -> Any:
        """The index rule."""
        return self._engine.rule

    @property
    def plays(self) -> Ints:
        """The number of plays of each unit."""
        self._check_started()
        return self._rule.plays.copy()  # type: ignore[no-any-return]

    def _units(self, arms: Ints) -> Any:
        """The unit or units of a super arm."""
        return arms

    def _pending(self, underway: Sequence[Ints]) -> Ints:
        """For each unit, how many of the decisions underway contain it."""
        if not isinstance(underway, Underway):
            listed = underway
            underway = Underway(lambda: listed)
        return underway.counts(self._rule.plays.size, self._units)

    def _make_room(self, pushes: int) -> None:
        """Add memory to the rule's buffers before it is needed."""
        for name in ring_fields(self._rule):
            old = getattr(self._rule, name)
            if (new := with_room(old, pushes)) is not old:
                self._engine = self._engine._replace(rule=self._rule._replace(**{name: new}))

    def indices(self) -> Floats:
        self._check_started()
        out = np.empty(self._rule.plays.size)
        indices(self._rule, self._round, copy.deepcopy(self.rng), out)
        return out

    def terms(self) -> dict[str, Floats] | None:
        """Compute the parts of which the indices are sums.

        Returns
        -------
        dict or None
            For each part, by name, one number per unit; None if the rule does not know its parts.

        >>> import rising_bandits as rb
        >>> policy = rb.CRUCB(sigma=0.0)
        >>> policy.start(rb.problems.TopK(["x"], k=1))
        >>> for outcome in (0.25, 0.5):
        ...     policy.observe([0], [outcome])
        >>> {name: part.tolist() for name, part in policy.terms().items()}
        {'recent average': [0.5], 'predicted improvement': [0.25], 'bonus': [0.0]}
        """
        self._check_started()
        return self._rule.terms(self._round) if hasattr(self._rule, "terms") else None

    def _worth(self) -> Floats:
        """What each unit is worth for `recommend`: by default the mean of its recent outcomes."""
        parts = self.terms()
        if parts is None or AVERAGE not in parts:
            raise InputError(f"{type(self).__name__} does not recommend: its rule has no recent average")
        return parts[AVERAGE]

    def copy(self) -> Self:
        if self._round == 0:
            return copy.copy(self)
        return self._copy_with(self._own_engine())

    def _copy_with(self, engine: Any) -> Self:
        """A copy with an engine of its own."""
        policy = copy.copy(self)
        policy._engine = engine
        policy._out, policy._met = self._out.copy(), Met()
        policy._doubt = None if self._doubt is None else self._doubt.copy()
        if not callable(self._rng):
            # What this policy draws must not change its copies.
            policy._rng = copy.deepcopy(self.rng)
        return policy

    def _own_engine(self) -> Any:
        """A copy of the engine that shares no array that changes."""
        engine = self._engine
        return engine._replace(rule=saving.copy_rule(engine.rule, self.problem), cover=copy_cover(engine.cover))

    def _inherit(self, old: Self, origin: Ints) -> None:
        units = self._units_from(old, origin)
        aims = old._engine.cover.aims
        again = (old._rule.plays < self.first_plays) & (aims >= self.first_plays)
        if old.problem is self.problem:
            again[:] = False
            self._engine.cover.aims[units >= 0] = aims[units[units >= 0]]
        # A unit that could not be reached may be reachable on the new problem. First plays are tried again.
        self._engine = self._engine._replace(rule=rearrange_rule(self._rule, old._rule, units, again))

    def _units_from(self, old: Self, origin: Ints) -> Ints:
        """For each unit of this policy, the same unit of the old policy, or -1 if there is none."""
        return origin

    def _dump(self) -> dict[str, Any]:
        return {"rule": saving.dump_rule(self._rule), "aims": saving.encode_array(self._aims())}

    def _load(self, state: saving.Saved) -> None:
        rule = saving.load_rule(self._rule, state.part("rule"))
        self._engine.cover.aims[:] = saving.load_aims(state, rule.plays.size)
        self._engine = self._engine._replace(rule=rule)

    def _aims(self) -> Any:
        """How often first plays of each unit were tried, for saving."""
        return np.minimum(self._engine.cover.aims, self.first_plays).astype(np.int8)


def checked_rule(policy: str, rule: Any, n_units: int) -> Any:
    """The rule that ``make_rule`` of a policy returned; refuses what an engine cannot work with."""
    for wanted in (indices, update, roomy):
        if not wanted.handles(rule):
            raise InputError(
                f"what {policy}.make_rule returns must be a NamedTuple with a registered {wanted.name}, or an object "
                f"with a method {wanted.name}, got {rule!r}"
            )
    plays: object = getattr(rule, "plays", None)
    if not isinstance(plays, np.ndarray) or plays.dtype != np.int64 or plays.shape != (n_units,):
        raise InputError(
            f"plays of what {policy}.make_rule returns must be an array of {n_units} numbers of type int64, one per "
            f"unit, got {plays!r}"
        )
    return rule
