"""What the runs of the benchmark say: regret as a share of the optimum, by group and policy, and ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rising_bandits.benchmark.plan import Instance, Planned
from rising_bandits.experiments import StoredRun
from rising_bandits.experiments.statistics import half_width

LEVEL = 0.95
FIXED = ("paper", "rested", "antmaze")


@dataclass(frozen=True)
class Score:
    """One policy on one instance."""

    instance: Instance
    policy: str
    regret: float
    share: float
    """Regret as a share of what the optimal constant super arm earns."""


@dataclass(frozen=True)
class Line:
    """One policy on a group of instances."""

    group: str
    policy: str
    instances: int
    mean: float
    half_width: float
    """Of the 95% t-interval of the mean over instances; NaN for a single one."""
    worst: float


def scores(plan: Sequence[Planned], runs: Sequence[StoredRun]) -> list[Score]:
    """Every run that belongs to a policy, scored against the optimum of its instance."""
    played = {item.instance: run.reward[-1] for item, run in zip(plan, runs, strict=True) if item.comparator}
    found = []
    for item, run in zip(plan, runs, strict=True):
        if item.comparator:
            continue
        total = float(played.get(item.instance, run.meta["optimal_total"]))
        regret = float(total - run.reward[-1])
        found.append(Score(item.instance, run.label, regret, regret / total))
    return found


def lines(found: Sequence[Score], group: Callable[[Instance], str | None]) -> list[Line]:
    """Means, intervals and worst cases, group by group and best policy first; a group of None is left out."""
    groups: dict[tuple[str, str], list[float]] = {}
    for score in found:
        name = group(score.instance)
        if name is not None:
            groups.setdefault((name, score.policy), []).append(score.share)
    rows = []
    for (name, policy), shares in groups.items():
        values = np.array(shares)
        rows.append(
            Line(name, policy, values.size, float(values.mean()), float(half_width(values, LEVEL)), float(values.max()))
        )
    order = {name: place for place, name in enumerate(dict.fromkeys(row.group for row in rows))}
    return sorted(rows, key=lambda row: (order[row.group], row.mean))


def by_group(instance: Instance) -> str:
    """Tasks that are fixed one by one, random instances by family."""
    return instance.name if instance.group in FIXED else instance.group


def by(attribute: str) -> Callable[[Instance], str | None]:
    """Random instances by structure, noise or horizon."""
    return lambda instance: None if instance.group in FIXED else str(getattr(instance, attribute))


def ranks(found: Sequence[Score]) -> dict[str, tuple[float, float]]:
    """Mean rank of each policy over all instances that every policy ran on, with half its interval; ties share.

    >>> one, two = (Instance("t", "t", "flat", "path", "none", 10, seed) for seed in (0, 1))
    >>> shares = [(one, "a", 0.1), (one, "b", 0.2), (two, "a", 0.1), (two, "b", 0.1)]
    >>> found = ranks([Score(instance, policy, share, share) for instance, policy, share in shares])
    >>> [(policy, mean) for policy, (mean, _) in found.items()]
    [('a', 1.25), ('b', 1.75)]
    """
    policies = list(dict.fromkeys(score.policy for score in found))
    table: dict[Instance, dict[str, float]] = {}
    for score in found:
        table.setdefault(score.instance, {})[score.policy] = score.share
    placed: dict[str, list[float]] = {policy: [] for policy in policies}
    for shares in table.values():
        if len(shares) < len(policies):
            continue
        for policy in policies:
            better = sum(value < shares[policy] for value in shares.values())
            equal = sum(value == shares[policy] for value in shares.values())
            placed[policy].append(better + (equal + 1) / 2)
    means = {
        policy: (float(np.mean(places)), float(half_width(np.array(places), LEVEL)))
        for policy, places in placed.items()
        if places
    }
    return dict(sorted(means.items(), key=lambda item: item[1][0]))


@dataclass(frozen=True)
class Target:
    """Something that should hold, and the number that decides it."""

    text: str
    value: float
    limit: float

    @property
    def held(self) -> bool:
        """Whether it does."""
        return self.value <= self.limit


_SIX = tuple(f"{task}-{level}" for task in ("path", "matching", "spanning") for level in ("easy", "complex"))


def targets(found: Sequence[Score]) -> list[Target]:
    """What the new policy is held to, as far as these runs can tell: ratios of mean regrets and of mean shares."""
    regret: dict[tuple[str, str], list[float]] = {}
    for score in found:
        regret.setdefault((score.instance.name, score.policy), []).append(score.regret)
    means = {key: float(np.mean(values)) for key, values in regret.items()}
    judged = []
    for policy, limit, names in (
        ("horizon-crucb", 1 / 30, _SIX),
        ("horizon-crucb", 1 / 2, ("k-max",)),
        ("horizon-crucb(decay=0.0)", 1 / 10, _SIX),
    ):
        for name in names:
            if (name, policy) in means and (name, "crucb") in means:
                text = f"{name}: regret of {policy} over that of crucb"
                judged.append(Target(text, means[name, policy] / means[name, "crucb"], limit))
    shares: dict[str, dict[str, float]] = {}
    for line in lines(found, lambda instance: None if instance.group in FIXED else instance.group):
        shares.setdefault(line.group, {})[line.policy] = line.mean
    for family, row in shares.items():
        others = {policy: value for policy, value in row.items() if not policy.startswith("horizon-crucb")}
        if "horizon-crucb" in row and others:
            best = min(others, key=lambda policy: others[policy])
            text = f"{family}: share of horizon-crucb over that of the best baseline ({best})"
            judged.append(Target(text, row["horizon-crucb"] / others[best], 1.5))
            if "crucb" in others:
                text = f"{family}: share of horizon-crucb over that of crucb"
                judged.append(Target(text, row["horizon-crucb"] / others["crucb"], 1.0))
    return judged


def frontier(found: Sequence[Score]) -> dict[str, tuple[float, float]]:
    """Of each policy: its mean share on the paper's tasks, and on the random families other than late bloomers."""
    points = {}
    for policy in dict.fromkeys(score.policy for score in found):
        mine = [score for score in found if score.policy == policy]
        paper = [score.share for score in mine if score.instance.group == "paper"]
        benign = [score.share for score in mine if score.instance.group not in (*FIXED, "late")]
        if paper and benign:
            points[policy] = (float(np.mean(paper)), float(np.mean(benign)))
    return points


def as_data(found: Sequence[Score], settings: dict[str, Any]) -> dict[str, Any]:
    """Everything as plain data for a file, with the share of every policy on every instance."""
    policies = list(dict.fromkeys(score.policy for score in found))
    table: dict[Instance, dict[str, float]] = {}
    for score in found:
        table.setdefault(score.instance, {})[score.policy] = score.share
    kept = ("name", "group", "structure", "noise", "horizon", "seed")
    return {
        "settings": settings,
        "groups": [asdict(line) for line in lines(found, by_group)],
        "by": {name: [asdict(line) for line in lines(found, by(name))] for name in ("structure", "noise", "horizon")},
        "ranks": {policy: list(pair) for policy, pair in ranks(found).items()},
        "frontier": {policy: list(pair) for policy, pair in frontier(found).items()},
        "targets": [{**asdict(target), "held": target.held} for target in targets(found)],
        "policies": policies,
        "instances": [
            [*(getattr(instance, name) for name in kept), *(_rounded(shares.get(policy)) for policy in policies)]
            for instance, shares in table.items()
        ],
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None or math.isnan(share) else float(f"{share:.5g}")
