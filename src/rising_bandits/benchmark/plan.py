"""The benchmark as a plan: which instances, which policies, and which runs a policy has to sit out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rising_bandits.benchmark.suite import EDITION, FAMILIES, HORIZONS, NOISES, STRUCTURES, one_of
from rising_bandits.errors import InputError, RisingBanditsError
from rising_bandits.experiments import RunSpec, make_plan, make_task
from rising_bandits.problems import recorded

POLICIES = (
    "horizon-crucb",
    "horizon-crucb(decay=0.0)",
    "crucb",
    "crucb(bonus='reference')",
    "sw-cucb",
    "sw-cts",
)
"""What is compared unless told otherwise: the policies on base arms, which run on instances of any size."""
PAPER = (
    "toy",
    *(f"{task}-{level}" for task in ("path", "matching", "spanning") for level in ("easy", "complex")),
    "k-max",
)
RESTED = ("metelli-15", "metelli-2")
GROUPS = ("paper", "rested", "antmaze", *FAMILIES)
"""What ``--family`` may name: tasks that are fixed, then the families of random curves."""


@dataclass(frozen=True)
class Instance:
    """A task with where it belongs; ``text`` is what a run calls it by."""

    text: str
    name: str
    group: str
    structure: str
    noise: str
    horizon: int
    seed: int
    """Of the run, and for random instances also of the instance."""


def seeds_of(text: str) -> range:
    """Seeds as the command line takes them, both ends included.

    >>> seeds_of("1000-1004"), seeds_of("7")
    (range(1000, 1005), range(7, 8))
    """
    first, dash, last = text.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()) or (dash and int(last) < int(first)):
        raise InputError(f"seeds must look like 1000-1004 or 7, got {text!r}")
    return range(int(first), int(last if dash else first) + 1)


def _fixed(group: str, seeds: range, *, quick: bool) -> list[Instance]:
    """Instances that are the same for every seed, as far as this installation knows them."""
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
    """Every structure and noise at 5 000 and 50 000 rounds; at 500 000, in turn, two structures with a noise each."""
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
    """The instances of the groups (all by default) and seeds; random ones of more than ``longest`` rounds are left out.

    >>> len(instances(["late"])), [found.name for found in instances(["rested"])]
    (26, ['metelli-15', 'metelli-2'])
    """
    found: list[Instance] = []
    for group in dict.fromkeys(groups or GROUPS):
        one_of("family", group, GROUPS)
        make = _fixed if group in ("paper", "rested", "antmaze") else _random
        found += [
            one
            for one in make(group, seeds, quick=quick)
            if longest is None or group not in FAMILIES or one.horizon <= longest
        ]
    if not found:
        raise InputError(f"there are no instances of {', '.join(groups)} here")
    return found


def _runs(spec: RunSpec) -> bool:
    """Whether the policy can run at all: some need every super arm listed, or more rounds than there are."""
    try:
        spec.make_policy().start(make_task(spec.task).problem, spec.horizon, 0)
    except RisingBanditsError:
        return False
    return True


@dataclass(frozen=True)
class Planned:
    """A run of the benchmark: its spec and its instance."""

    spec: RunSpec
    instance: Instance


def benchmark_plan(found: Sequence[Instance], policies: Sequence[str] = POLICIES) -> tuple[list[Planned], list[str]]:
    """A run for every instance and policy, and a line for each policy that has to sit some out.

    >>> plan, out = benchmark_plan(instances(["flat"], quick=True), ["sw-cucb", "sw-ts"])
    >>> len(plan), out
    (6, ['sw-ts cannot run on 6 of 6 instances'])
    """
    planned: list[Planned] = []
    missing: dict[str, int] = {}
    refused: dict[tuple[str, str], bool] = {}
    for instance in found:
        for spec in make_plan([instance.text], policies, seeds=1, first_seed=instance.seed):
            kind = (instance.text, spec.label)
            if kind not in refused:
                refused[kind] = not _runs(spec)
            if refused[kind]:
                missing[spec.label] = missing.get(spec.label, 0) + 1
            else:
                planned.append(Planned(spec, instance))
    lines = [f"{label} cannot run on {count} of {len(found)} instances" for label, count in missing.items()]
    return planned, lines
