"""Plans of experiments as data: which policies run on which tasks, for how many rounds, with which seeds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rising_bandits import _checks, policies
from rising_bandits.errors import InputError
from rising_bandits.experiments import identity
from rising_bandits.experiments.identity import TASK_TEXT, Trust, make_policy, make_task
from rising_bandits.experiments.metrics import metric
from rising_bandits.experiments.own_code import digest_of
from rising_bandits.experiments.spec import MOST_NUMBER, RunSpec, _defaults, own_modules, told_to, with_options
from rising_bandits.experiments.texts import call_text, parse_call, seeds_of, unfold
from rising_bandits.problems import Task

__all__ = ["PAPER_POLICIES", "RunSpec", "make_plan", "make_policy", "make_task", "parse_call", "parse_policy"]

PAPER_POLICIES = ("crucb", "r-ed-ucb", "sw-ucb", "sw-cucb", "sw-ts", "sw-cts")
"""The six policies that the paper compares."""
RECOMMENDED = "recommended"
"""In a plan, the policy that `policies.recommended` makes for a task."""
MOST_RUNS = 1_000_000
"""The largest number of runs of a plan."""

_POLICY = "policy must look like crucb, crucb(epsilon=0.25) or module:Class"
_SEQUENCES = (
    "list",
    "Sequence",
    "Iterable",
    "Collection",
    "ArrayLike",
    "ndarray",
    "Ints",
    "Floats",
    "Any",
    "set",
    "tuple",
)


def parse_policy(text: str, trust: Trust = None) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of a policy that is given as text.

    Parameters
    ----------
    text
        A policy as the command line takes it: a name such as ``crucb``, or ``module:Class`` for a policy of your own.
        Parameters may follow in round brackets, as in ``crucb(epsilon=0.25)``.
    trust
        For text that was read from a file: the modules that may be imported. By default any.

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
    make_policy(name, parameters, trust)
    return name, parameters


def parse_policies(text: str, trust: Trust = None) -> list[tuple[str, dict[str, Any]]]:
    """The policies that a text names, one for each combination of the values of its parameters.

    Parameters
    ----------
    text
        A policy as `parse_policy` takes it, or with lists and ranges in place of values.
    trust
        For text that was read from a file: the modules that may be imported. By default any.

    >>> [parameters for _, parameters in parse_policies("crucb(epsilon=[0.1, 0.2])")]
    [{'epsilon': 0.1}, {'epsilon': 0.2}]
    >>> len(parse_policies("crucb(epsilon=linspace(0.1, 0.4, 4), bonus=['paper', 'reference'])"))
    8
    """
    name, parameters = parse_call(text, _POLICY)
    kind = identity.load("policy", name, trust) if ":" in name else policies.classes().get(name)
    found = unfold(parameters, _takes_list(kind))
    for given in found:
        make_policy(name, given, trust)
    return [(name, given) for given in found]


def parse_tasks(text: str, trust: Trust = None) -> list[str]:
    """The tasks that a text names, one for each combination of the values of its arguments.

    >>> parse_tasks("rising_bandits.theory.instances:general_a(horizon=[100, 200])")[0]
    'rising_bandits.theory.instances:general_a(horizon=100)'
    """
    if ":" not in text:
        return [text]
    name, arguments = parse_call(text, TASK_TEXT)
    if not any(isinstance(value, list) for value in arguments.values()):
        return [text]
    return [call_text(name, given) for given in unfold(arguments, _takes_list(identity.load("task", name, trust)))]


def _takes_list(kind: Any) -> Callable[[str], bool]:
    """Whether an argument of a function or class is a list itself, judged by its annotation."""
    try:
        known: Mapping[str, Any] = inspect.signature(kind).parameters
    except (TypeError, ValueError):
        known = {}

    def takes_list(name: str) -> bool:
        annotation = getattr(known.get(name), "annotation", inspect.Parameter.empty)
        text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", None) or str(annotation)
        text = text + (str(annotation) if not isinstance(annotation, str) else "")
        return annotation is not inspect.Parameter.empty and any(word in text for word in _SEQUENCES)

    return takes_list


def _recommended(task: Task, horizon: int) -> tuple[str, dict[str, Any]]:
    """The name of the policy that is recommended for a task, and its parameters where they are not the defaults."""
    policy = policies.recommended(task.problem, horizon)
    usual = type(policy)().parameters()
    return policy.name, {name: value for name, value in policy.parameters().items() if value != usual[name]}


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
    return call_text(name, parameters)


def make_plan(
    task_names: Sequence[str],
    policy_texts: Sequence[str],
    *,
    seeds: int | str | range = 5,
    first_seed: int = 0,
    horizon: int | None = None,
    rounds: Sequence[int] = (),
    metrics: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    trust: Trust = None,
) -> list[RunSpec]:
    """A plan that runs every policy on every task with every seed.

    Policies that need ``sigma`` get the task's value, unless the text of the policy sets one. A policy of your own asks
    for it with the class attribute ``told = ("sigma",)``.

    Parameters
    ----------
    task_names
        Tasks, as `make_task` takes them. A list as an argument stands for several tasks, one for each value.
    policy_texts
        Policies, as `parse_policy` takes them; ``all`` stands for the six policies of the paper, ``recommended`` for
        what `policies.recommended` makes for each task. A list or a range in place of a parameter stands for several
        policies, as in ``crucb(epsilon=[0.1, 0.2])`` and ``crucb(epsilon=linspace(0.1, 0.4, 4))``.
    seeds
        How many seeds, or a range of seeds such as ``"1000-1004"``.
    first_seed
        The first seed where ``seeds`` is a number.
    horizon
        The number of rounds of each run; by default the task's own.
    rounds
        Rounds to record in addition to the usual ones.
    metrics
        Metrics to compute for each run: names, or ``module:function`` for your own; see `experiments.metrics`.
    options
        How the tasks are played; see `RunSpec`.
    trust
        For a plan that was read from a file: the modules that may be imported. By default any.

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
    _checks.integer("first_seed", first_seed, low=0)
    numbers = seeds_of(seeds, first_seed)
    texts = [name for text in policy_texts for name in (PAPER_POLICIES if text == "all" else (text,))]
    chosen = [
        found
        for text in dict.fromkeys(texts)
        for found in ([(RECOMMENDED, {})] if text == RECOMMENDED else parse_policies(text, trust))
    ]
    for name in metrics:
        metric(name, trust)
    names = dict.fromkeys(name for text in task_names for name in parse_tasks(text, trust))
    if len(names) * len(chosen) * len(numbers) > MOST_RUNS:
        raise InputError(f"a plan must have at most {MOST_RUNS} runs, got {len(names) * len(chosen) * len(numbers)}")
    plan = []
    for task_name in names:
        task = with_options(make_task(task_name, trust), options or {})
        length = task.horizon if horizon is None else _checks.integer("horizon", horizon, low=1, limit=MOST_NUMBER)
        for text, settings in chosen:
            name, given = _recommended(task, length) if text == RECOMMENDED else (text, settings)
            parameters = {**_defaults(name), **told_to(name, task, length, trust), **given}
            if name == "oracle":
                parameters = given
            own = own_modules(task, make_policy(name, parameters, trust), task_name, name, metrics)
            first = RunSpec(
                task_name,
                name,
                parameters,
                length,
                numbers[0],
                tuple(rounds),
                dict(options or {}),
                tuple(metrics),
                digest_of(own),
                None if trust is None else tuple(trust),
            )
            plan += [replace(first, seed=seed) for seed in numbers]
    # Two texts may mean the same run (crucb and crucb(epsilon=0.125)); it must not count as two seeds.
    return list({spec.key: spec for spec in plan}.values())
