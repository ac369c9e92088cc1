"""The plan of the benchmark: which instances there are, and which policies run on which of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from rising_bandits import _checks
from rising_bandits.benchmark.suite import EDITION, FAMILIES, HORIZONS, NOISES, STRUCTURES, one_of
from rising_bandits.errors import InputError, RisingBanditsError
from rising_bandits.experiments import RunSpec, make_plan, make_task, seeds_of
from rising_bandits.problems import recorded

__all__ = ["FIRST_SEED", "GROUPS", "POLICIES", "Instance", "Planned", "benchmark_plan", "instances", "seeds_of"]

POLICIES = (
    "foresight",
    "horizon-crucb",
    "crucb",
    "crucb(bonus='reference')",
    "cucb",
    "cts",
    "sw-cucb",
    "sw-cts",
    "newer-half",
)
"""The policies that are compared by default. They act on base arms, so they run on instances of any size."""
PAPER = (
    "toy",
    *(f"{task}-{level}" for task in ("path", "matching", "spanning") for level in ("easy", "complex")),
    "k-max",
)
"""The tasks of the paper."""
RESTED = ("metelli-15", "metelli-2")
"""The instances of Metelli et al.; see `rising_bandits.benchmark.rested`."""
GROUPS = ("paper", "rested", "antmaze", *FAMILIES)
"""The groups of instances, as ``--family`` names them: three of fixed tasks, then the families of random curves."""
FIRST_SEED = 1000
"""The first seed of reports. Policies are developed on seeds below it."""


@dataclass(frozen=True)
class Instance:
    """One instance of the benchmark: a task, a seed, and how both are classified.

    Parameters
    ----------
    text
        The task, as `experiments.make_task` takes it.
    name
        A short name of the task.
    group
        The group it belongs to, one of `GROUPS`.
    structure
        The structure of a random instance, such as ``path``; empty for a fixed task.
    noise
        The noise, in words.
    horizon
        The number of rounds.
    seed
        The seed of the run. A random instance is also drawn with this seed.
    """

    text: str
    name: str
    group: str
    structure: str
    noise: str
    horizon: int
    seed: int


def _fixed(group: str, seeds: range, *, quick: bool) -> list[Instance]:
    """The instances of a group of fixed tasks: the task is the same for every seed, only the noise differs."""
    if group == "rested":
        texts = {name: f"rising_bandits.benchmark.rested:{name.replace('-', '_')}()" for name in RESTED}
    else:
        texts = {name: name for name in (PAPER if group == "paper" else recorded.NAMES)}
    if quick:
        texts = {name: text for name, text in texts.items() if name in ("path-easy", "k-max", "metelli-2")}
    found = []
    for name, text in texts.items():
        task = make_task(text)
        noise = f"{type(task.noise).__name__.lower()} {task.sigma:g}"
        found += [Instance(text, name, group, "", noise, task.horizon, seed) for seed in seeds]
    return found


def _random(family: str, seeds: range, *, quick: bool) -> list[Instance]:
    """The random instances of a family.

    There is one for each structure and noise at 5 000 and at 50 000 rounds. At 500 000 rounds, to save time, there are
    only two of the four structures per seed, each with one noise; structures and noises alternate from seed to seed.
    """
    found = []
    structures = ("path", "top-k") if quick else tuple(STRUCTURES)
    for horizon in HORIZONS[:1] if quick else HORIZONS:
        for place, structure in enumerate(structures):
            for seed in seeds:
                turn = seed + place + list(FAMILIES).index(family)
                long = horizon == HORIZONS[-1]
                if long and turn % 2:
                    continue
                for noise in [list(NOISES)[turn // 2 % len(NOISES)]] if long else NOISES:
                    given = {"family": family, "structure": structure, "noise": noise, "horizon": horizon}
                    inside = ", ".join(f"{key}={value!r}" for key, value in given.items())
                    text = f"rising_bandits.benchmark.suite:instance({inside}, seed={seed}, edition={EDITION})"
                    name = f"{family}-{structure}-{noise}-{horizon}-{seed}"
                    found.append(Instance(text, name, family, structure, noise, horizon, seed))
    return found


def instances(
    groups: Sequence[str] = (),
    seeds: range = range(1000, 1001),
    *,
    quick: bool = False,
    longest: int | None = None,
) -> list[Instance]:
    """The instances of the benchmark.

    Parameters
    ----------
    groups
        Which groups, by the names in `GROUPS`; all by default.
    seeds
        The seeds.
    quick
        Whether to return only a small part of each group.
    longest
        Leave out random instances with more rounds than this; by default none is left out.

    Raises
    ------
    InputError
        A group is not known, or nothing is left.

    >>> len(instances(["late"])), [found.name for found in instances(["rested"])]
    (26, ['metelli-15', 'metelli-2'])
    """
    named = _checks.labels("family", groups)
    if not isinstance(cast(object, seeds), range) or not seeds or seeds[0] < 0 or seeds[-1] < 0:
        raise InputError(f"seeds must be a range of numbers of at least 0, as in range(1000, 1005), got {seeds!r:.80}")
    quick = _checks.boolean("quick", quick)
    if longest is not None:
        longest = _checks.integer("longest", longest, low=1)
    found: list[Instance] = []
    for group in dict.fromkeys(named or GROUPS):
        one_of("family", group, GROUPS)
        make = _fixed if group in ("paper", "rested", "antmaze") else _random
        found += [
            one
            for one in make(group, seeds, quick=quick)
            if longest is None or group not in FAMILIES or one.horizon <= longest
        ]
    if not found:
        raise InputError(f"family, quick and longest must leave an instance, but leave none of {', '.join(named)}")
    return found


def _runs(spec: RunSpec) -> bool:
    """Whether the policy can start on the task. Some policies need a list of all super arms, or more rounds."""
    try:
        spec.make_policy().start(make_task(spec.task).problem, spec.horizon, 0)
    except RisingBanditsError:
        return False
    return True


@dataclass(frozen=True)
class Planned:
    """One run of the benchmark.

    Parameters
    ----------
    spec
        What to run.
    instance
        The instance it runs on.
    """

    spec: RunSpec
    instance: Instance


def benchmark_plan(found: Sequence[Instance], policies: Sequence[str] = POLICIES) -> tuple[list[Planned], list[str]]:
    """The runs of a benchmark: every policy on every instance on which it can run.

    Parameters
    ----------
    found
        The instances, as `instances` returns them.
    policies
        The policies, as `experiments.parse_policy` takes them; `POLICIES` by default.

    Returns
    -------
    tuple
        The runs, and a sentence for each policy that cannot run on some of the instances.

    >>> plan, out = benchmark_plan(instances(["flat"], quick=True), ["sw-cucb", "sw-ts"])
    >>> len(plan), out
    (6, ['sw-ts cannot run on 6 of 6 instances'])
    """
    items = _checks.listed(found)
    if items is None or not all(isinstance(item, Instance) for item in items):
        raise InputError(f"found must be a list of instances, as instances() returns them, got {found!r:.80}")
    named = _checks.labels("policies", policies)
    if not all(isinstance(name, str) for name in named):
        raise InputError(f"policies must be texts such as 'crucb', got {policies!r:.80}")
    planned: list[Planned] = []
    missing: dict[str, int] = {}
    refused: dict[tuple[str, str], bool] = {}
    for instance in items:
        for spec in make_plan([instance.text], named, seeds=1, first_seed=instance.seed):
            kind = (instance.text, spec.label)
            if kind not in refused:
                refused[kind] = not _runs(spec)
            if refused[kind]:
                missing[spec.label] = missing.get(spec.label, 0) + 1
            else:
                planned.append(Planned(spec, instance))
    lines = [f"{label} cannot run on {count} of {len(items)} instances" for label, count in missing.items()]
    return planned, lines
