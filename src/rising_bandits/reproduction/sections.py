"""What the reproduction runs, as data: sections, each with its runs."""

from __future__ import annotations

from dataclasses import dataclass

from rising_bandits.experiments import PAPER_POLICIES, RunSpec, make_plan
from rising_bandits.problems import tasks

REFERENCE = "crucb(bonus='reference')"
"""CRUCB with the bonus that the authors' program ran, 4 log t in place of the paper's 30 log t."""
SEEDS = 5
EPSILONS = (0.05, 0.125, 0.25, 0.4)
SIGMAS = (0.001, 0.1)
"""The noise of path-easy is 0.01: told ten times too small, and ten times too large."""
TABLE_ROUNDS = (100_000, 200_000, 300_000)
"""The rounds of the paper's sensitivity table."""
HORIZONS = (3_000, 10_000, 30_000, 100_000, 300_000)
SLOPES = (1.2, 1.4)
"""Exponents c of the fine-grained class."""
_INSTANCES = "rising_bandits.theory.instances"


@dataclass(frozen=True)
class Section:
    """A part of the report with the runs that it needs."""

    name: str
    title: str
    plan: tuple[RunSpec, ...] = ()


def _task_section(name: str) -> Section:
    policies = [*PAPER_POLICIES, REFERENCE]
    return Section(name, f"{name}: {tasks.get(name).description}", tuple(make_plan([name], policies, seeds=SEEDS)))


def _sensitivity() -> Section:
    texts = [f"crucb(epsilon={epsilon})" for epsilon in EPSILONS]
    texts += [f"crucb(epsilon={epsilon}, bonus='reference')" for epsilon in EPSILONS]
    texts += [f"crucb(sigma={sigma})" for sigma in SIGMAS]
    plan = make_plan(["path-easy"], texts, seeds=SEEDS, rounds=TABLE_ROUNDS)
    return Section("sensitivity", "Sensitivity of CRUCB to its window and to a wrong noise level", tuple(plan))


def pair_names(horizon: int, c: float | None) -> tuple[str, str]:
    """The tasks A and B of a lower bound: of the general class, or of the fine-grained one with exponent c."""
    if c is None:
        return tuple(f"{_INSTANCES}:general_{side}(horizon={horizon})" for side in "ab")  # type: ignore[return-value]
    return tuple(f"{_INSTANCES}:fine_grained_{side}(horizon={horizon}, c={c})" for side in "ab")  # type: ignore[return-value]


def _lower_bounds() -> Section:
    names = [name for c in (None, *SLOPES) for horizon in HORIZONS for name in pair_names(horizon, c)]
    plan = make_plan(names, list(PAPER_POLICIES), seeds=1)
    return Section("lower-bounds", "Lower bounds: no policy does well on both of two instances", tuple(plan))


def sections() -> list[Section]:
    """Every section of the report, in its order."""
    return [
        *(_task_section(name) for name in ("toy", "path-easy", "path-complex")),
        *(_task_section(name) for name in ("k-max", "matching-easy", "matching-complex")),
        *(_task_section(name) for name in ("spanning-easy", "spanning-complex")),
        _sensitivity(),
        Section("growth", "Growth of outcomes, and the gap between the bounds"),
        Section(
            "bounds",
            "The upper bound of Theorem 4 beside measured regret",
            tuple(make_plan(tasks.names(), ["crucb"], seeds=SEEDS)),
        ),
        _lower_bounds(),
        Section("optimality", "Theorems 1 and 2: when the best constant super arm is not optimal"),
        Section("concentration", "The concentration lemma, measured"),
    ]


SECTIONS = [
    "toy",
    "path-easy",
    "path-complex",
    "k-max",
    "matching-easy",
    "matching-complex",
    "spanning-easy",
    "spanning-complex",
    "sensitivity",
    "growth",
    "bounds",
    "lower-bounds",
    "optimality",
    "concentration",
]
"""The names that ``rising reproduce --only`` takes."""
