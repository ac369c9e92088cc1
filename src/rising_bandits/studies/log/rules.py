"""Rules that a share of the asks is handed to, as the log stores them: a super arm, or a policy of the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rising_bandits._checks import Ints
from rising_bandits.errors import InputError
from rising_bandits.studies.log.deciding import Decider

if TYPE_CHECKING:
    from rising_bandits.studies.log.fold import Fold
    from rising_bandits.studies.log.log import Log, Turn
    from rising_bandits.studies.settings import Settings


def checked_rule(rule: Any) -> dict[str, Any]:
    """A stored rule, checked: ``{"arms": keys}``, or ``{"policy": name of its class, "parameters": ...}``.

    >>> checked_rule({"arms": [3, 1]})
    {'arms': [3, 1]}
    """
    if isinstance(rule, Mapping) and set(rule) == {"arms"}:
        keys = rule["arms"]
        if isinstance(keys, list) and keys and all(type(key) is int for key in keys) and len(set(keys)) == len(keys):
            return dict(rule)
    if isinstance(rule, Mapping) and set(rule) == {"policy", "parameters"}:
        kind, parameters = rule["policy"], rule["parameters"]
        if isinstance(kind, str) and isinstance(parameters, Mapping):
            return dict(rule)
    raise InputError(f"a rule must be the keys of a super arm, or a policy with parameters, got {rule!r}")


def in_its_place(settings: Settings, rule: Mapping[str, Any]) -> Settings:
    """The settings of a study whose policy is that of a rule. Least shares are the study's own matter."""
    return replace(settings, policy=rule["policy"], parameters=dict(rule["parameters"]), least=())


def fixed_arms(fold: Fold, keys: Sequence[int], blocked: Sequence[int], among: str | None) -> Ints | None:
    """The arms of a fixed super arm, ascending; None if it cannot be chosen now."""
    if not fold.retired.union(blocked).isdisjoint(keys) or not all(key in fold.arms.arm_of for key in keys):
        return None
    problem = fold.arms.problem if among is None else fold.arms.problem.among(among)
    arms = fold.arms.numbers(keys)
    return arms if problem.oracle.is_feasible(arms) else None


def rival_arms(
    log: Log, name: str, turn: Turn, number: int, *, blocked: Sequence[int], among: str | None, before: Sequence[Ints]
) -> Ints | None:
    """The arms, ascending, that a rule which is a policy chooses; None if it cannot decide about the study as it is.

    Parameters
    ----------
    log
        The log of the study.
    name
        The name of the rule.
    turn
        The transaction of the ask.
    number
        The number of the decision.
    blocked
        The keys of arms that may not be used.
    among
        The family of super arms to choose from; None for all.
    before
        The decisions that the same ask has made before.
    """
    try:
        settings = in_its_place(turn.fold.settings, dict(turn.fold.settings.rules)[name])
        decider = Decider(log.rival(settings, turn.fold, turn.writer), settings, turn.now, blocked, among)
        for arms in before:
            decider.take(arms, own=False)
        return decider.choose(number)[0]
    except InputError:
        return None
