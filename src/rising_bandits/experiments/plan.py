"""Plans of experiments as data: which policies run on which tasks, for how many rounds, with which seeds."""

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
    """

    task: str
    policy: str
    parameters: dict[str, Any] = field(default_factory=dict)
    horizon: int = 1
    seed: int = 0
    rounds: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """The name of the policy with the parameters that differ from its defaults, for tables and figures."""
        return self.policy if not self._changed() else f"{self.policy}({self._changed()})"

    def _changed(self) -> str:
        """The parameters that differ from the defaults, as text."""
        defaults = _defaults(self.policy)
        # sigma is taken from the task by default, so it is named only if it differs from the task's.
        told = {**defaults, "sigma": self.make_task().sigma} if _is_told(defaults) else defaults
        return ", ".join(f"{name}={value!r}" for name, value in self.parameters.items() if told.get(name) != value)

    @property
    def key(self) -> str:
        """A readable file name for the run, different for different specs."""
        digest = hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:10]
        safe = re.sub(r"[^A-Za-z0-9.-]+", "-", f"{self.task}-{self.policy}")
        return f"{safe}-{self.seed}-{digest}"

    def as_dict(self) -> dict[str, Any]:
        """The spec as plain data, ready for JSON."""
        return {**asdict(self), "rounds": list(self.rounds)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RunSpec:
        """A spec from plain data.

        Parameters
        ----------
        data
            What `as_dict` returned.
        """
        return cls(**{**data, "rounds": tuple(data.get("rounds", ()))})

    def make_policy(self) -> Any:
        """A new policy of this run, not yet started."""
        return make_policy(self.policy, self.parameters)

    def make_task(self) -> Task:
        """The task of this run."""
        return make_task(self.task)


def parse_policy(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of a policy that is given as text.

    Parameters
    ----------
    text
        A policy as the command line takes it: a name such as ``crucb``, or ``module:Class`` for a policy of your own.
        Parameters may follow in round brackets, as in ``crucb(epsilon=0.25)``.

    Returns
    -------
    tuple
        The name, and the parameters as a dictionary.

    Raises
    ------
    InputError
        The text cannot be read, the policy is not known, or a parameter is wrong.

    >>> parse_policy("crucb(epsilon=0.25, bonus='reference')")
    ('crucb', {'epsilon': 0.25, 'bonus': 'reference'})
    """
    name, parameters = parse_call(text, _POLICY)
    make_policy(name, parameters)
    return name, parameters


def with_windows(text: str, share: float) -> str:
    """A policy as text with its window set to a share of the plays, unless the text sets a window itself.

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
    """The name and the keyword arguments of a call written as text; the arguments must be literals.

    ``wanted`` begins the message of the error that a wrong text raises.
    """
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
    """Import the object that ``module:attribute`` names; ``kind`` is its name in error messages."""
    module, _, attribute = name.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        # Like `python -m`: modules in the current folder can be imported.
        sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{kind} {name!r} cannot be imported: {error}") from None


def make_task(text: str) -> Task:
    """The task that a text names.

    Parameters
    ----------
    text
        The name of a built-in task, or ``module:function(argument=value)`` for a function that returns a `Task`.

    Raises
    ------
    InputError
        The task is not known, cannot be imported, or is not a `Task`.

    >>> make_task("rising_bandits.theory.instances:general_a(horizon=300)").horizon
    300
    """
    if ":" not in text:
        return tasks.shared(text)
    name, arguments = parse_call(text, "task must look like path-easy or module:function(argument=value)")
    task = _import("task", name)(**arguments)
    if not isinstance(task, Task):
        raise InputError(f"task {text!r} must be a function that returns a Task, got {type(task).__name__}")
    return task


def make_policy(name: str, parameters: dict[str, Any]) -> Any:
    """A new policy: a built-in one by name, or one of the user's own by ``module:Class``."""
    if ":" not in name:
        return policies.by_name(name, **parameters)
    try:
        return _import("policy", name)(**parameters)
    except TypeError as error:
        raise InputError(f"policy {name!r} cannot be made with {parameters!r}: {error}") from None


def _defaults(name: str) -> dict[str, Any]:
    """The default parameters of a built-in policy; empty for a policy of the user's own."""
    if ":" in name:
        return {}
    return policies.by_name(name).parameters()


def _is_told(defaults: dict[str, Any]) -> bool:
    """Whether a policy needs to be told ``sigma``; a policy whose default is None estimates it itself."""
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
    """A plan that runs every policy on every task with every seed.

    Policies that need ``sigma`` get the task's value, unless the text of the policy sets one.

    Parameters
    ----------
    task_names
        Tasks, as `make_task` takes them.
    policy_texts
        Policies, as `parse_policy` takes them; ``all`` stands for the six policies of the paper.
    seeds
        How many seeds.
    first_seed
        The first seed; the others are the numbers that follow.
    horizon
        The number of rounds of each run; by default the task's own.
    rounds
        Rounds to record in addition to the usual ones.

    Returns
    -------
    list of RunSpec
        The runs; a run that was asked for twice is there once.

    Raises
    ------
    InputError
        A task, a policy or a number is wrong.

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
    # Two texts may mean the same run (crucb and crucb(epsilon=0.125)); it must not count as two seeds.
    return list({spec.key: spec for spec in plan}.values())
