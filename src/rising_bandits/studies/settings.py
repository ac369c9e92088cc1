"""The settings of a study, and the state of a study after its first event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Label, Problem, _plain
from rising_bandits.studies.log.arms import Arms
from rising_bandits.studies.log.events import Event
from rising_bandits.studies.log.fold import Fold, Learned, Resolve
from rising_bandits.studies.scales import Scale, scale_from_spec

FORMAT = 1


@dataclass(frozen=True)
class Settings:
    """What is fixed when a study is created."""

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

    def as_dict(self) -> dict[str, Any]:
        """The settings as plain data that JSON can hold."""
        return {"format": FORMAT, **self.__dict__, "scale": self.scale.spec()}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Settings:
        """The inverse of `as_dict`."""
        if data.get("format") != FORMAT:
            raise InputError(f"settings must be of format {FORMAT}, got {data.get('format')!r}; upgrade rising-bandits")
        given = {key: value for key, value in data.items() if key != "format"}
        return Settings(**{**given, "scale": scale_from_spec(given["scale"])})

    def __post_init__(self) -> None:
        for name, low, high in (("seed", 0, None), ("reorder", 1, 100_000), ("horizon", 1, None)):
            if name != "horizon" or self.horizon is not None:
                _checks.integer(name, getattr(self, name), low=low, high=high)
        if self.expires is not None:
            wanted = "a timedelta or a positive number of seconds, or None for never"
            _checks.number("expires", self.expires, low=0.0, open_low=True, wanted=wanted)

    def late(self, asked_at: float, now: float) -> float | None:
        """The seconds after which a decision has expired, or None if it has not expired."""
        return self.expires if self.expires is not None and now >= asked_at + self.expires else None

    def rng(self, decision: int) -> np.random.Generator:
        """The random generator of one decision, made from the seed and the number. No random state is stored."""
        return np.random.default_rng(np.random.SeedSequence([self.seed, decision]))


def problem_body(problem: Problem, key_of: Mapping[Label, int]) -> dict[str, Any]:
    """The body of a problem event. New labels get the next free keys."""
    if not isinstance(cast(object, problem), Problem):
        raise InputError(f"problem must be a Problem such as ShortestPath(...), got {problem!r}")
    labels = [_plain(label) for label in problem.labels]
    fresh = [label for label in problem.labels if label not in key_of]
    keys = {**key_of, **{label: len(key_of) + place for place, label in enumerate(fresh)}}
    # Stored, because finding the arms that are in no super arm takes long.
    unreachable = [arm for arm in range(problem.n_arms) if problem.oracle.containing(arm) is None]
    return {
        "spec": problem.spec(),
        "labels": labels,
        "keys": [keys[label] for label in problem.labels],
        "unreachable": unreachable,
    }


def begin(settings: Settings, policy: Policy, first: Event, resolve: Resolve) -> Fold:
    """The state of a study after its first event."""
    problem = resolve(first.body)
    policy.start(problem, settings.horizon, settings.rng(1))
    policy._give_up(first.body["unreachable"])
    fold = Fold(Learned(policy, Arms(problem, first.body)), problem.labels, resolve, settings.reorder)
    fold.seq = fold.arms_since = first.seq
    return fold
