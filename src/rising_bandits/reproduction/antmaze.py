"""The report on trained AntMaze runs: whether the ant learns, the regret of each policy, and what each policy did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from rising_bandits._files import replacing
from rising_bandits.antmaze.mazes import EASY, MAZES
from rising_bandits.antmaze.picture import film as make_film
from rising_bandits.antmaze.picture import skeletons
from rising_bandits.antmaze.results import Result, check_alike
from rising_bandits.antmaze.settings import CPU, PRESETS
from rising_bandits.antmaze.world import NEAR
from rising_bandits.plots import antmaze as plots
from rising_bandits.plots.trained import name_of
from rising_bandits.reproduction.judging import Claim, judged
from rising_bandits.reproduction.maze_parts import heatmap_parts, outcomes_part, trained_part
from rising_bandits.reproduction.report import Part, render
from rising_bandits.reproduction.summaries import summarise
from rising_bandits.reproduction.trained import AUTHORS, Trained

LEARNED = {"easy": ("0->1", "1->4"), "complex": ("0->1", "1->5")}
"""The edges by which the ant's learning is judged: the first edge of the optimal path, and the second."""
_HALF = 0.5
"""The success rate from which on the ant counts as walking an edge."""
_LAST = 200
"""How many tries of an edge its success at the end is measured over."""
_SEEDS = 5
"""How many seeds are needed to judge whether the ant learns."""
_FRAMES = 48
"""How many pictures a film has at most."""

Maker = Callable[[Path, bool], list[Part]]


def plan_report(results: Sequence[Result]) -> list[Maker]:
    """Functions that make the parts of the report, given a folder for figures and whether to make films."""
    mazes = list(dict.fromkeys(result.maze.name for result in results))
    for maze in mazes:
        check_alike([result for result in results if result.maze.name == maze])
    summaries = {one.maze: one for one in summarise(results)}
    makers: list[Maker] = []
    for maze in mazes:
        mine = [result for result in results if result.maze.name == maze]
        one = summaries.get(maze)
        if one is not None and any(label != "oracle" for label in one.policies):
            makers.append(partial(_comparison, mine, one))
        makers.append(partial(_learning, mine))
        if one is not None:
            makers.append(partial(_outcomes, one))
            makers.append(partial(_heatmaps, one))
        makers.append(partial(_film, mine, one))
    return makers


def write_report(
    results: Sequence[Result],
    folder: str | Path,
    *,
    film: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Draw the figures, write the report as an HTML page, and return its path.

    Parameters
    ----------
    results
        Finished runs. Those on the same maze must have the same settings.
    folder
        The folder for ``report.html`` and its figures.
    film
        Whether to add a film of an ant on its last path, one for each maze.
    progress
        Called after each group of parts with how many are done and how many there are.

    Raises
    ------
    InputError
        Runs on one maze cannot be compared, or a run was given twice.
    """
    makers = plan_report(results)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    parts: list[Part] = []
    for number, make in enumerate(makers, 1):
        parts += make(folder, film)
        if progress is not None:
            progress(number, len(makers))
    page = folder / "report.html"
    runs = len(results)
    text = render(
        parts,
        [
            f"{runs} {'run' if runs == 1 else 'runs'}, trained: real physics (MuJoCo), an ant that starts from "
            "nothing, and a bandit policy that chooses its path in every episode. An edge is a base arm; its outcome "
            "is one over the steps it took, or 0 if it was not finished in time, and then the edges behind it were "
            "not played.",
            "The reward of an episode is one over all its steps if the goal was reached, else 0. Regret is what the "
            "constant optimal path earned with the same seed, the same number of episodes and its own training, minus "
            "what the policy earned. It can be negative: that ant has to learn to walk as well, by its own luck.",
            *_which_crucb(results),
            _how_trained(results),
        ],
        heading="AntMaze, trained",
        folder=folder,
    )
    with replacing(page) as aside:
        aside.write_text(text, encoding="utf-8")
    return page


def last_success(result: Result, edge: str, last: int = _LAST) -> float:
    """The success rate over the last tries of an edge, up to ``last`` of them; NaN if it was never tried."""
    outcomes = result.record.outcomes(result.maze.labels.index(edge))[1][-last:]
    return float((outcomes > 0).mean()) if outcomes.size else float("nan")


def _learning(results: list[Result], folder: Path, film: bool) -> list[Part]:
    """The part on how well the ant learns to walk."""
    maze = results[0].maze
    edges = [edge for edge in LEARNED.get(maze.name, ()) if edge in maze.labels] or [
        maze.labels[arm] for arm in maze.arms(maze.shortest)[:2]
    ]
    policies = [result.spec.label for result in results]
    chosen = [r for r in results if r.spec.label == ("oracle" if "oracle" in policies else policies[0])]
    part = Part(f"learning-{maze.name}", f"AntMaze-{maze.name}: does the ant learn?")
    part.text.append(
        f"Runs of {name_of(chosen[0].spec.label)}. Success over the last {_LAST} tries of an edge; "
        "actions carry exploration noise throughout."
    )
    rows = []
    for result in chosen:
        shares = [last_success(result, edge) for edge in edges]
        rows.append(
            [
                f"seed {result.spec.seed}",
                *("not tried" if np.isnan(share) else f"{share:.0%}" for share in shares),
                f"{result.record.env_steps[-1]:,}",
                f"{result.seconds / 60:.1f}",
            ]
        )
    cpu = chosen[0].spec.settings == CPU.as_dict() and chosen[0].spec.episodes <= EASY.episodes
    if maze == EASY and cpu and chosen[0].spec.label == "oracle" and len(chosen) >= _SEEDS:
        good = sum(all(last_success(result, edge) > _HALF for edge in edges) for result in chosen)
        names = " and ".join(edge.replace("->", "→") for edge in edges)
        part.claims.append(
            Claim(
                f"The ant comes to walk edges {names} in more than half of its tries, on four seeds of five or more",
                judged(good >= 0.8 * len(chosen)),
                f"{good} of {len(chosen)} seeds",
            )
        )
    headings = ["run", *(edge.replace("->", "→") for edge in edges), "steps", "minutes (wall)"]
    part.tables.append(("Success at the end", headings, rows))
    figure = plots.plot_learning(chosen, edges, folder / f"learning-{maze.name}.png")
    part.figures.append((figure[1], "Success by episode, a line a seed; the dotted line is one half. Trained runs."))
    return [part]


def _how_trained(results: Sequence[Result]) -> str:
    """A sentence on the settings of the runs."""
    settings = [result.spec.settings for result in results]
    same = all(other == settings[0] for other in settings)
    known = [name for name, preset in PRESETS.items() if same and preset.as_dict() == settings[0]]
    if known:
        return f"Settings of the low-level agent: the preset {known[0]}."
    return "Settings of the low-level agent: not those of a preset; every result file holds its own."


def _which_crucb(results: Sequence[Result]) -> list[str]:
    """A paragraph on the two forms of CRUCB, if both are there."""
    if not {AUTHORS, "crucb"} <= {result.spec.label for result in results}:
        return []
    return [
        "CRUCB is there in two forms. The authors' published program computes it otherwise than the paper prints it, "
        "so the paper's curves are taken to be of the program's rule. The printed formula, with the σ = 0.0001 of the "
        "program and windows of a quarter, is shown beside it; as far as we know, nobody else has run that."
    ]


def _advice(results: Sequence[Result]) -> str:
    """A sentence that says why no regret can be computed and which command trains the missing runs."""
    maze, spec = results[0].maze, results[0].spec
    seeds = sorted({result.spec.seed for result in results if result.spec.label != "oracle"})
    known = [name for name, preset in PRESETS.items() if preset.as_dict() == spec.settings]
    preset = f" --preset {known[0]}" if known and known[0] != "cpu" else ""
    where = maze.name if maze == MAZES.get(maze.name) else "FILE.toml"
    return (
        "There is no regret here: it is measured against the constant optimal path, and there is no such run with the "
        f"same seeds and episodes. This trains one, into the folder given by --out: rising antmaze run --map {where} "
        f"--policy oracle --episodes {spec.episodes}{preset} --seed {seeds[0]}, and so on for seeds "
        f"{', '.join(map(str, seeds))}."
    )


def _comparison(results: list[Result], one: Trained, folder: Path, film: bool) -> list[Part]:
    """The part on the regret of the policies."""
    part = trained_part(one, folder, advice=_advice(results))
    if left := sum(result.competes for result in results) - len(one.runs):
        part.text.append(f"{left} runs of another number of episodes are not in this comparison.")
    return [part]


def _outcomes(one: Trained, folder: Path, film: bool) -> list[Part]:
    """The part on the outcomes of the edges."""
    return [outcomes_part(one, folder)]


def _heatmaps(one: Trained, folder: Path, film: bool) -> list[Part]:
    """The parts with heatmaps."""
    return heatmap_parts(one, folder)


def _shown(results: Sequence[Result], one: Trained | None) -> Result:
    """The run that is filmed: that of the policy with the least regret, else the first."""
    if one is not None and one.common:
        table = one.table(one.common)
        ranks = sorted(
            (label for label in table if label != "oracle"), key=lambda label: float(table[label][:, -1].mean())
        )
        best = [r for r in results if ranks and r.spec.label == ranks[0] and r.spec.seed in one.common]
        if best:
            return best[0]
    return results[0]


def _film(results: list[Result], one: Trained | None, folder: Path, film: bool) -> list[Part]:
    """A film of an ant on its last path and a drawing of the same walk from above."""
    if not film:
        return []
    from PIL import Image

    result = _shown(results, one)
    path = folder / f"walk-{result.spec.key}.gif"
    walk = result.walk[np.unique(np.linspace(0, len(result.walk) - 1, _FRAMES).round().astype(int))]
    pictures, how = make_film(result.maze, walk)
    frames = [Image.fromarray(picture).quantize(256) for picture in pictures]
    with replacing(path) as aside:
        frames[0].save(aside, format="GIF", save_all=True, append_images=frames[1:], duration=120, loop=0)
    strip = path.with_name(f"strip-{path.stem}.png")
    drawn = plots.plot_walk(result, skeletons(result.maze, walk), strip)
    maze, steps = result.maze, len(result.walk) - 1
    nodes = maze.path_name(result.record.paths[-1])
    there = float(np.hypot(*(result.walk[-1, :2] - maze.nodes[maze.goal]))) < NEAR
    end = f"which reached the goal in {steps} steps" if there else f"which did not reach the goal, {steps} steps"
    words = f"The trained ant on its last path, {nodes}, without exploration noise, {end}"
    title = f"AntMaze-{maze.name}: the last walk of {name_of(result.spec.label)}, seed {result.spec.seed}"
    figures = [(path, f"{words} (film: {how})."), (drawn[1], f"{words}: every few steps of the same walk, from above.")]
    return [Part(f"film-{maze.name}", title, figures=figures)]
