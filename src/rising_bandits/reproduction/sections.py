"""The sections of the reproduction as data: each with a title and the runs that it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from rising_bandits.experiments import PAPER_POLICIES, RunSpec, make_plan
from rising_bandits.problems import tasks

REFERENCE = "crucb(bonus='reference')"
"""CRUCB with the bonus of the authors' program, 4 log t, in place of the paper's 30 log t."""
BETWEEN = "crucb(bonus=10.0)"
"""CRUCB with the bonus 10 log t, which fits the only numbers that the paper prints best."""
SEEDS = 10
"""How many seeds each task is run with; the paper has 5."""
FEWER = 5
"""How many seeds SW-TS has on the complex tasks, where it draws a number for each of up to 1,296 super arms a round."""
EPSILONS = (0.05, 0.125, 0.25, 0.4)
"""The windows of the paper's sensitivity table."""
SIGMAS = (0.001, 0.1)
"""Wrong noise levels for path-easy, whose noise is 0.01: ten times too small, and ten times too large."""
TABLE_ROUNDS = (100_000, 200_000, 300_000)
"""The rounds of the paper's sensitivity table."""
HORIZONS = (3_000, 10_000, 30_000, 100_000, 300_000)
"""The horizons at which the lower bounds are checked."""
SLOPES = (1.2, 1.4)
"""The exponents c at which the lower bound of the fine-grained class is checked."""
COPIES = 4
"""How many copies of a pair are played at a time where the factor L is looked at."""
COPY_HORIZONS = (3_000, 30_000, 300_000)
"""The horizons at which copies are looked at."""
FLAT_HORIZONS = (3_000, 30_000, 100_000)
"""The horizons at which the part of the lower bound that is due to noise is checked."""
STEEP_HORIZONS = (3_000, 30_000, 300_000)
"""The horizons at which slopes of exp(-n) are looked at."""
HALVED = "rising_bandits.reproduction.variants:k_max_halved"
"""The task k-max as the authors' program scales it for policies on super arms."""
SUPER = ("r-ed-ucb", "sw-ucb", "sw-ts")
"""The paper's policies on super arms."""
_INSTANCES = "rising_bandits.theory.instances"
_VARIANTS = "rising_bandits.reproduction.variants"


@dataclass(frozen=True)
class Section:
    """A section of the report.

    Parameters
    ----------
    name
        The name that ``rising reproduce --only`` takes.
    title
        The heading in the report.
    plan
        The runs that the section needs.
    """

    name: str
    title: str
    plan: tuple[RunSpec, ...] = ()


_TASK_POLICIES = (*PAPER_POLICIES, REFERENCE)


def task_plan(name: str, policies: Sequence[str] = _TASK_POLICIES) -> list[RunSpec]:
    """The runs of one task: fewer seeds where they take long."""
    if not name.endswith("-complex") or "sw-ts" not in policies:
        return make_plan([name], policies, seeds=SEEDS)
    plan = make_plan([name], [policy for policy in policies if policy != "sw-ts"], seeds=SEEDS)
    return plan + make_plan([name], ["sw-ts"], seeds=min(SEEDS, FEWER))


def _task_section(name: str) -> Section:
    """The section of one task."""
    plan = task_plan(name)
    more = make_plan([HALVED], SUPER, seeds=SEEDS) if name == "k-max" else []
    return Section(name, f"{name}: {tasks.get(name).description}", (*plan, *more))


def _sensitivity() -> Section:
    """The section on the window, the bonus and the noise level."""
    texts = [f"crucb(epsilon={epsilon})" for epsilon in EPSILONS]
    texts += [f"crucb(epsilon={epsilon}, bonus='reference')" for epsilon in EPSILONS]
    texts += [f"crucb(sigma={sigma})" for sigma in SIGMAS]
    plan = make_plan(["path-easy"], [*texts, BETWEEN], seeds=SEEDS, rounds=TABLE_ROUNDS)
    return Section("sensitivity", "CRUCB with other windows, bonuses and noise levels", tuple(plan))


def pair_names(horizon: int, c: float | None, copies: int = 1) -> tuple[str, str]:
    """The tasks A and B of a lower bound: for the general class if ``c`` is None, else for the fine-grained class."""
    kind, arguments = ("general", f"horizon={horizon}") if c is None else ("fine_grained", f"horizon={horizon}, c={c}")
    arguments += f", copies={copies}" if copies > 1 else ""
    return f"{_INSTANCES}:{kind}_a({arguments})", f"{_INSTANCES}:{kind}_b({arguments})"


def flat_names(horizon: int) -> tuple[str, str]:
    """The tasks A and B of the lower bound that is due to noise."""
    a, b = (f"{_VARIANTS}:flat(horizon={horizon}, better={better})" for better in (True, False))
    return a, b


def steep_name(horizon: int) -> str:
    """The task with slopes of exp(-n)."""
    return f"{_VARIANTS}:steep(horizon={horizon})"


def _pairs(policies: Sequence[str]) -> list[RunSpec]:
    """The runs of policies on all pairs of the lower bounds, alone and as copies; one seed, for there is no noise."""
    names = [name for c in (None, *SLOPES) for horizon in HORIZONS for name in pair_names(horizon, c)]
    names += [name for c in (None, *SLOPES) for horizon in COPY_HORIZONS for name in pair_names(horizon, c, COPIES)]
    return make_plan(names, policies, seeds=1)


def _lower_bounds() -> Section:
    """The section on the lower bounds."""
    plan = _pairs(PAPER_POLICIES)
    noisy = [name for horizon in FLAT_HORIZONS for name in flat_names(horizon)]
    plan += make_plan(noisy, list(PAPER_POLICIES), seeds=SEEDS)
    return Section("lower-bounds", "Lower bounds: no policy does well on both of two instances", tuple(plan))


def _growth() -> Section:
    """The section on the growth of outcomes, with the runs that show how regret grows."""
    plan = _pairs(["crucb"])
    plan += make_plan([steep_name(horizon) for horizon in STEEP_HORIZONS], ["crucb"], seeds=SEEDS)
    return Section("growth", "Growth of outcomes, and the gap between the bounds (Corollary 2)", tuple(plan))


def _all_tasks() -> tuple[RunSpec, ...]:
    """The runs of all tasks."""
    return tuple(spec for name in TASKS for spec in task_plan(name))


TASKS = (
    "toy",
    "path-easy",
    "path-complex",
    "k-max",
    "matching-easy",
    "matching-complex",
    "spanning-easy",
    "spanning-complex",
)
"""The synthetic tasks of the paper, in the paper's order."""

_BUILDERS: dict[str, Callable[[], Section]] = {
    "table-1": lambda: Section("table-1", "The tasks and their sizes, and what of them is not in the paper"),
    "summary": lambda: Section("summary", "All policies on all synthetic tasks", _all_tasks()),
    **{name: partial(_task_section, name) for name in TASKS},
    "sensitivity": _sensitivity,
    "antmaze": lambda: Section("antmaze", "AntMaze, from recorded training runs"),
    "optimality": lambda: Section("optimality", "When the best constant super arm is optimal (Theorems 1 and 2)"),
    "growth": _growth,
    "bounds": lambda: Section(
        "bounds",
        "The upper bound of Theorem 3 beside measured regret",
        tuple(spec for name in TASKS for spec in task_plan(name, ["crucb"])),
    ),
    "lower-bounds": _lower_bounds,
    "proofs": lambda: Section("proofs", "Steps of the paper's proofs, computed"),
    "concentration": lambda: Section(
        "concentration", "Estimates: how far they are off (Lemma 2), and whether forecasts are optimistic (Section 4)"
    ),
}
SECTIONS = list(_BUILDERS)
"""The names that ``rising reproduce --only`` takes, in the order of the report."""


def sections(names: Sequence[str] = ()) -> list[Section]:
    """The sections of these names in the order of the report; all sections if none is given."""
    return [build() for name, build in _BUILDERS.items() if not names or name in names]
