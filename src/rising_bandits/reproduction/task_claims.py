"""The paper's claims about synthetic tasks, each judged by the numbers of the present runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.curves import Flat
from rising_bandits.experiments import StoredRun, group
from rising_bandits.plots.names import title
from rising_bandits.problems import tasks
from rising_bandits.reproduction.judging import (
    ALPHA,
    LEVEL,
    Claim,
    Paired,
    compare,
    judged,
    larger,
    lowest,
    number_text,
    p_text,
)
from rising_bandits.reproduction.sections import HALVED, REFERENCE
from rising_bandits.theory import optimal_constant

BASELINES = ("r-ed-ucb", "sw-ucb", "sw-cucb", "sw-ts", "sw-cts")
"""The policies that the paper compares CRUCB with."""
TOY_BASELINES = ("sw-cucb", "r-ed-ucb")
"""The baselines in the paper's figure of the toy task."""
SIDE_BY_SIDE = {"sw-ucb": "sw-cucb", "sw-ts": "sw-cts"}
"""The sliding-window policies on super arms, each with the one on base arms."""
FIGURES = {
    "toy": "Figure 1",
    "path-easy": "Figure 5",
    "path-complex": "Figure 5",
    "k-max": "Figure 9",
    "matching-easy": "Figure 11",
    "matching-complex": "Figure 11",
    "spanning-easy": "Figure 13",
    "spanning-complex": "Figure 13",
}
"""The figure of the paper with the regret on each task."""
BONUSES = {"crucb": "30 log t, as printed", REFERENCE: "4 log t, as in the authors' program"}
"""What each bonus is called everywhere in the report."""
_FLAT = 1e-3
"""A regret per round below which a curve counts as flat."""
_STEADY = 2.0
"""Regret is called linear if its two halves rise alike, up to this factor."""
_POINT = 0.01
"""Two mean shares of plays that differ by less are called level."""
_MOSTLY = 0.9
"""The share of plays from which on a policy is said to play certain arms."""


def finals(runs: Sequence[StoredRun], task: str) -> dict[str, Floats]:
    """The final regret of every seed on a task, by policy, in the order of seeds."""
    return {
        label: np.array([run.regret[-1] for run in sorted(members, key=lambda run: run.spec.seed)])
        for (name, label), members in group(runs).items()
        if name == task
    }


def task_claims(runs: Sequence[StoredRun], task: str) -> list[Claim]:
    """The claims about a task.

    They are that CRUCB has the least regret, once with the printed bonus and once with that of the authors' program,
    and what else the paper says about the task.
    """
    regret = finals(runs, task)
    if task == "toy":
        # The paper's figure has two baselines; the comparison with all five is a check of ours.
        claims = [least_regret(regret, label, task, TOY_BASELINES, (FIGURES[task],)) for label in BONUSES]
        return claims + [least_regret(regret, label, task, BASELINES, ()) for label in BONUSES] + _toy(runs)
    claims = [least_regret(regret, label, task, BASELINES, (FIGURES[task],)) for label in BONUSES]
    if task in ("path-easy", "path-complex"):
        claims.append(_late_path(task))
    if task in ("path-easy", "path-complex", "k-max"):
        claims.append(super_beat_base(regret, task, (FIGURES[task],)))
    if task in ("path-easy", "path-complex"):
        claims.append(_late_plays(runs, task))
    if task == "path-complex":
        claims.append(_nearly_linear(runs))
    if task == "k-max":
        claims += _k_max(runs)
    return claims


def least_regret(
    regret: Mapping[str, Floats], ours: str, task: str, rivals: Sequence[str], items: tuple[str, ...]
) -> Claim:
    """The claim that CRUCB with a bonus has less regret than every rival."""
    tests = compare(regret, ours, rivals)
    mean = {name: float(values.mean()) for name, values in regret.items()}
    best = min(rivals, key=mean.__getitem__)
    than = "the five baselines" if len(rivals) == len(BASELINES) else " and ".join(map(title, rivals))
    return Claim(
        f"{task}: CRUCB has less regret than {than} (bonus {BONUSES[ours]})",
        lowest(tests),
        f"CRUCB {mean[ours]:,.0f}, best baseline {title(best)} {mean[best]:,.0f}: "
        f"{in_words('crucb', best, tests[best])}; held needs at least {LEVEL:.0%} less than each baseline with "
        f"corrected p ≤ {ALPHA:g}",
        items,
    )


def _late_path(task: str) -> Claim:
    """The claim that the best path consists of late bloomers only."""
    best = optimal_constant(tasks.get(task)).super_arm
    early = [int(arm) for arm in best if isinstance(tasks.get(task).curves[arm], Flat)]
    return Claim(
        f"{task}: the best path consists of late bloomers only (Section 6.1)",
        judged(not early),
        f"found by the solver: edges {', '.join(map(str, best))}; early peakers among them: "
        f"{', '.join(map(str, early)) or 'none'}",
        (FIGURES[task],),
    )


def _late_plays(runs: Sequence[StoredRun], task: str) -> Claim:
    """The claim that sliding-window policies on base arms give late bloomers fewer plays than those on super arms."""
    late = np.array([not isinstance(curve, Flat) for curve in tasks.get(task).curves])
    share: dict[str, Floats] = {}
    for label in (label for pair in SIDE_BY_SIDE.items() for label in pair):
        plays = np.array([run.plays_at[-1] for run in runs if run.spec.task == task and run.label == label], float)
        share[label] = plays[:, late].sum(axis=1) / np.maximum(plays.sum(axis=1), 1.0)
    apart = [float(share[whole].mean() - share[base].mean()) for whole, base in SIDE_BY_SIDE.items()]
    verdict = judged(min(apart) >= 0.0) if min(apart) <= -_POINT or min(apart) >= _POINT else "level"
    return Claim(
        f"{task}: SW-CUCB and SW-CTS play late bloomers less than SW-UCB and SW-TS do (Section 6.1)",
        verdict,
        "share of plays on late bloomers, mean and range over seeds: "
        + ", ".join(
            f"{title(label)} {values.mean():.1%} ({values.min():.1%} to {values.max():.1%})"
            for label, values in share.items()
        )
        + f"; held needs at least {_POINT:.0%} of all plays more for SW-UCB than SW-CUCB, and for SW-TS than SW-CTS",
        (FIGURES[task],),
    )


def _nearly_linear(runs: Sequence[StoredRun]) -> Claim:
    """The claim that the regret of CRUCB on the complex path task is nearly linear."""
    slopes = {}
    for label in BONUSES:
        mine = [late_slope(run) for run in runs if run.spec.task == "path-complex" and run.label == label]
        slopes[label] = np.mean(mine, axis=0)
    return Claim(
        "path-complex: the regret of CRUCB appears nearly linear (Appendix E.1)",
        judged(all(1.0 / _STEADY < late / first < _STEADY for late, first in slopes.values())),
        "regret per round over the second and the first half: "
        + ", ".join(f"{late:.3f} and {first:.3f} (bonus {BONUSES[label]})" for label, (late, first) in slopes.items())
        + f"; held needs the two within a factor of {_STEADY:g}",
        ("Figure 5", "Appendix E.1"),
    )


def _shares(plays: Mapping[str, Floats], labels: Iterable[str]) -> str:
    """The shares of rounds with each arm, by policy."""
    return "; ".join(f"{title(label)} {', '.join(f'{share:.0%}' for share in plays[label])}" for label in labels)


def _k_max(runs: Sequence[StoredRun]) -> list[Claim]:
    """What the paper says about which arms are played on the task k-max; it numbers arms from 1."""
    found: dict[tuple[str, str], list[Floats]] = {}
    for run in runs:
        found.setdefault((run.spec.task, run.label), []).append(run.plays_at[-1] / run.spec.horizon)
    plays = {label: np.mean(found["k-max", label], axis=0) for label in ("sw-ucb", "sw-ts", "sw-cucb", "sw-cts")}
    halved = {label: np.mean(found[task, label], axis=0) for task, label in found if task == HALVED}
    best = [int(arm) + 1 for arm in optimal_constant(tasks.get("k-max")).super_arm]
    both = {label: float(plays[label][3:].sum() / 2.0) for label in ("sw-cucb", "sw-cts")}
    seen = [("k-max", plays)] + ([("k-max, if policies on super arms see max/2", halved)] if halved else [])
    return [
        Claim(
            "k-max: the best constant super arm is (1, 5) (Appendix F.1)",
            judged(best == [1, 5]),
            f"found by trying all ten: ({', '.join(map(str, best))})",
            ("Figure 9",),
        ),
        Claim(
            "k-max: SW-CUCB and SW-CTS select the early peakers (4, 5) (Appendix F.1)",
            judged(all(share > _MOSTLY for share in both.values())),
            "share of their plays on arms 4 and 5: "
            + ", ".join(f"{title(label)} {share:.1%}" for label, share in both.items())
            + f"; held needs more than {_MOSTLY:.0%}",
            ("Figure 9",),
        ),
        *(
            Claim(
                f"{task}: SW-UCB and SW-TS select arm 5 frequently and explore the others evenly (Appendix F.1)",
                judged(all(_last_and_even(shares[label]) for label in ("sw-ucb", "sw-ts"))),
                f"share of rounds with arms 1 to 5: {_shares(shares, ('sw-ucb', 'sw-ts'))}; held needs arm 5 in more "
                "than half, and each other arm within a factor of 2 of their mean",
                ("Figure 9",),
            )
            for task, shares in seen
        ),
    ]


def _last_and_even(shares: Floats) -> bool:
    """Whether the last arm is in most rounds, and the others in about equally many."""
    others = shares[:-1] / shares[:-1].mean()
    return bool(shares[-1] > 0.5 and others.min() >= 0.5 and others.max() <= 2.0)


def in_words(ours: str, theirs: str, test: Paired) -> str:
    """A comparison in words: which of two policies is lower by how much, on how many seeds, and how sure that is.

    >>> in_words("crucb", "sw-ts", Paired(-225.0, -0.271, 10, 0, 0.0004))
    'SW-TS is 27.1% lower; CRUCB is lower on 0 of 10 seeds; p < 0.001'
    """
    lower = ours if test.difference > 0 else theirs
    sure = "no p, because all seeds give the same" if np.isnan(test.p) else f"p {p_text(test)}"
    return (
        f"{title(lower)} is {abs(test.share):.1%} lower; {title(ours)} is lower on {test.lower} of {test.seeds} seeds; "
        f"{sure}"
    )


def super_beat_base(regret: Mapping[str, Floats], task: str, items: tuple[str, ...]) -> Claim:
    """The claim that the sliding-window policies on super arms do better than those on base arms."""
    tests = {ours: compare(regret, ours, [theirs])[theirs] for ours, theirs in SIDE_BY_SIDE.items()}
    mean = {name: float(values.mean()) for name, values in regret.items()}
    return Claim(
        f"{task}: SW-UCB and SW-TS do better than SW-CUCB and SW-CTS",
        lowest(tests),
        "; ".join(
            f"{title(ours)} {mean[ours]:,.0f} and {title(theirs)} {mean[theirs]:,.0f} "
            f"({in_words(ours, theirs, tests[ours])})"
            for ours, theirs in SIDE_BY_SIDE.items()
        )
        + f"; held needs at least {LEVEL:.0%} less with p ≤ {ALPHA:g} in both",
        items,
    )


def late_slope(run: StoredRun) -> tuple[float, float]:
    """The regret per round over the second and over the first half of a run."""
    half = int(np.searchsorted(run.rounds, run.spec.horizon // 2))
    late = (run.regret[-1] - run.regret[half]) / (run.rounds[-1] - run.rounds[half])
    return float(late), float(run.regret[half] / run.rounds[half])


def _toy(runs: Sequence[StoredRun]) -> list[Claim]:
    """The claims about the toy task."""
    by = {label: members[0] for (name, label), members in group(runs).items() if name == "toy"}
    slopes = {label: late_slope(by[label]) for label in ("crucb", "sw-cucb", "r-ed-ucb")}
    linear = [slopes["sw-cucb"], slopes["r-ed-ucb"]]
    early = {label: float(run.plays_at[-1][1] / run.spec.horizon) for label, run in by.items()}
    return [
        Claim(
            "toy: the regret of CRUCB becomes nearly flat",
            judged(slopes["crucb"][0] < _FLAT),
            f"regret per round over the second half of the run: {slopes['crucb'][0]:.2g}; held needs less than "
            f"{_FLAT:g}",
            ("Figure 1",),
        ),
        Claim(
            "toy: the regret of SW-CUCB and R-ed-UCB is linear",
            judged(all(late > _FLAT and 1.0 / _STEADY < late / first < _STEADY for late, first in linear)),
            "regret per round over the second and the first half: "
            + ", ".join(
                f"{title(label)} {slopes[label][0]:.4f} and {slopes[label][1]:.4f}" for label in ("sw-cucb", "r-ed-ucb")
            )
            + f"; held needs the two within a factor of {_STEADY:g}",
            ("Figure 1",),
        ),
        Claim(
            "toy: CRUCB plays the late edge, SW-CUCB the early one, and R-ed-UCB splits its plays roughly evenly",
            judged(early["crucb"] < 1.0 - _MOSTLY and early["sw-cucb"] > _MOSTLY and 0.25 < early["r-ed-ucb"] < 0.75),
            f"share of plays of the early edge: CRUCB {early['crucb']:.1%}, SW-CUCB {early['sw-cucb']:.1%}, "
            f"R-ed-UCB {early['r-ed-ucb']:.1%}; held needs below 10%, above 90%, and 25% to 75%",
            ("Figure 1",),
        ),
    ]


def gap_claims(runs: Sequence[StoredRun]) -> list[Claim]:
    """The claims that gaps to baselines are larger in the complex path task than in the easy one."""
    gaps: dict[str, list[Floats]] = {}
    for task in ("path-easy", "path-complex"):
        optimum = float(next(run for run in runs if run.spec.task == task).meta["optimal_total"])
        share = {label: values / optimum for label, values in finals(runs, task).items()}
        for ours, words in BONUSES.items():
            text = f"the gap between CRUCB and R-ed-UCB is larger in path-complex than in path-easy (bonus {words})"
            gaps.setdefault(text, []).append(share["r-ed-ucb"] - share[ours])
        few = min(len(share[label]) for pair in SIDE_BY_SIDE.items() for label in pair)
        ahead = np.mean([share[base][:few] - share[whole][:few] for whole, base in SIDE_BY_SIDE.items()], axis=0)
        text = "SW-UCB and SW-TS are ahead of SW-CUCB and SW-CTS by more in path-complex than in path-easy"
        gaps.setdefault(text, []).append(ahead)
    claims = []
    for text, (easy, hard) in gaps.items():
        verdict, p = larger(hard, easy)
        claims.append(
            Claim(
                text,
                verdict,
                f"mean gap as a share of what the best path earns: {easy.mean():.2%} in path-easy, {hard.mean():.2%} "
                f"in path-complex; p {number_text(p)} (Welch's t-test, {easy.size} and {hard.size} seeds); held needs "
                f"p ≤ {ALPHA:g}",
                ("Figure 5",),
            )
        )
    return claims
