"""One run as data: what defines it, and its identity."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from typing import Any, cast

from rising_bandits import _checks, policies
from rising_bandits.errors import InputError
from rising_bandits.experiments import identity, own_code
from rising_bandits.experiments.texts import call_text
from rising_bandits.problems import Task
from rising_bandits.simulation.delays import Delay, Geometric, check_delay

OPTIONS = ("cascade", "delay")
"""The options of a run, beside its task and policy."""
MOST_NUMBER = 2**63 - 1
"""The largest seed, and the largest number of rounds: what a column of whole numbers can hold."""
_MOST_TEXT = 100_000
_MOST_SETTINGS = 2**18
_MOST_SHARED = 64
_made: ContextVar[dict[Any, Task] | None] = ContextVar("_made", default=None)
"""Tasks that were made for a plan."""


@contextlib.contextmanager
def sharing_tasks() -> Iterator[None]:
    """Within this context a task is made once for all runs of it. Files and modules are taken not to change."""
    token = _made.set({})
    try:
        yield
    finally:
        _made.reset(token)


@dataclass(frozen=True)
class RunSpec:
    """Everything that defines one run. A run can be repeated exactly from its spec.

    Parameters
    ----------
    task
        The name of a task, or ``module:function(argument=value)`` for a task of your own; see `make_task`.
    policy
        The name of a policy, or ``module:Class`` for a policy of your own.
    parameters
        The arguments of the policy.
    horizon
        The number of rounds.
    seed
        The seed of the outcomes and of the policy's random choices.
    rounds
        Rounds to record in addition to the usual ones.
    options
        How the task is played: ``cascade`` (True or False) replaces the task's own; ``delay`` is how many rounds later
        outcomes are known, a number or a text such as ``geometric(20)`` for random delays of that mean.
    metrics
        Metrics to compute at the end, by name or as ``module:function``; see `experiments.metrics`.
    code
        A hash of the sources of your own modules that take part. Empty if there are none.
    trust
        The modules that this spec may import. None, the default, means any: the caller wrote the spec. A spec that was
        read from a file may import nothing but what the caller names.
    """

    task: str
    policy: str
    parameters: dict[str, Any] = field(default_factory=dict)
    horizon: int = 1
    seed: int = 0
    rounds: tuple[int, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    code: str = ""
    trust: tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    @property
    def label(self) -> str:
        """The name of the policy with the parameters that differ from its defaults, for tables and figures."""
        defaults = _defaults(self.policy)
        # sigma is taken from the task by default, so it is named only if it differs from the task's.
        told = {**defaults, **told_to(self.policy, self.make_task(), self.horizon, self.trust)}
        changed = {name: value for name, value in self.parameters.items() if told.get(name) != value}
        return call_text(self.policy, changed)

    @property
    def world(self) -> str:
        """What is played: the task, with the options of the run. Runs in one world with one seed can be paired.

        >>> RunSpec("toy", "random", options={"cascade": True}).world
        'toy [cascade=True]'
        """
        inside = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.task} [{inside}]" if inside else self.task

    @property
    def key(self) -> str:
        """A readable file name for the run, different for different specs.

        The code of one's own modules is not part of the name: results of changed code replace the old ones.
        """
        told = {
            **asdict(self),
            "trust": None,
            "code": None,
            "options": self.options or None,
            "metrics": self.metrics or None,
        }
        named = {name: value for name, value in told.items() if value is not None}
        hashed = hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()[:10]
        safe = re.sub(r"[^A-Za-z0-9.-]+", "-", f"{self.task}-{self.policy}")[:100]
        return f"{safe}-{self.seed}-{hashed}"

    def as_dict(self) -> dict[str, Any]:
        """The spec as plain data, ready for JSON."""
        data = {**asdict(self), "rounds": list(self.rounds), "metrics": list(self.metrics)}
        del data["trust"]
        # What is not used is left out, so that specs look the same as before there were options.
        return {name: value for name, value in data.items() if value or name not in ("options", "metrics", "code")}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], trust: Collection[str] = ()) -> RunSpec:
        """A spec from plain data, which is checked.

        Parameters
        ----------
        data
            What `as_dict` returned, perhaps read from a file.
        trust
            The modules that the spec may import. By default it imports nothing but the library.

        Raises
        ------
        InputError
            The data is not a spec.
        """
        if not isinstance(data, Mapping) or not {"task", "policy"} <= data.keys() <= _FIELDS:
            raise InputError(f"a run must have task and policy, and perhaps {', '.join(sorted(_FIELDS))}")
        texts = (data["task"], data["policy"], data.get("code", ""), *_list(data, "metrics"))
        if not all(isinstance(text, str) and len(text) < _MOST_TEXT for text in texts):
            raise InputError("task, policy, code and metrics of a run must be texts")
        parameters, options = data.get("parameters", {}), data.get("options", {})
        if not all(
            isinstance(given, dict) and all(isinstance(k, str) for k in given) for given in (parameters, options)
        ):
            raise InputError("parameters and options of a run must be tables")
        _check_plain(parameters, options)
        return cls(
            task=data["task"],
            policy=data["policy"],
            parameters=dict(parameters),
            horizon=_checks.integer("horizon", data.get("horizon", 1), low=1, limit=MOST_NUMBER),
            seed=_checks.integer("seed", data.get("seed", 0), low=0, limit=MOST_NUMBER),
            rounds=tuple(_checks.integer("rounds", value, low=1, limit=MOST_NUMBER) for value in _list(data, "rounds")),
            options=dict(options),
            metrics=tuple(_list(data, "metrics")),
            code=data.get("code", ""),
            trust=tuple(trust),
        )

    def make_policy(self) -> Any:
        """A new policy of this run, not yet started."""
        return identity.make_policy(self.policy, self.parameters, self.trust)

    def make_task(self) -> Task:
        """The task of this run, with its options."""
        made = _made.get()
        if made is None:
            return with_options(identity.make_task(self.task, self.trust), self.options)
        key = (self.task, self.code, self.trust)
        if key not in made:
            if len(made) >= _MOST_SHARED:
                made.clear()
            made[key] = identity.make_task(self.task, self.trust)
        return with_options(made[key], self.options)

    @property
    def delay(self) -> Delay:
        """How many rounds later outcomes are known."""
        return delay_of(self.options.get("delay", 0))

    def own_modules(self) -> list[str]:
        """The modules of one's own that take part in this run."""
        return own_modules(self.make_task(), self.make_policy(), self.task, self.policy, self.metrics)


_FIELDS = {"task", "policy", "parameters", "horizon", "seed", "rounds", "options", "metrics", "code"}


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    found = data.get(name, [])
    if not isinstance(found, list | tuple):
        raise InputError(f"{name} of a run must be a list, got {found!r}")
    return list(found)


def _check_plain(parameters: dict[str, Any], options: dict[str, Any]) -> None:
    """Refuse parameters and options that are not plain data, or too long: every row of a table of results has them."""
    try:
        size = len(json.dumps([parameters, options], ensure_ascii=False).encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"parameters and options of a run must be plain data: {error}") from None
    if size > _MOST_SETTINGS:
        raise InputError(
            f"parameters and options of a run must have at most {_MOST_SETTINGS >> 10} kB, got {size} bytes"
        )


def own_modules(task: Task, policy: Any, task_text: str, policy_name: str, metrics: Collection[str]) -> list[str]:
    """The modules of one's own that take part in a run, given what it is made of."""
    named = {text.partition(":")[0] for text in (task_text, policy_name, *metrics) if ":" in text}
    own = {name for name in named if name.partition(".")[0] != "rising_bandits"}
    return sorted(own | set(own_code.own_modules(task, policy)))


def with_options(task: Task, options: Mapping[str, Any]) -> Task:
    """A task with the options of a run.

    Parameters
    ----------
    task
        The task.
    options
        The options, by name.

    Raises
    ------
    InputError
        An option is not known or has a wrong value.
    """
    for name in options:
        if name not in OPTIONS:
            raise InputError(f"options of a run are {', '.join(OPTIONS)}; got {name!r}")
    delay_of(options.get("delay", 0))
    cascade = options.get("cascade", task.cascade)
    if not isinstance(cascade, bool):
        raise InputError(f"cascade must be true or false, got {cascade!r}")
    return task if cascade == task.cascade else replace(task, cascade=cascade)


def delay_of(given: Any) -> Delay:
    """The delay that an option gives: a number of rounds, or ``geometric(MEAN)``.

    >>> delay_of(5), delay_of("geometric(20)")
    (5, Geometric(mean=20.0))
    """
    if isinstance(given, str):
        match = re.fullmatch(r"\s*(?:geometric\(\s*([0-9.]{1,20})\s*\)|([0-9]{1,10}))\s*", given)
        if match is None or (match[1] or "0").count(".") > 1 or match[1] == ".":
            raise InputError(f"delay must be a number of rounds, or such as geometric(20), got {given!r}")
        given = int(match[2]) if match[2] else Geometric(float(match[1]))
    check_delay(given)
    return cast(Delay, given)


def _defaults(name: str) -> dict[str, Any]:
    """The default parameters of a built-in policy; empty for a policy of the user's own."""
    return {} if ":" in name else policies.by_name(name).parameters()


def told_to(name: str, task: Task, horizon: int, trust: identity.Trust = None) -> dict[str, Any]:
    """The parameters that a policy gets from the task: for built-in policies that need it, sigma.

    A policy of one's own asks for them with a class attribute: ``told = ("sigma",)``. ``horizon`` can be asked for too.
    """
    known = {"sigma": task.sigma, "horizon": horizon}
    if ":" not in name:
        # A policy whose default is None estimates the noise itself.
        return {"sigma": task.sigma} if _defaults(name).get("sigma") is not None else {}
    asked = getattr(identity.load("policy", name, trust), "told", ())
    if isinstance(asked, str) or any(part not in known for part in asked):
        raise InputError(f"told of policy {name!r} must be a list of names from {', '.join(known)}, got {asked!r}")
    return {part: known[part] for part in asked}
