"""The parts of a report that are made from a summary of trained AntMaze runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rising_bandits.experiments import StoredRun
from rising_bandits.experiments.statistics import half_width
from rising_bandits.plots.floors import plot_floors
from rising_bandits.plots.heatmaps import plot_paths, plot_positions, plot_tries
from rising_bandits.plots.trained import name_of, plot_outcomes, plot_training_regret
from rising_bandits.reproduction.judging import holm, p_text, paired
from rising_bandits.reproduction.maze_claims import maze_claims
from rising_bandits.reproduction.report import Part
from rising_bandits.reproduction.sections import Section
from rising_bandits.reproduction.summary_file import recorded
from rising_bandits.reproduction.trained import AUTHORS, LAST, Trained

HEADINGS = [
    "policy",
    "runs",
    "regret",
    "± 99%",
    "by seed",
    f"goal, last {LAST}",
    "optimal path",
    "into a wall",
    "walks from",
]
"""The columns of `comparison`: the policy and its number of runs; the mean final regret over the common seeds, half its
99% interval, and the regret of every seed; the share of the last episodes that reached the goal; the shares of all
episodes on the optimal path and on paths into walls; and for each seed the episode from which on the ant walks."""
DIFFERENCES = (
    f"Regret minus that of {name_of(AUTHORS)}, on all seeds that both have (p: paired t-test, with Holm's correction "
    "over the rows)"
)
"""What `differences` shows."""


def comparison(one: Trained) -> list[list[str]]:
    """A row for each policy on one maze, the least regret first; empty if no regret can be computed.

    Mean regret is over the seeds that the paper's policies have in common. A policy that lacks some of them has a mean
    over those that it has, which are named, and comes after the others. All other columns are over all runs of the
    policy.
    """
    seeds = one.common
    table = one.table(seeds) if seeds else {}
    partial = one.partial(seeds)
    if not one.seeds("oracle") or not any(one.regrets(label) for label in one.policies if label != "oracle"):
        return []
    rows = []
    for label in one.policies:
        runs = one.of(label)
        mine = one.regrets(label)
        values = table[label][:, -1] if label in table else np.zeros(0)
        regret = f"{values.mean():.3f}" if values.size else "–"
        if label in partial:
            some = partial[label]
            named = f"{'seed' if len(some) == 1 else 'seeds'} {_list(sorted(some))}"
            regret = f"{np.mean([run[-1] for run in some.values()]):.3f} ({named})"
        rows.append(
            (
                (label == "oracle", not values.size, float(values.mean()) if values.size else 0.0),
                [
                    name_of(label),
                    str(len(runs)),
                    regret,
                    f"{half_width(values):.2f}" if values.size > 2 and label != "oracle" else "–",
                    "–" if label == "oracle" else ", ".join(f"{mine[seed][-1]:.2f}" for seed in sorted(mine)),
                    f"{np.mean([run.goal for run in runs]):.0%}",
                    f"{np.mean([run.paths[-1][0] / one.length for run in runs]):.0%}",
                    f"{np.mean([run.paths[-1][~one.walkable].sum() / one.length for run in runs]):.0%}",
                    ", ".join("never" if run.walks is None else str(run.walks) for run in runs),
                ],
            )
        )
    return [row for _, row in sorted(rows, key=lambda item: item[0])]


def which_seeds(one: Trained) -> str:
    """A sentence that says which seeds the policies were trained with, and which all have."""
    seeds = sorted({run.seed for run in one.runs})
    common = one.common
    words = []
    for label in one.policies:
        mine = one.seeds(label)
        if set(mine) != set(common):
            words.append(f"{name_of(label)} {_list(mine)}")
    if not words:
        return f"Every policy was trained with the seeds {_list(seeds)}."
    if not common:
        return f"No seed is common to the paper's policies, so there is no mean regret. Seeds: {'; '.join(words)}."
    many = f"the seeds {_list(common)}, which" if len(common) > 1 else f"seed {common[0]}, the only one that"
    others = "; ".join(words)
    return f"Mean regret is over {many} the paper's policies have in common. Policies with other seeds: {others}."


def _list(numbers: list[int]) -> str:
    """Numbers in words: a range if they are consecutive."""
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers))


def differences(one: Trained) -> list[list[str]]:
    """How much more regret each policy has than CRUCB as in the authors' program, over all seeds that both have.

    The last column is the p-value of the paired t-test, with Holm's correction over the rows.
    """
    ours = one.regrets(AUTHORS)
    tests = {}
    for label in one.policies:
        theirs = one.regrets(label)
        seeds = sorted(set(ours) & set(theirs))
        if label not in ("oracle", AUTHORS) and seeds:
            finals = ([mine[seed][-1] for seed in seeds] for mine in (ours, theirs))
            tests[label] = paired(*(np.array(values) for values in finals))
    corrected = holm({label: test.p for label, test in tests.items()})
    return [
        [
            name_of(label),
            str(test.seeds),
            f"{test.difference:+.2f}",
            f"{test.lower} of {test.seeds}",
            p_text(replace(test, p=corrected[label])),
        ]
        for label, test in tests.items()
    ]


def trained_part(one: Trained, folder: Path, *, advice: str = "") -> Part:
    """The part on regret: a table, paired differences, the figure, and all claims about the maze.

    Parameters
    ----------
    one
        The summary of the maze.
    folder
        The folder for figures.
    advice
        What to say if there are no runs of the constant optimal path to measure regret against.
    """
    part = Part(f"antmaze-{one.maze}", f"AntMaze-{one.maze}: regret of the trained runs", items=("Figure 7",))
    part.text.append(
        f"AntMaze-{one.maze}: {len(one.floor.nodes)} nodes, {len(one.labels)} edges, {len(one.paths)} paths, of which "
        f"{int(one.walkable.sum())} run into no wall; {one.length:,} episodes a run. {which_seeds(one)}"
    )
    rows = comparison(one)
    if not rows:
        part.text += [advice] if advice else []
        return part
    part.tables.append(("Regret against the constant optimal path trained with the same seed", HEADINGS, rows))
    if others := differences(one):
        part.tables.append((DIFFERENCES, ["policy", "seeds", "difference", "CRUCB lower on", "p"], others))
    part.claims += maze_claims(one)
    seeds = one.common
    if seeds:
        many = f"{len(seeds)} {'seed' if len(seeds) == 1 else 'seeds'}"
        path = plot_training_regret(
            one.episodes,
            one.table(seeds),
            {
                label: {seeds.index(seed): values for seed, values in some.items()}
                for label, some in one.partial(seeds).items()
            },
            f"AntMaze-{one.maze} (trained): regret against the constant optimal path, {many}",
            folder / f"regret-{one.maze}.png",
        )[1]
        band = ", and a 99% t-interval over seeds" if len(seeds) >= 5 else ""
        part.figures.append(
            (
                path,
                f"Cumulative regret of the trained runs, one panel per policy, the least regret first: mean "
                f"(thick), seeds (thin){band}. Grey: the means of the others over the same seeds. Policies with fewer "
                "seeds come last and say so. Dotted: the constant optimal path.",
            )
        )
    return part


def outcomes_part(one: Trained, folder: Path) -> Part:
    """The part on the outcomes of each edge by its tries."""
    path = plot_outcomes(
        one.tries,
        one.outcomes,
        one.labels,
        f"AntMaze-{one.maze} (trained): outcomes by tries, all runs",
        folder / f"outcomes-{one.maze}.png",
    )[1]
    width = int(one.tries[1] - one.tries[0]) if one.tries.size > 1 else 1
    words = f"Mean outcome of each edge in blocks of {width} of its tries, over all runs with that many. Trained runs."
    return Part(f"outcomes-{one.maze}", f"AntMaze-{one.maze}: outcomes of the edges", figures=[(path, words)])


def heatmap_parts(one: Trained, folder: Path) -> list[Part]:
    """The parts with heatmaps of positions, of paths and of edges, each for every policy at every mark."""
    runs = {label: len(one.of(label)) for label in one.policies}
    cells = {label: one.positions[label] for label in one.policies}
    head = f"AntMaze-{one.maze} (trained)"
    made = []
    for name, title, items, path, words in (
        (
            "positions",
            "where the ant was",
            ("Figure 8", "Figure 14"),
            plot_positions(
                one.floor, cells, runs, one.marks, f"{head}: steps in each cell", folder / f"positions-{one.maze}.png"
            ),
            "Steps spent in each half-unit cell.",
        ),
        (
            "paths",
            f"tries of all {len(one.paths)} paths",
            ("Figure 15",),
            plot_paths(
                one.walkable,
                one.mean("paths"),
                runs,
                one.marks,
                f"{head}: episodes on each path",
                folder / f"paths-{one.maze}.png",
            ),
            "Episodes on each path, one cell per path. The first is the optimal path; framed paths run into no wall; "
            "within each kind short paths come first.",
        ),
        (
            "edges",
            "tries of the edges",
            ("Figure 16",),
            plot_tries(
                one.floor,
                one.mean("edges"),
                runs,
                one.marks,
                f"{head}: tries of each edge",
                folder / f"edges-{one.maze}.png",
            ),
            "Tries of each edge. Green is the start, blue the goal.",
        ),
    ):
        caption = f"{words} Means over runs. Each row has one logarithmic colour scale; a blank is 0. Trained runs."
        made.append(
            Part(
                f"{name}-{one.maze}",
                f"AntMaze-{one.maze}: {title}",
                figures=[(path[1], caption)],
                items=items if one.maze == "complex" else (),
            )
        )
    return made


def sizes(one: Trained) -> tuple[int, int, int]:
    """The number of base arms, the number of super arms and the size of the largest one."""
    return len(one.labels), len(one.paths), max(map(len, one.paths))


KINDS = {"wide": "#009E73", "bottleneck": "#E69F00", "impossible": "#D7191C"}
"""The kinds of edges that the paper tells apart, and their colours."""
BOTTLENECKS = {"easy": ("1->4",)}
"""The edges of each maze that the paper calls bottlenecks."""


def _floors(summaries: Sequence[Trained], folder: Path) -> tuple[Path, str]:
    """Draw the floor plans of both mazes; the figure and its caption."""
    kinds = {
        one.maze: [
            "bottleneck" if label in BOTTLENECKS.get(one.maze, ()) else "wide" if free else "impossible"
            for label, free in zip(one.labels, one.passable, strict=True)
        ]
        for one in summaries
    }
    path = plot_floors({one.maze: one.floor for one in summaries}, kinds, KINDS, folder / "mazes.png")[1]
    return path, "The two mazes with their nodes and edges, coloured as in Figure 6. Impossible edges run into a wall."


def antmaze_parts(section: Section, runs: Sequence[StoredRun], folder: Path) -> list[Part]:
    """The parts on AntMaze, made from the summary of recorded runs."""
    summaries = sorted(recorded(), key=lambda one: one.maze == "complex")
    count = sum(len(one.runs) for one in summaries)
    hours = sum(run.minutes for one in summaries for run in one.runs) / 60.0
    first = Part(
        section.name,
        section.title,
        text=[
            f"Nothing is trained for this report. It shows {count} runs of rising antmaze run that were trained "
            f"before. They took {hours:.0f} hours of one core in all. They used the preset cpu, not the settings of "
            "the paper's Table 2. The files are in docs/data/antmaze of the source; rising antmaze report shows more "
            "of them.",
            "The paper's text says that an outcome is steps/100; its program uses one over the steps, and so do these "
            "runs. The program's CRUCB keeps only the last summand of the slope term and only positive slopes, uses "
            "windows of floor(N/4), prefers edges with fewer than four tries, and has a bonus of 40 log t with σ = "
            "0.0001. The paper's curves are taken to be of this rule, because it is the published one; claims of the "
            "paper are judged by it.",
            "As far as we know, nobody else has run the formula that the paper prints. It is shown with the program's "
            "σ = 0.0001 and windows of a quarter. The guide to AntMaze also has it with the stated ε = 0.125 and with "
            "σ = 0.02, near the true noise, on replays of recorded curves.",
        ],
        figures=[_floors(summaries, folder)],
        items=("Figure 6",),
    )
    parts = [first]
    for one in summaries:
        parts.append(trained_part(one, folder))
        parts.append(outcomes_part(one, folder))
        if one.maze == "complex":
            parts += heatmap_parts(one, folder)
    return parts
