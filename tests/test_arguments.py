"""Every public function of the lower rooms, called as a stranger would: it works, or it says what is wrong."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits import curves, oracles, problems, simulation, theory
from rising_bandits.benchmark import suite
from rising_bandits.curves import draws
from rising_bandits.errors import RisingBanditsError
from rising_bandits.problems import curve_files, identification, lcdb, live_match, portfolio, recorded, tasks
from rising_bandits.simulation import Simulation
from rising_bandits.theory import checks, falls, instances, proofs

NAN, INF = float("nan"), float("inf")
ODD: list[Any] = [
    *(None, True, np.True_, "x", "", "ab", b"x", 1.5, -1, 0, 3, NAN, INF, -INF, 10**30, -(10**30), 1e308, 2 + 3j),
    *([], [1], ["a"], [NAN], [None], [[]], [[1, 2], [3]], [[0], [0]], [["a"], "b"], [True], [-1], [0.5], [10**30]),
    *((), ("a", "b"), [("a",)], [("a", "b", "c", "d")], [("a", "a")], range(3), set(), {"a"}),
    *({}, {"a": 1}, {1: "x"}, {"a": NAN}, {"a": None}, {"a": []}),
    *(np.array(3), np.array([1.5]), np.array([0, 1]), np.array([[1, 2]]), np.array(["a"]), np.zeros(0)),
    *(np.datetime64("2020-01-01"), np.float64(NAN), np.int64(2), Decimal("1.5"), Decimal("nan"), Fraction(1, 3)),
    *(object(), int, repr, nx.Graph(), nx.path_graph(3), curves.Flat(0.5), problems.TopK(3, 1)),
]
EDGES = [("a", "b"), ("b", "c"), ("a", "c")]
TOP = problems.TopK(["x", "y", "z"], 2)
ROUTES = problems.Routes(EDGES, [("a", "c")])
TASK = rb.Task("t", TOP, (curves.Flat(0.2), curves.Linear(5), curves.Flat(0.5)), 6, curves.Gaussian(0.1))
MODELS = rb.tasks.get("identify-models")
LINE = curves.Linear(5)
SUM, MAX = rb.Reward("sum"), rb.Reward("max")

CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (oracles.DagPaths, {"tails": "aba", "heads": "bcc", "source": "a", "target": "c"}),
    (
        oracles.CostPaths,
        {"tails": "aba", "heads": "bcc", "source": "a", "target": "c", "cost": "log", "directed": True},
    ),
    (oracles.Assignments, {"n_workers": 2, "n_jobs": 3, "pairs": [(0, 0), (1, 1), (1, 2)]}),
    (
        oracles.CapacityMatchings,
        {"n_workers": 2, "n_jobs": 3, "pairs": [(0, 0), (1, 1)], "worker_least": 0, "worker_most": [1, 1]}
        | {"job_least": 0, "job_most": 1},
    ),
    (oracles.SpanningTrees, {"edges": EDGES}),
    (oracles.KSubsets, {"n_arms": 4, "k": 2}),
    (oracles.ExplicitSets, {"super_arms": [[0], [1, 2]], "n_arms": 3}),
    (oracles.GroupChoices, {"groups": [[0, 1], [2]], "n_arms": 4}),
    (oracles.BudgetSets, {"costs": [1, 2, 1], "budget": 3, "groups": [[0, 1], [2]], "resolution": 100}),
    (oracles.LinearSets, {"matrix": [[1, 1, 0], [0, 1, 1]], "lower": [0, None], "upper": [1, 1]}),
    (oracles.Families, {"families": {"a": oracles.KSubsets(3, 1)}}),
    (oracles.from_spec, {"spec": oracles.KSubsets(3, 1).spec()}),
    (oracles.register, {"kind": oracles.KSubsets}),
    (
        problems.Problem,
        {"oracle": TOP.oracle, "reward": "sum", "labels": list("abc"), "aliases": {}, "groups": {"g": [0]}},
    ),
    (problems.Problem.from_spec, {"spec": TOP.spec()}),
    (problems.TopK, {"arms": ["a", "b", "c"], "k": 2}),
    (problems.KMax, {"arms": 3, "k": 2}),
    (problems.Explicit, {"super_arms": [["a"], ["b", "c"]], "reward": "sum", "labels": ["a", "b", "c"]}),
    (
        problems.LinearConstraints,
        {"matrix": [[1, 1], [0, 1]], "lower": [0, None], "upper": [1, 1], "labels": ["a", "b"], "reward": "sum"},
    ),
    (problems.OneOfEach, {"groups": {"s": ["a", "b"], "t": ["c"]}, "reward": "product"}),
    (
        problems.Knapsack,
        {"costs": {("s", "a"): 1, ("t", "c"): 1}, "budget": 3, "groups": {"s": ["a"], "t": ["c"]}, "resolution": 9},
    ),
    (
        problems.Matching,
        {"workers": ["a", "b"], "jobs": ["c", "d"], "pairs": [("a", "c"), ("b", "d")], "reward": "sum"}
        | {"optional": ["a"], "required": ["c"], "worker_capacity": {"a": 2}, "job_capacity": 2},
    ),
    (problems.ShortestPath, {"graph": EDGES, "source": "a", "target": "c", "reward": "sum", "cost": None}),
    (problems.Routes, {"graph": EDGES, "pairs": [("a", "c")], "reward": "sum", "cost": None}),
    (problems.SpanningTree, {"graph": EDGES, "reward": "sum"}),
    (rb.Reward, {"name": "mine", "function": len}),
    (SUM, {"values": [0.1, 0.2]}),
    (MAX.largest, {"size": 3}),
    (MAX.over_plays, {"means": np.zeros((2, 2))}),
    (
        rb.Task,
        {"name": "t", "problem": TOP, "curves": TASK.curves, "horizon": 6, "noise": TASK.noise, "description": ""}
        | {"cascade": False, "recorded": False},
    ),
    (TASK.means, {"n": 3}),
    (TOP.index, {"label": "x"}),
    (TOP.named, {"name": "x"}),
    (TOP.arms_of, {"labels": ["x"]}),
    (TOP.labels_of, {"arms": [0, 1]}),
    (TOP.mask, {"labels": ["x"]}),
    (TOP.ordered, {"arms": [0, 1]}),
    (ROUTES.among, {"choice": ("a", "c")}),
    (tasks.get, {"name": "toy"}),
    (tasks.grid_edges, {"size": 3}),
    (lcdb.curves, {"dataset": 3}),
    (lcdb.title, {"dataset": 3}),
    (lcdb.task, {"dataset": 3, "horizon": 50}),
    (portfolio.portfolio, {"datasets": (3,), "horizon": 50, "share": 0.25, "name": "p"}),
    (live_match.task, {"horizon": 50, "name": "p"}),
    (recorded.get, {"name": "antmaze-easy"}),
    (recorded.make, {"name": "m", "data": recorded.read("antmaze-easy")}),
    (curves.Flat, {"value": 0.5}),
    (curves.LateBloomer, {"block": 250, "stop": 5000}),
    (curves.Linear, {"duration": 5, "start": 0.1, "end": 0.5}),
    (curves.Exponential, {"time": 3.0, "start": 0.1, "end": 0.5}),
    (curves.PowerLaw, {"scale": 3.0, "power": 1.0, "start": 0.1, "end": 0.5}),
    (curves.Scaled, {"curve": LINE, "factor": 0.5, "offset": 0.1}),
    (curves.Capped, {"curve": LINE, "cap": 0.4}),
    (curves.Tabulated, {"values": (0.1, 0.2)}),
    (curves.Interpolated, {"plays": (0, 1), "values": (0.1, 0.2)}),
    (curves.Dropping, {"curve": LINE, "at": 3, "factor": 0.5}),
    (LINE, {"plays": [0, 1]}),
    (LINE.table, {"horizon": 4}),
    (LINE.total, {"horizon": 4}),
    (curves.Gaussian, {"deviation": 0.1}),
    (curves.Failing, {"chances": (LINE,), "told": 0.1}),
    (curves.Spread, {"deviations": (LINE,), "told": 0.1}),
    (draws.arm_keys, {"seed": 3, "n_arms": 2}),
    (theory.optimal_constant, {"task": TASK, "horizon": 5}),
    (theory.optimal_constant(TASK).cumulative, {"rounds": np.array([1, 2])}),
    (theory.optimal_policy, {"task": TASK, "horizon": 5, "limit": 100_000}),
    (theory.upsilon, {"task": TASK, "plays": 5, "q": 0.5}),
    (
        theory.upper_bound,
        {"task": TASK, "horizon": 5, "epsilon": 0.1, "sigma": 0.1, "lipschitz": 1.0, "constant": 30.0, "q": 0.5},
    ),
    (theory.lower_bound, {"horizon": 100, "size": 2, "c": 1.5}),
    (theory.upper_rate, {"c": 1.5}),
    (theory.lower_rate, {"c": 1.5}),
    (theory.diagnose, {"logs": [("a", 0, 0.5), ("a", 1, 0.5)], "level": 0.9}),
    (theory.diagnose([("a", 0, 0.5)]).arm, {"label": "a"}),
    (instances.choices, {"copies": 2}),
    (instances.general, {"horizon": 10, "copies": 2}),
    (instances.fine_grained, {"horizon": 10, "c": 1.5, "copies": 2}),
    (instances.PowerSum, {"c": 1.5, "stop": 4}),
    (instances.best_constant_is_not_optimal, {"horizon": 120}),
    (proofs.theorem_3, {"rise": 10, "size": 4}),
    (proofs.theorem_5, {"horizon": 100, "c": 1.5}),
    (proofs.best_mixture, {"horizon": 100}),
    (proofs.spy, {"horizon": 100, "c": 1.5, "copies": 2}),
    (checks.additive_bounds, {"problem": TOP, "draws": 10, "seed": 0}),
    (checks.check_ratio, {"instances": 2, "n_arms": 3, "k": 2, "horizon": 3, "seed": 0}),
    (
        checks.concentration,
        {"n_arms": 3, "sigma": 0.1, "epsilon": 0.1, "constant": 30.0, "horizon": 50, "runs": 3, "seed": 0},
    ),
    (checks.check_optimism, {"curves": 2, "horizon": 10, "seed": 0}),
    (checks.check_sum, {"instances": 2, "n_arms": 3, "k": 2, "horizon": 3, "seed": 0}),
    (checks.check_monotone, {"cases": 2, "seed": 0}),
    (checks.random_concave, {"rng": np.random.default_rng(0), "horizon": 4}),
    (checks.expected_forecast, {"means": np.arange(4) / 9, "plays": 4, "window": 2, "t": 6}),
    (
        falls.fall,
        {"outcomes": [0.5, 0.4], "counts": [1, 2], "squares": [0.3, 0.2], "ends": (0.1, 0.9), "arms": 1}
        | {"false_alarm": 0.001},
    ),
    (simulation.checkpoints, {"horizon": 10, "extra": (3,), "count": 4}),
    (simulation.Geometric, {"mean": 3.0}),
    (
        partial(simulation.simulate, compiled=False),
        {"task": TASK, "policy": rb.Random(), "horizon": 5, "seed": 0, "rounds": (3,), "delay": 0, "progress": None},
    ),
    (partial(simulation.identify, compiled=False), {"task": MODELS, "policy": rb.policies.RSR(), "budget": 60}),
    (simulation.best_after, {"task": TASK, "budget": 5}),
    (simulation.error_rate, {"found": [simulation.identify(MODELS, rb.policies.RSR(), 60, compiled=False)]}),
    (Simulation(TASK, rb.Random(), compiled=False).advance, {"rounds": 2}),
    (
        suite.instance,
        {"family": "late", "structure": "top-k", "noise": "bernoulli", "horizon": 5000, "seed": 1, "edition": 1},
    ),
]
# What also refuses these arguments, because there is no such file, or the name is taken.
REFUSALS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (tasks.register, {"name": "toy", "builder": len}),
    (tasks.register_family, {"family": identification.FAMILY}),
    (recorded.from_file, {"path": "no-such.json", "digest": None}),
    (
        curve_files.from_file,
        {"path": "no-such.csv", "noise": None, "k": 1, "arms": (), "horizon": None, "digest": None},
    ),
]
ORACLES = {
    "dag": oracles.DagPaths("aba", "bcc", "a", "c"),
    "cost": oracles.CostPaths("aba", "bcc", "a", "c"),
    "assignment": oracles.Assignments(1, 3),
    "pairs": oracles.Assignments(2, 2, [(0, 0), (1, 1), (0, 1)]),
    "capacities": oracles.CapacityMatchings(1, 3),
    "tree": oracles.SpanningTrees(EDGES),
    "kset": oracles.KSubsets(3, 2),
    "explicit": oracles.ExplicitSets([[0], [1, 2]]),
    "groups": oracles.GroupChoices([[0, 1], [2]]),
    "budget": oracles.BudgetSets([1, 2, 1], 3),
    "linear": oracles.LinearSets([[1, 1, 0], [0, 1, 1]], None, [1, 1]),
    "families": oracles.Families({"a": oracles.KSubsets(3, 1)}),
}
MASK = np.array([False, False, True])
METHODS: dict[str, dict[str, Any]] = {
    "solve": {"weights": [0.1, 0.2, 0.3], "mask": None},
    "can": {"mask": None},
    "containing": {"arm": 1, "mask": None, "prefer": None},
    "is_feasible": {"arms": [0, 1]},
    "is_allowed": {"arms": [0, 1], "mask": MASK},
    "super_arms": {"limit": 100},
    "super_arms_without": {"mask": MASK, "limit": 100},
    "sample": {"rng": np.random.default_rng(0), "mask": None},
    "check_super_arm": {"arms": [0, 1]},
    "ordered": {"arms": [0, 1]},
    "cover_rounds": {"times": 2},
    "among": {"choice": "a"},
}


def name_of(call: Callable[..., Any]) -> str:
    return re.sub(r"\W", "", getattr(getattr(call, "func", call), "__qualname__", type(call).__name__))


def try_odd_ones(call: Callable[..., Any], given: dict[str, Any]) -> None:
    """Each argument in turn is replaced by something odd; any error but the library's own fails the test."""
    for argument in given:
        for odd in ODD:
            try:
                with np.errstate(all="ignore"):
                    call(**{**given, argument: copy.copy(odd)})
            except RisingBanditsError:
                continue
            except Exception as error:
                raise AssertionError(f"{argument}={odd!r} raised {type(error).__name__}: {error}") from error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "given"), CALLS, ids=[name_of(call) for call, _ in CALLS])
def test_odd_arguments_are_refused_by_name(call: Callable[..., Any], given: dict[str, Any]) -> None:
    call(**given)
    try_odd_ones(call, given)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "given"), REFUSALS, ids=[name_of(call) for call, _ in REFUSALS])
def test_odd_arguments_of_what_is_refused_anyway(
    call: Callable[..., Any], given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Some odd names are new ones.
    monkeypatch.setattr(tasks, "_BUILDERS", dict(tasks._BUILDERS))
    with pytest.raises(RisingBanditsError):
        call(**given)
    try_odd_ones(call, given)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ORACLES)
def test_odd_arguments_of_oracles_are_refused_by_name(kind: str) -> None:
    for method, given in METHODS.items():
        try_odd_ones(getattr(ORACLES[kind], method), given)
        if method in ("solve", "super_arms", "super_arms_without"):
            getattr(ORACLES[kind], method)(**given)


@pytest.mark.parametrize("kind", ORACLES)
def test_arms_of_the_wrong_kind_are_no_super_arm(kind: str) -> None:
    arms = ORACLES[kind].super_arms()[0]
    assert ORACLES[kind].is_feasible(arms)
    assert ORACLES[kind].is_feasible(arms.tolist())
    assert not ORACLES[kind].is_feasible(arms + 0.25)
    assert not ORACLES[kind].is_feasible([str(arm) for arm in arms])
    assert not ORACLES[kind].is_feasible([])
