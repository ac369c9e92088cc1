"""The package as it is installed: what importing it loads, what it promises, how its machine code is kept."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from importlib import import_module, metadata, resources
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

import rising_bandits as rb

CONTRACT = ["CRUCB", "RedUCB", "SWUCB", "SWCUCB", "SWTS", "SWCTS", "Oracle", "Random", "HorizonCRUCB"]
CONTRACT += ["simulate", "optimal_constant", "tasks", "problems"]
ON_DEMAND = ["studies", "plots"]


def python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_public_names_are_there():
    for name in CONTRACT:
        assert hasattr(rb, name)
        assert name in rb.__all__
    for name in ON_DEMAND:
        assert hasattr(rb, name)
    assert not hasattr(rb, "nonsense")
    for name in ["ShortestPath", "Matching", "SpanningTree", "TopK", "KMax", "LinearConstraints", "Explicit"]:
        assert hasattr(rb.problems, name)
    assert sorted(rb.__all__) == sorted(set(rb.__all__))


def test_rooms_that_load_on_demand_are_there_after_one_import():
    named = "rb.experiments.frame, rb.experiments.compare, rb.testing.check_policy, rb.studies.create, rb.plots"
    assert python(f"import rising_bandits as rb\nprint(len(({named}, rb.benchmark)))") == "6\n"


def test_the_contract_of_the_spec_word_for_word():
    task = rb.tasks.get("path-easy")
    arms = task.problem.oracle.solve(np.ones(12))
    assert arms.tolist() == sorted(arms.tolist())
    assert len(task.problem.oracle.super_arms()) == 6
    best = rb.optimal_constant(task, 300_000)
    assert best.super_arm.tolist() == [2, 5, 6, 9]
    assert best.total > 0
    policy = rb.CRUCB(epsilon=0.125, sigma=0.01, bonus="paper")
    policy.start(task.problem, horizon=300_000, rng=np.random.default_rng(0))
    for _ in range(30):
        arms = policy.select()
        policy.observe(arms, [0.5] * len(arms))
    assert policy.indices().shape == (12,)
    assert policy.round == 31
    policy = rb.CRUCB.from_state(policy.state())
    assert policy.round == 31
    run = rb.simulate(task, policy, horizon=2_000, seed=0)
    assert run.rounds[-1] == 2_000
    assert run.regret.shape == run.reward.shape == run.rounds.shape
    assert run.plays.shape == (12,)
    assert sum(run.super_arm_plays.values()) == 2_000


def test_importing_loads_nothing_heavy():
    loaded = python("import sys, rising_bandits; print(*sys.modules)").split()
    for heavy in (
        "matplotlib",
        "scipy.optimize",
        "scipy.sparse",
        "networkx",
        "pyarrow",
        "pandas",
        "torch",
        "jax",
        "dask",
        "typer",
        "rich",
        "sqlite3",
    ):
        assert heavy not in loaded


def test_the_package_is_typed_and_small():
    assert resources.files(rb).joinpath("py.typed").is_file()
    needed = [line for line in metadata.requires("rising-bandits") or [] if "extra ==" not in line]
    names = {line.split(">")[0].split(";")[0].strip() for line in needed}
    assert names == {"numpy", "scipy", "networkx", "typer", "rich"}


def test_a_missing_extra_is_named():
    code = (
        "import importlib.util, tempfile\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'pandas' else find(name, *rest)\n"
        "import rising_bandits as rb\n"
        "try:\n"
        "    with tempfile.TemporaryDirectory() as folder:\n"
        "        study = rb.studies.create('s', rb.problems.TopK(2, k=1), storage=f'sqlite:///{folder}/s.db')\n"
        "        study.tell(study.ask(), {0: 0.5})\n"
        "        study.history()\n"
        "except rb.MissingExtraError as error:\n"
        "    print(error)\n"
    )
    said = (
        "the extra studies is missing (pandas is not installed): pip install '.[studies]' in a clone of the project\n"
    )
    assert python(code) == said


def test_every_public_object_is_documented_with_an_example():
    for name in rb.__all__:
        thing = getattr(rb, name)
        if inspect.isclass(thing) and issubclass(thing, rb.Policy) and not inspect.isabstract(thing):
            assert ">>>" in (thing.__doc__ or ""), name
        assert inspect.getdoc(thing), name


ROOMS = ["antmaze", "benchmark", "experiments", "plots", "problems", "reproduction", "serve", "serve.tokens", "studies"]


@pytest.mark.parametrize("room", ROOMS)
def test_a_path_may_be_a_text_wherever_one_is_taken(room):
    module = import_module(f"rising_bandits.{room}")
    public = getattr(module, "__all__", None)
    for name in public or [name for name, thing in vars(module).items() if thing.__class__ is FunctionType]:
        thing = getattr(module, name)
        methods = inspect.getmembers(thing, inspect.isroutine) if inspect.isclass(thing) else [(name, thing)]
        for called, function in methods:
            mine = getattr(function, "__module__", "") or ""
            own = mine.startswith("rising_bandits") if public else mine == module.__name__
            if called.startswith("_") or not own or not callable(function):
                continue
            for part in inspect.signature(function).parameters.values():
                words = str(part.annotation)
                assert "Path" not in words or "str" in words, f"{room}.{name}.{called}({part.name}: {words})"


def test_the_project_tells_nothing_of_where_it_was_made():
    root = Path(__file__).resolve().parents[1]
    for pattern in ("*.md", "*.toml", "Makefile", "docs/*.md", "src/**/*.py"):
        for path in root.glob(pattern):
            assert "/".join(["", "work", ""]) not in path.read_text(), path


def test_a_folder_of_the_package_can_be_given_to_pytest():
    """Its ``__init__`` must not run twice; see ``conftest.py``."""
    root = Path(__file__).parents[1]
    command = [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", "-q", "src/rising_bandits/problems"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
