"""An experiment as data: which policies, on which tasks, for how long, with which seeds."""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rising_bandits import _checks, policies
from rising_bandits.errors import InputError
from rising_bandits.problems import Task, tasks

PAPER_POLICIES = ("crucb", "r-ed-ucb", "sw-ucb", "sw-cucb", "sw-ts", "sw-cts")
"""The six policies that the paper compares."""

_POLICY = "policy must look like crucb, crucb(epsilon=0.25) or module:Class"
_CALL = re.compile(r"^(?P<name>[A-Za-z_][\w.:-]*)(?:\((?P<arguments>.*)\))?$", re.DOTALL)


@dataclass(frozen=True)
class RunSpec:
    """One run, complete: from this alone it can be repeated, number for number."""

    task: str
    policy: str
    parameters: dict[str, Any] = field(default_factory=dict)
    horizon: int = 1
    seed: int = 0
    rounds: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """The policy with the parameters that differ from its defaults, for tables and figures."""
        return self.policy if not self._changed() else f"{self.policy}({self._changed()})"

    def _changed(self) -> str:
        defaults = _defaults(self.policy)
        # sigma is filled in from the task, so it is no choice worth naming unless it differs from that.
        told = {**defaults, "sigma": self.make_task().sigma} if _is_told(defaults) else defaults
        return ", ".join(f"{name}={value!r}" for name, value in self.parameters.items() if told.get(name) != value)

    @property
    def key(self) -> str:
        """A file name for the run: readable, and different for different settings."""
        digest = hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:10]
        safe = re.sub(r"[^A-Za-z0-9.-]+", "-", f"{self.task}-{self.policy}")
        return f"{safe}-{self.seed}-{digest}"

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "rounds": list(self.rounds)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RunSpec:
        """The inverse of `as_dict`."""
        return cls(**{**data, "rounds": tuple(data.get("rounds", ()))})

    def make_policy(self) -> Any:
        """The policy, not yet started."""
        return make_policy(self.policy, self.parameters)

    def make_task(self) -> Task:
        """The task."""
        return make_task(self.task)


def parse_policy(text: str) -> tuple[str, dict[str, Any]]:
    """A policy as the command line takes it: a name, with parameters in brackets where they are set.

    A policy of one's own is ``module:Class``.

    >>> parse_policy("crucb(epsilon=0.25, bonus='reference')")
    ('crucb', {'epsilon': 0.25, 'bonus': 'reference'})
    """
    name, parameters = parse_call(text, _POLICY)
    make_policy(name, parameters)
    return name, parameters


def with_windows(text: str, share: float) -> str:
    """A policy whose window, where none is given, is a share of the plays.

    >>> [with_windows(text, 0.25) for text in ("crucb(upward=True)", "sw-ts", "sw-ucb(window=0.5)", "oracle")]
    ['crucb(epsilon=0.25, upward=True)', 'sw-ts(window=0.25)', 'sw-ucb(window=0.5)', 'oracle']
    """
    name, parameters = parse_call(text, _POLICY)
    if name in ("crucb", "r-ed-ucb"):
        parameters = {"epsilon": share, **parameters}
    elif name.startswith("sw-"):
        parameters = {"window": share, **parameters}
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in parameters.items())})" if parameters else name


def parse_call(text: str, wanted: str) -> tuple[str, dict[str, Any]]:
    """A name with keyword arguments in brackets, all of them literals."""
    match = _CALL.match(text.strip())
    if match is None:
        raise InputError(f"{wanted}, got {text!r}")
    parameters: dict[str, Any] = {}
    if match["arguments"]:
        try:
            call = ast.parse(f"f({match['arguments']})", mode="eval").body
            if not isinstance(call, ast.Call) or call.args:
                raise ValueError
            parameters = {str(item.arg): ast.literal_eval(item.value) for item in call.keywords}
        except (SyntaxError, ValueError):
            raise InputError(f"{wanted}, got {text!r}") from None
    return match["name"], parameters


def _import(kind: str, name: str) -> Any:
    """What ``module:attribute`` names."""
    module, _, attribute = name.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        # As `python -m` does: modules of the folder one stands in can be named.
        sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{kind} {name!r} cannot be imported: {error}") from None


def make_task(text: str) -> Task:
    """A task by name, or one of the user's own by ``module:function`` with arguments in brackets.

    >>> make_task("rising_bandits.theory.instances:general_a(horizon=300)").horizon
    300
    """
    if ":" not in text:
        return tasks.get(text)
    name, arguments = parse_call(text, "task must look like path-easy or module:function(argument=value)")
    task = _import("task", name)(**arguments)
    if not isinstance(task, Task):
        raise InputError(f"task {text!r} must be a function that returns a Task, got {type(task).__name__}")
    return task


def make_policy(name: str, parameters: dict[str, Any]) -> Any:
    """A built-in policy by name, or one of the user's own by ``module:Class``."""
    if ":" not in name:
        return policies.by_name(name, **parameters)
    try:
        return _import("policy", name)(**parameters)
    except TypeError as error:
        raise InputError(f"policy {name!r} cannot be made with {parameters!r}: {error}") from None


def _defaults(name: str) -> dict[str, Any]:
    if ":" in name:
        return {}
    return policies.by_name(name).parameters()


def _is_told(defaults: dict[str, Any]) -> bool:
    """Whether a policy has to be told the noise; one whose default is None finds out by itself."""
    return defaults.get("sigma") is not None


def make_plan(
    task_names: Sequence[str],
    policy_texts: Sequence[str],
    *,
    seeds: int = 5,
    first_seed: int = 0,
    horizon: int | None = None,
    rounds: Sequence[int] = (),
) -> list[RunSpec]:
    """Every task with every policy and every seed. ``all`` names the paper's six policies.

    Policies that need ``sigma`` are told the task's, unless it is set.

    >>> [spec.key[:17] for spec in make_plan(["path-easy"], ["crucb"], seeds=2)]
    ['path-easy-crucb-0', 'path-easy-crucb-1']
    """
    _checks.integer("seeds", seeds, low=1)
    _checks.integer("first_seed", first_seed, low=0)
    texts = [name for text in policy_texts for name in (PAPER_POLICIES if text == "all" else (text,))]
    chosen = [parse_policy(text) for text in dict.fromkeys(texts)]
    plan = []
    for task_name in dict.fromkeys(task_names):
        task = make_task(task_name)
        length = task.horizon if horizon is None else _checks.integer("horizon", horizon, low=1)
        for name, given in chosen:
            defaults = _defaults(name)
            told = {"sigma": task.sigma} if _is_told(defaults) else {}
            parameters = {**defaults, **told, **given}
            if name == "oracle":
                parameters = given
            plan += [
                RunSpec(task_name, name, parameters, length, seed, tuple(rounds))
                for seed in range(first_seed, first_seed + seeds)
            ]
    # The same run asked for in other words is one run, not one more seed.
    return list({spec.key: spec for spec in plan}.values())
