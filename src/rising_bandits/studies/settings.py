"""The settings of a study, and the state of a study after its first event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from rising_bandits import _checks
from rising_bandits.curves.draws import draw_of
from rising_bandits.errors import InputError
from rising_bandits.oracles.answers import holding
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Label, Problem, _plain, check_problem
from rising_bandits.studies.log.arms import Arms
from rising_bandits.studies.log.events import Event, check_source
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.learned import Learned, Resolve, Unlearned
from rising_bandits.studies.log.rules import checked_rule
from rising_bandits.studies.scales import Scale, scale_from_spec

FORMAT = 1
_AT_FIRST = ("policy", "parameters", "horizon", "seed", "scale", "expires", "reorder")
"""The settings with which a study is created. All others come from events of kind ``set``."""


FALLS = ("ignore", "propose", "reset")
"""What a study can do when it notices that an arm has fallen."""


@dataclass(frozen=True)
class Settings:
    """The settings of a study. All but the seed and the reorder limit can change, see `changed`."""

    policy: str
    """The name of the policy's class."""
    parameters: dict[str, Any]
    """The parameters of the policy."""
    horizon: int | None
    seed: int
    scale: Scale
    expires: float | None
    """Seconds after which a decision can no longer be told."""
    reorder: int
    """The capacity of the reorder window, see `rising_bandits.studies.log.fold`."""
    passed: int | None = None
    """The last horizon that passed; None if none did."""
    spread: bool = False
    """Whether decisions are made as if the open ones had come back as expected."""
    least: tuple[tuple[int, float], ...] = ()
    """Pairs of an arm's key and the least share of decisions that use it."""
    shares: tuple[tuple[str, float], ...] = ()
    """Pairs of the name of a rule and the share of asks that are handed to it."""
    rules: tuple[tuple[str, dict[str, Any]], ...] = ()
    """Pairs of the name of a rule and what it decides, see `rising_bandits.studies.log.rules`. Other rules
    are functions of a process."""
    falls: str = "propose"
    """What happens when an arm falls, one of `FALLS`."""

    def as_dict(self) -> dict[str, Any]:
        """The settings with which a study is created as plain data that JSON can hold."""
        return {"format": FORMAT, **{name: getattr(self, name) for name in _AT_FIRST}, "scale": self.scale.spec()}

    def since(self) -> dict[str, Any]:
        """The settings that can change, as the body of an event of kind ``set`` that sets all of them."""
        fixed = ("seed", "reorder")
        return {**{name: part for name, part in self.__dict__.items() if name not in fixed}, "scale": self.scale.spec()}

    def changed(self, body: Mapping[str, Any]) -> Settings:
        """The settings after an event of kind ``set`` with this body.

        >>> from rising_bandits.studies.scales import UNIT
        >>> before = Settings("CRUCB", {}, None, seed=1, scale=UNIT, expires=None, reorder=256)
        >>> before.changed({"expires": 60.0}).expires
        60.0
        """
        given = {name: part for name, part in body.items() if name != "author"}
        unknown = [name for name in given if name not in self.since()]
        if unknown or not given:
            raise InputError(f"settings that change must be some of {', '.join(self.since())}, got {list(given)!r}")
        if "scale" in given:
            given["scale"] = scale_from_spec(given["scale"])
        for name in ("least", "shares"):
            if name in given:
                given[name] = tuple((key, _checks.number(name, share, low=0.0, high=1.0)) for key, share in given[name])
        if "rules" in given:
            given["rules"] = tuple((name, checked_rule(rule)) for name, rule in given["rules"])
        if ("policy" in given) != ("parameters" in given):
            raise InputError(f"a policy and its parameters must be set together, got {list(given)!r}")
        if "policy" in given and not (isinstance(given["policy"], str) and isinstance(given["parameters"], Mapping)):
            raise InputError(f"policy must be a name with a mapping of parameters, got {given['policy']!r}")
        return replace(self, **given)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Settings:
        """The inverse of `as_dict`."""
        if data.get("format") != FORMAT:
            raise InputError(f"settings must be of format {FORMAT}, got {data.get('format')!r}; upgrade rising-bandits")
        given = {name: data[name] for name in _AT_FIRST}
        return Settings(**{**given, "scale": scale_from_spec(given["scale"])})

    def __post_init__(self) -> None:
        for name, low, high in (("seed", 0, None), ("reorder", 1, 100_000), ("horizon", 1, None), ("passed", 1, None)):
            if name in ("seed", "reorder") or getattr(self, name) is not None:
                _checks.integer(name, getattr(self, name), low=low, high=high)
        if not isinstance(cast(object, self.spread), bool):
            raise InputError(f"spread must be True or False, got {self.spread!r}")
        if self.falls not in FALLS:
            raise InputError(f"falls must be one of {', '.join(map(repr, FALLS))}, got {self.falls!r}")
        for name in dict([*self.shares, *self.rules]):
            check_source(name)
        if sum(share for _, share in self.shares) > 1.0:
            raise InputError(f"the shares of rules must not exceed 1 together, got {dict(self.shares)!r}")
        if self.expires is not None:
            wanted = "a timedelta or a positive number of seconds, or None for never"
            _checks.number("expires", self.expires, low=0.0, open_low=True, wanted=wanted)

    def late(self, asked_at: float, now: float) -> float | None:
        """The seconds after which a decision has expired, or None if it has not expired."""
        return self.expires if self.expires is not None and now >= asked_at + self.expires else None

    def draw(self, decision: int, rules: Sequence[str]) -> str | None:
        """The rule that makes a decision, drawn among some rules by their shares; None for the study's policy."""
        if not rules:
            return None
        place = float(np.random.default_rng(np.random.SeedSequence([self.seed, decision, 1])).random())
        shares = dict(self.shares)
        for name in rules:
            place -= shares[name]
            if place < 0.0:
                return name
        return None

    def rng(self, decision: int) -> Luck:
        """What makes the random generator of one decision. No random state is stored."""
        return Luck(self.seed, decision)


class Luck:
    """The random generator of one decision, when it is called: to make it takes longer than many a decision."""

    __slots__ = ("decision", "seed")

    def __init__(self, seed: int, decision: int) -> None:
        self.seed, self.decision = seed, decision

    @property
    def luck(self) -> int:
        """The number that breaks ties, see `Policy`."""
        return draw_of(self.seed, self.decision)

    def __call__(self) -> np.random.Generator:
        """The generator."""
        return np.random.default_rng(np.random.SeedSequence([self.seed, self.decision]))


def problem_body(problem: Problem, key_of: Mapping[Label, int]) -> dict[str, Any]:
    """The body of a problem event. New labels get the next free keys."""
    check_problem(problem)
    labels = [_plain(label) for label in problem.labels]
    for label in problem.labels:
        if any("\ud800" <= letter <= "\udfff" for letter in str(label)):
            raise InputError(f"labels must be text that UTF-8 can hold, got {label!r}")
    fresh = [label for label in problem.labels if label not in key_of]
    keys = {**key_of, **{label: len(key_of) + place for place, label in enumerate(fresh)}}
    return {
        "spec": problem.spec(),
        "labels": labels,
        "keys": [keys[label] for label in problem.labels],
        # Stored, because finding the arms that are in no super arm takes long.
        "unreachable": _unreachable(problem),
    }


def _unreachable(problem: Problem) -> list[int]:
    """The arms that are in no super arm."""
    waiting = np.ones(problem.n_arms, dtype=bool)
    missing = []
    for arm in range(problem.n_arms):
        if waiting[arm]:
            waiting[arm] = False
            found = holding(problem.oracle, arm, prefer=waiting)
            if found is None:
                missing.append(arm)
            else:
                waiting[found] = False
    return missing


def begin(settings: Settings, policy: Policy | None, first: Event, resolve: Resolve) -> Fold:
    """The state of a study after its first event. Without a policy, one has to learn the log later."""
    problem = resolve(first.body)
    arms = Arms(problem, first.body)
    learned: Learned = Unlearned(arms)
    if policy is not None:
        policy.start(problem, settings.horizon, settings.rng(1)())
        policy._give_up(first.body["unreachable"])
        learned = Learned(policy, arms)
    fold = Fold(learned, problem.labels, resolve, settings)
    fold.stale = 0 if policy is not None else first.seq
    fold.seq = fold.arms_since = first.seq
    fold.at, fold.digest = first.at, first.digest or None
    return fold
