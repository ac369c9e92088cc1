"""The paper's claims about AntMaze, judged by the numbers of trained runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.plots.trained import name_of
from rising_bandits.reproduction.judging import (
    ALPHA,
    VERDICTS,
    Claim,
    Verdict,
    compare,
    holm,
    judged,
    lowest,
    number_text,
    p_text,
    paired,
)
from rising_bandits.reproduction.trained import AUTHORS, LAST, PAPER, Trained

FEW = 5
"""With fewer common seeds than the paper has, an order of policies is not judged."""
BASELINES = PAPER[1:]
"""The policies that the paper compares CRUCB with."""
SLIDING = PAPER[2:]
"""Those of them with a sliding window."""
_HALF = 0.5
_DETOUR = 1
"""In the easy maze the place of the detour among the paths: the second one that no wall blocks."""
_FOUND = 50
"""From how many tries of its last own edge on a policy counts as having found the detour."""
_NEARER = 0.02
"""By how much two distances of positions must differ; they are means over runs, so there is no test."""


def finals(one: Trained, seeds: Sequence[int]) -> dict[str, Floats]:
    """The final regret of each policy that has these seeds, one number per seed."""
    return {label: rows[:, -1] for label, rows in one.table(seeds).items()}


def wall_share(one: Trained, label: str, seeds: Sequence[int]) -> float:
    """The share of a policy's last episodes that chose a path into a wall."""
    late = one.mean("late", seeds)[label]
    return float(late[~one.walkable].sum() / late.sum())


def optimal_share(one: Trained, label: str, seeds: Sequence[int]) -> float:
    """The share of a policy's last episodes on the constant optimal path."""
    late = one.mean("late", seeds)[label]
    return float(late[0] / late.sum())


def by_seed(one: Trained, label: str, seeds: Sequence[int], paths: Bools) -> str:
    """The share of a policy's last episodes on some paths: the mean over seeds, and in brackets every seed's."""
    shares = [float(run.late[paths].sum() / run.late.sum()) for run in one.of(label, seeds)]
    return f"{np.mean(shares):.0%} ({', '.join(f'{share:.0%}' for share in shares)})"


def effective_paths(chosen: Floats) -> float:
    """How many paths were in use: e to the entropy of the choices, which is n if n paths were chosen equally often.

    >>> round(effective_paths(np.array([5.0, 5.0, 0.0])), 6)
    2.0
    """
    share = chosen[chosen > 0] / chosen.sum()
    return float(np.exp(-(share * np.log(share)).sum()))


def apart(first: Ints | Floats, second: Ints | Floats) -> float:
    """How far two counts are apart as shares, in total variation: from 0 (the same) to 1 (disjoint).

    >>> apart(np.array([1, 1, 0]), np.array([0, 2, 2]))
    0.5
    """
    return float(0.5 * np.abs(first / first.sum() - second / second.sum()).sum())


def distance(one: Trained, label: str) -> float:
    """How far a policy's positions are from those of the constant optimal path, from 0 (the same) to 1 (disjoint).

    It is the total variation distance of the shares of steps in each cell, over all episodes.
    """
    return apart(one.positions[label][-1], one.positions["oracle"][-1])


def _nearest(one: Trained, ours: str, rivals: Sequence[str], seeds: Sequence[int]) -> tuple[Verdict, str]:
    """Whether a policy explores more like the constant optimal path than all rivals, and the numbers that decide it.

    It must be nearer in visited positions, in tries of edges and in tries of paths. The latter two are compared seed by
    seed.
    """
    place = {label: distance(one, label) for label in (ours, *rivals)}
    gap = min(place[label] for label in rivals) - place[ours]
    verdicts = [judged(gap > 0.0) if abs(gap) >= _NEARER else "level"]
    words = ["positions " + ", ".join(f"{name_of(label)} {value:.2f}" for label, value in place.items())]
    for name, kind in (("edges", "tries of edges"), ("paths", "tries of paths")):
        best = {run.seed: getattr(run, name)[-1] for run in one.of("oracle", seeds)}
        far = {
            label: np.array([apart(getattr(run, name)[-1], best[run.seed]) for run in one.of(label, seeds)])
            for label in (ours, *rivals)
        }
        tests = compare(far, ours, rivals)
        mean = {label: float(values.mean()) for label, values in far.items()}
        near = min(rivals, key=mean.__getitem__)
        verdicts.append(lowest(tests))
        words.append(
            f"{kind} {name_of(ours)} {mean[ours]:.2f}, nearest rival {name_of(near)} {mean[near]:.2f}, "
            f"nearer on {tests[near].lower} of {len(seeds)} seeds, p {p_text(tests[near])}"
        )
    verdict, many = _enough(seeds, next(found for found in VERDICTS if found in verdicts))
    return verdict, (
        f"distance from the optimal path's shares (total variation, 0 to 1): {'; '.join(words)}; held needs positions "
        f"nearer by {_NEARER:g}, and edges and paths nearer with p ≤ {ALPHA:g} against every rival; {many}"
    )


def maze_claims(one: Trained) -> list[Claim]:
    """All claims of the paper about one of its mazes, as far as there are runs; none for other mazes."""
    if one.maze not in ("easy", "complex"):
        return []
    seeds = one.common
    missing = [name_of(label) for label in ("oracle", AUTHORS, *PAPER) if not one.seeds(label)]
    if missing:
        return [] if len(missing) > 2 else _regret(one, seeds, missing)
    claims = _regret(one, seeds, [])
    return claims + (_easy(one, seeds) if one.maze == "easy" else _complex(one, seeds))


def _enough(seeds: Sequence[int], verdict: Verdict) -> tuple[Verdict, str]:
    """The verdict if there are enough seeds, and how many there are in words."""
    if len(seeds) >= FEW:
        return verdict, f"{len(seeds)} common seeds"
    many = f"{len(seeds)} common {'seed' if len(seeds) == 1 else 'seeds'}"
    return "not judged", f"{many}, fewer than the paper's {FEW}: an order is not judged"


def _regret(one: Trained, seeds: Sequence[int], missing: Sequence[str]) -> list[Claim]:
    """The claims about regret: for the authors' rule as claims of the paper, for the printed formula as checks."""
    panel = "Figure 7b" if one.maze == "easy" else "Figure 7c"
    text = (
        f"AntMaze-{one.maze}: CRUCB has less regret than the five baselines ({panel}; CRUCB as in the authors' program)"
    )
    if missing or not seeds:
        why = f"no runs of {', '.join(missing)}" if missing else "no seed that all policies have"
        return [Claim(text, "not judged", why, ("Figure 7",))]
    regret = finals(one, seeds)
    mean = {label: float(values.mean()) for label, values in regret.items()}
    claims = []
    for ours, words, items in (
        (AUTHORS, text, ("Figure 7",)),
        (
            "crucb",
            f"AntMaze-{one.maze}: CRUCB by the printed formula, with σ = 0.0001 and ε = 1/4, has less regret than the "
            "five baselines",
            (),
        ),
    ):
        tests = compare(regret, ours, BASELINES)
        verdict, many = _enough(seeds, lowest(tests))
        best = min(BASELINES, key=mean.__getitem__)
        claims.append(
            Claim(
                words,
                verdict,
                f"{name_of(ours)} {mean[ours]:.2f}, best baseline {name_of(best)} {mean[best]:.2f}, lower on "
                f"{tests[best].lower} of {len(seeds)} seeds, corrected p {p_text(tests[best])}; {many}; "
                f"held needs p ≤ {ALPHA:g} against every baseline",
                items,
            )
        )
    if one.maze == "easy":
        ranks = sorted((AUTHORS, *BASELINES), key=mean.__getitem__)
        pairs = {f"{ours} {theirs}": (ours, theirs) for ours in (AUTHORS, "r-ed-ucb") for theirs in SLIDING}
        raw = {name: paired(regret[ours], regret[theirs]) for name, (ours, theirs) in pairs.items()}
        corrected = holm({name: test.p for name, test in raw.items()})
        verdict, many = _enough(seeds, lowest({name: replace(raw[name], p=corrected[name]) for name in pairs}))
        claims.append(
            Claim(
                "AntMaze-easy: CRUCB and R-ed-UCB have less regret than the others (Section 6.2)",
                verdict,
                ", ".join(f"{name_of(label)} {mean[label]:.2f}" for label in ranks)
                + f"; largest corrected p of the eight comparisons {number_text(max(corrected.values()))}; {many}; "
                f"held needs p ≤ {ALPHA:g} for all eight",
                ("Figure 7",),
            )
        )
    return claims


def _easy(one: Trained, seeds: Sequence[int]) -> list[Claim]:
    """What the paper says about what policies do in the easy maze."""
    late = one.mean("late", seeds)
    detour = {label: float(values[_DETOUR] / values.sum()) for label, values in late.items()}
    where = {
        label: f"{detour[label]:.0%} (optimal path {optimal_share(one, label, seeds):.0%}, into a wall "
        f"{wall_share(one, label, seeds):.0%})"
        for label in SLIDING
    }
    best = {label: optimal_share(one, label, seeds) for label in (AUTHORS, "r-ed-ucb")}
    optimal = np.arange(len(one.paths)) == 0
    own = [arm for arm in one.paths[_DETOUR] if arm not in one.paths[0]][-1]
    tries = {label: [int(run.edges[-1][own]) for run in one.of(label, seeds)] for label in (AUTHORS, *BASELINES)}
    found = [label for label, mine in tries.items() if min(mine) >= _FOUND]
    return [
        Claim(
            "AntMaze-easy: most policies find the detour (Section 6.2; CRUCB as in the authors' program)",
            judged(len(found) > len(tries) / 2),
            f"tries of edge {one.labels[own].replace('->', '→')}, to which only the detour leads, by seed: "
            + "; ".join(f"{name_of(label)} {', '.join(map(str, mine))}" for label, mine in tries.items())
            + f"; held needs {_FOUND} or more on every seed for more than half of the six policies",
            ("Figure 7",),
        ),
        Claim(
            "AntMaze-easy: sliding-window policies stay with the detour once found (Section 6.2)",
            judged(all(detour[label] > _HALF for label in SLIDING)),
            f"share of the last {LAST} episodes on the detour: "
            + ", ".join(f"{name_of(label)} {where[label]}" for label in SLIDING)
            + "; held needs more than half for all four",
            ("Figure 7",),
        ),
        Claim(
            "AntMaze-easy: CRUCB and R-ed-UCB go on to find the optimal path (Section 6.2; CRUCB as in the authors' "
            "program)",
            judged(all(share > _HALF for share in best.values())),
            f"share of the last {LAST} episodes on the optimal path, mean and by seed: "
            + ", ".join(f"{name_of(label)} {by_seed(one, label, seeds, optimal)}" for label in best)
            + "; held needs a mean of more than half for both",
            ("Figure 7",),
        ),
        *_growth(one),
    ]


def tries_until(one: Trained, arm: int, share: float, since: int = 0) -> int:
    """After how many tries, counted from ``since`` on, an edge has had this share of its rise from there on.

    Tries are counted in whole blocks.
    """
    known = ~np.isnan(one.outcomes[arm]) & (one.tries >= since)
    curve, tries = one.outcomes[arm][known], one.tries[known]
    start = curve[0] if since else 0.0
    return int(tries[np.flatnonzero(curve >= start + share * (curve.max() - start))[0]]) - since


def _growth(one: Trained) -> list[Claim]:
    """What the paper reads from the outcomes by edge: flat at 0 first, concave from there on.

    A concave curve from 0 or above reaches a tenth of its highest level within a fifth of the tries after which it
    reaches half, and half of a rise within 5/9 of the tries after which it has nine tenths.
    """
    edges = one.paths[0][:2]
    first = {arm: (tries_until(one, arm, 0.1), tries_until(one, arm, 0.5)) for arm in edges}
    rest = {arm: tuple(tries_until(one, arm, share, first[arm][0]) for share in (0.5, 0.9)) for arm in edges}
    names = {arm: f"edge {one.labels[arm].replace('->', '→')}" for arm in edges}
    return [
        Claim(
            "AntMaze-easy: outcomes stay at 0 for a while before they rise, so they are not concave (Figure 7a)",
            judged(all(tenth > half / 5.0 for tenth, half in first.values())),
            "tries until a tenth and until half of the highest mean outcome: "
            + ", ".join(f"{names[arm]} {tenth} and {half}" for arm, (tenth, half) in first.items())
            + "; a concave curve needs at most a fifth of the second number for the first",
            ("Figure 7",),
        ),
        Claim(
            "AntMaze-easy: once they rise, outcomes grow roughly like a concave curve (Figure 7a)",
            judged(all(half <= 5.0 / 9.0 * most for half, most in rest.values())),
            "tries from there on until half and until nine tenths of the rest of the rise: "
            + ", ".join(f"{names[arm]} {half} and {most}" for arm, (half, most) in rest.items())
            + "; a concave curve needs at most 5/9 of the second number for the first",
            ("Figure 7",),
        ),
    ]


def _complex(one: Trained, seeds: Sequence[int]) -> list[Claim]:
    """What the paper reads from its heatmaps of the complex maze."""
    walls = {label: wall_share(one, label, seeds) for label in (AUTHORS, *PAPER)}
    optimal = {label: optimal_share(one, label, seeds) for label in (AUTHORS, *PAPER)}
    used = {label: effective_paths(one.mean("late", seeds)[label]) for label in (AUTHORS, *PAPER)}
    paths = len(one.paths)
    first = one.marks.index(100) if 100 in one.marks else 0
    untried = {
        label: int((one.mean("paths", seeds)[label][first] == 0).sum()) for label in ("r-ed-ucb", "sw-ucb", "sw-ts")
    }
    spread = {label: used[label] / paths for label in ("r-ed-ucb", "sw-ucb", "sw-ts")}
    regret = finals(one, seeds)
    rest = [label for label in BASELINES if label != "sw-cts"]
    tests = compare(regret, "sw-cts", rest)
    verdict, many = _enough(seeds, lowest(tests))
    nearest, how_near = _nearest(one, "sw-cts", rest, seeds)
    ahead, how_far = _nearest(one, AUTHORS, BASELINES, seeds)
    last = f"of the last {LAST} episodes"
    first_path = np.arange(paths) == 0
    return [
        Claim(
            "AntMaze-complex: SW-CUCB goes on trying edges that walls block (Figure 8a)",
            judged(walls["sw-cucb"] > _HALF and walls["sw-cucb"] > walls[AUTHORS]),
            f"share {last} on a path into a wall: SW-CUCB {walls['sw-cucb']:.0%}, {name_of(AUTHORS)} "
            f"{walls[AUTHORS]:.0%}; held needs more than half, and more than CRUCB",
            ("Figure 8", "Figure 14"),
        ),
        Claim(
            "AntMaze-complex: R-ed-UCB explores evenly and does not settle (Figure 8b)",
            judged(spread["r-ed-ucb"] > _HALF),
            f"paths in use in the last {LAST} episodes (e to the entropy): {used['r-ed-ucb']:.0f} of {paths}; held "
            "needs more than half of them",
            ("Figure 8", "Figure 14"),
        ),
        Claim(
            "AntMaze-complex: CRUCB avoids walls and settles on the optimal path (Figure 8c; the authors' program)",
            judged(optimal[AUTHORS] > _HALF and walls[AUTHORS] < _HALF),
            f"share {last}, mean and by seed: on the optimal path {by_seed(one, AUTHORS, seeds, first_path)}, into a "
            f"wall {by_seed(one, AUTHORS, seeds, ~one.walkable)}; held needs means of more than half and less than "
            f"half. The printed formula: {optimal['crucb']:.0%} and {walls['crucb']:.0%}",
            ("Figure 8", "Figure 14", "Figure 15", "Figure 16"),
        ),
        Claim(
            "AntMaze-complex: of the baselines, SW-CTS explores most like the constant optimal path (Appendix G)",
            nearest,
            how_near,
            ("Figure 14", "Figure 15", "Figure 16"),
        ),
        Claim(
            "AntMaze-complex: CRUCB explores more like the constant optimal path than every baseline (Appendix G; the "
            "authors' program)",
            ahead,
            how_far,
            ("Figure 14", "Figure 15", "Figure 16"),
        ),
        Claim(
            "AntMaze-complex: of the baselines, only SW-CTS differs clearly in regret from the others (Appendix G)",
            verdict,
            f"SW-CTS {regret['sw-cts'].mean():.2f}; "
            + ", ".join(
                f"{name_of(label)} {regret[label].mean():.2f}, p {p_text(test)}" for label, test in tests.items()
            )
            + f"; {many}",
            ("Figure 7", "Figure 14"),
        ),
        Claim(
            "AntMaze-complex: policies on paths leave some untried by episode 100 and stay spread out (Appendix G)",
            judged(all(untried.values()) and min(spread.values()) > _HALF),
            f"of {paths} paths untried in all runs by episode {one.marks[first]}, and in use in the last {LAST} "
            "episodes: " + ", ".join(f"{name_of(label)} {untried[label]} and {used[label]:.0f}" for label in untried),
            ("Figure 15",),
        ),
    ]
