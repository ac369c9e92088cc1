"""Results of the benchmark: regret as a share of the optimum by group and policy, mean ranks, and targets."""

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
"""The confidence level of intervals."""
FIXED = ("paper", "rested", "antmaze")
"""The groups whose tasks are fixed; the other groups are families of random instances."""


@dataclass(frozen=True)
class Score:
    """The result of one policy on one instance.

    Parameters
    ----------
    instance
        The instance.
    policy
        The label of the policy.
    regret
        The final regret.
    share
        The final regret as a share of the reward of the optimal constant super arm.
    """

    instance: Instance
    policy: str
    regret: float
    share: float


@dataclass(frozen=True)
class Line:
    """The results of one policy on a group of instances.

    Attributes
    ----------
    group
        The name of the group.
    policy
        The label of the policy.
    instances
        How many instances there are.
    mean
        The mean share.
    half_width
        Half the width of its 95% t-interval over draws (see `draw_of`); NaN for a single draw.
    worst
        The largest share.
    draws
        How many of the instances were drawn independently of each other.
    """

    group: str
    policy: str
    instances: int
    mean: float
    half_width: float
    worst: float
    draws: int


def scores(plan: Sequence[Planned], runs: Sequence[StoredRun]) -> list[Score]:
    """The score of every run of a benchmark.

    Parameters
    ----------
    plan
        The runs, as `benchmark_plan` returns them.
    runs
        Their results in the same order, as `experiments.run_plan` returns them.
    """
    found = []
    for item, run in zip(plan, runs, strict=True):
        regret = float(run.regret[-1])
        found.append(Score(item.instance, run.label, regret, regret / float(run.meta["optimal_total"])))
    return found


def draw_of(instance: Instance) -> tuple[str, ...]:
    """The random draw that an instance comes from; instances with the same value are not independent.

    Random instances that differ only in noise or horizon come from the same draw: they have the same structure, and
    their curves have the same shapes. Intervals are therefore computed over draws and not over instances. For a fixed
    task each seed is a draw.

    Parameters
    ----------
    instance
        The instance.
    """
    kind = instance.name if instance.group in FIXED else instance.structure
    return instance.group, kind, str(instance.seed)


def _half(scored: Sequence[tuple[tuple[str, ...], float]]) -> tuple[float, int]:
    """Half the width of the interval of a mean over draws, and the number of draws."""
    draws: dict[tuple[str, ...], list[float]] = {}
    for draw, value in scored:
        draws.setdefault(draw, []).append(value)
    means = np.array([np.mean(values) for values in draws.values()])
    return float(half_width(means, LEVEL)), means.size


def lines(found: Sequence[Score], group: Callable[[Instance], str | None]) -> list[Line]:
    """Means, intervals and worst cases of each policy by group of instances, the best policy of a group first.

    Parameters
    ----------
    found
        The scores, as `scores` returns them.
    group
        A function that names the group of an instance; instances for which it returns None are left out.
    """
    groups: dict[tuple[str, str], list[tuple[tuple[str, ...], float]]] = {}
    for score in found:
        name = group(score.instance)
        if name is not None:
            groups.setdefault((name, score.policy), []).append((draw_of(score.instance), score.share))
    rows = []
    for (name, policy), scored in groups.items():
        values = np.array([share for _, share in scored])
        half, draws = _half(scored)
        rows.append(Line(name, policy, values.size, float(values.mean()), half, float(values.max()), draws))
    order = {name: place for place, name in enumerate(dict.fromkeys(row.group for row in rows))}
    return sorted(rows, key=lambda row: (order[row.group], row.mean))


def by_group(instance: Instance) -> str:
    """The group of an instance in tables: its own name for a fixed task, its family for a random instance."""
    return instance.name if instance.group in FIXED else instance.group


def by(attribute: str) -> Callable[[Instance], str | None]:
    """A function for `lines` that groups random instances by an attribute and leaves out fixed tasks.

    Parameters
    ----------
    attribute
        ``structure``, ``noise`` or ``horizon``.
    """
    return lambda instance: None if instance.group in FIXED else str(getattr(instance, attribute))


def ranks(found: Sequence[Score]) -> dict[str, tuple[float, float]]:
    """The mean rank of each policy over all instances on which every policy ran, the best policy first.

    Policies with equal regret on an instance share the mean of their ranks.

    Parameters
    ----------
    found
        The scores, as `scores` returns them.

    Returns
    -------
    dict
        For each policy its mean rank and half the width of the 95% interval.

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
    placed: dict[str, list[tuple[tuple[str, ...], float]]] = {policy: [] for policy in policies}
    for instance, shares in table.items():
        if len(shares) < len(policies):
            continue
        for policy in policies:
            better = sum(value < shares[policy] for value in shares.values())
            equal = sum(value == shares[policy] for value in shares.values())
            placed[policy].append((draw_of(instance), better + (equal + 1) / 2))
    means = {
        policy: (float(np.mean([place for _, place in places])), _half(places)[0])
        for policy, places in placed.items()
        if places
    }
    return dict(sorted(means.items(), key=lambda item: item[1][0]))


@dataclass(frozen=True)
class Target:
    """A target that a policy should meet, and the number that decides whether it does.

    Parameters
    ----------
    text
        What is measured.
    value
        The measured number.
    limit
        The target is met if ``value`` is at most this.
    low, high
        The ends of a 95% bootstrap interval of ``value``; NaN where there are too few draws for one.
    """

    text: str
    value: float
    limit: float
    low: float = math.nan
    high: float = math.nan

    @property
    def held(self) -> bool:
        """Whether the target is met."""
        return self.value <= self.limit


def _interval(found: Sequence[Score], ours: str, theirs: str) -> tuple[float, float]:
    """A 95% bootstrap interval of the ratio of two policies' mean shares, resampling whole draws."""
    draws: dict[tuple[str, ...], list[list[float]]] = {}
    for score in found:
        if score.policy in (ours, theirs):
            pair = draws.setdefault(draw_of(score.instance), [[], []])
            pair[score.policy == theirs].append(score.share)
    if len(draws) < _FEW:
        return math.nan, math.nan
    sums = np.array([[sum(pair[0]), sum(pair[1])] for pair in draws.values()])
    chosen = np.random.default_rng(0).integers(0, len(sums), (2_000, len(sums)))
    totals = sums[chosen].sum(axis=1)
    low, high = np.quantile(totals[:, 0] / totals[:, 1], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


OWN = ("foresight", "horizon-crucb")
"""The policies of this library itself, which are no rivals."""
_FEW = 5
"""The least number of draws for a bootstrap interval."""
_SIX = tuple(f"{task}-{level}" for task in ("path", "matching", "spanning") for level in ("easy", "complex"))


def targets(found: Sequence[Score], ours: str = "foresight") -> list[Target]:
    """The targets of the recommended policy that can be judged from these scores.

    Each is a ratio of the policy's mean regret, or mean share, to that of another policy, with a limit. Rivals are all
    policies but the library's own ones, `OWN`.

    Parameters
    ----------
    found
        The scores, as `scores` returns them.
    ours
        The label of the policy that is judged.
    """
    regret: dict[tuple[str, str], list[float]] = {}
    for score in found:
        regret.setdefault((score.instance.name, score.policy), []).append(score.regret)
    means = {key: float(np.mean(values)) for key, values in regret.items()}
    judged = []
    for name in (*_SIX, "k-max"):
        if (name, ours) in means and (name, "crucb") in means:
            text = f"{name}: regret of {ours} over that of crucb"
            limit = 1 / 30 if name == "k-max" else 1 / 80
            judged.append(Target(text, means[name, ours] / means[name, "crucb"], limit))
    for family in dict.fromkeys(score.instance.group for score in found if score.instance.group not in FIXED):
        mine = [score for score in found if score.instance.group == family]
        judged += _beside_the_best(mine, ours, family, 1.2)
        for horizon in sorted({score.instance.horizon for score in mine}):
            there = [score for score in mine if score.instance.horizon == horizon]
            judged += _beside_the_best(there, ours, f"{family}, {horizon} rounds", 1.5)
    return judged


def _beside_the_best(found: Sequence[Score], ours: str, where: str, limit: float) -> list[Target]:
    """The share of our policy over that of the best rival on some instances; nothing if there is no rival."""
    shares = {line.policy: line.mean for line in lines(found, lambda instance: where)}
    rivals = {policy: share for policy, share in shares.items() if policy.partition("(")[0] not in OWN}
    if ours not in shares or not rivals:
        return []
    best = min(rivals, key=lambda policy: rivals[policy])
    text = f"{where}: share of {ours} over that of the best rival ({best})"
    return [Target(text, shares[ours] / rivals[best], limit, *_interval(found, ours, best))]


def frontier(found: Sequence[Score]) -> dict[str, tuple[float, float]]:
    """For each policy its mean share on the paper's tasks and its mean share on benign families.

    Benign families are all random families except ``late``. Policies without scores on both kinds are left out.

    Parameters
    ----------
    found
        The scores, as `scores` returns them.
    """
    points = {}
    for policy in dict.fromkeys(score.policy for score in found):
        mine = [score for score in found if score.policy == policy]
        paper = [score.share for score in mine if score.instance.group == "paper"]
        benign = [score.share for score in mine if score.instance.group not in (*FIXED, "late")]
        if paper and benign:
            points[policy] = (float(np.mean(paper)), float(np.mean(benign)))
    return points


def as_data(found: Sequence[Score], settings: dict[str, Any]) -> dict[str, Any]:
    """All results of a benchmark as plain data for a JSON file.

    Parameters
    ----------
    found
        The scores, as `scores` returns them.
    settings
        Facts about the benchmark to keep with its results, such as the command and the version.

    Returns
    -------
    dict
        The settings, the results by group and by structure, noise and horizon, the ranks, the two shares of `frontier`,
        the targets, the policies, and for each instance the share of every policy.
    """
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
    """A share with five significant digits; None if there is none."""
    return None if share is None or math.isnan(share) else float(f"{share:.5g}")
