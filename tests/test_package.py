"""The package as it is installed: what importing it loads, what it promises, how its machine code is kept."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits import _compile

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
        "sqlalchemy",
        "alembic",
    ):
        assert heavy not in loaded


def test_the_package_is_typed_and_small():
    assert resources.files(rb).joinpath("py.typed").is_file()
    needed = [line for line in metadata.requires("rising-bandits") or [] if "extra ==" not in line]
    names = {line.split(">")[0].split(";")[0].strip() for line in needed}
    assert names == {"numpy", "scipy", "numba", "networkx", "matplotlib", "pyarrow", "typer", "rich"}


def test_a_missing_extra_is_named():
    code = (
        "import sys\n"
        "import rising_bandits as rb\n"
        "sys.modules['sqlalchemy'] = None\n"
        "import importlib.util\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'sqlalchemy' else find(name, *rest)\n"
        "try:\n"
        "    rb.studies\n"
        "except rb.MissingExtraError as error:\n"
        "    print(error)\n"
    )
    said = "studies needs sqlalchemy, which is not installed; pip install 'rising-bandits[studies]'\n"
    assert python(code) == said


def test_every_public_object_is_documented_with_an_example():
    for name in rb.__all__:
        thing = getattr(rb, name)
        if inspect.isclass(thing) and issubclass(thing, rb.Policy) and not inspect.isabstract(thing):
            assert ">>>" in (thing.__doc__ or ""), name
        assert inspect.getdoc(thing), name


@pytest.fixture
def copied_package(tmp_path):
    """The package's sources somewhere else, so that they can be changed."""
    import shutil

    shutil.copytree(Path(rb.__file__).parent, tmp_path / "rising_bandits", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


USE = """
import rising_bandits as rb
run = rb.simulate(rb.tasks.get("toy"), rb.Random(), horizon=200, seed=0)
print(rb._compile.CACHE_FOLDER, run.reward[-1], sep="|")
"""


def test_machine_code_is_never_stale(copied_package):
    """A change in a file that the cached function only calls into must be seen."""
    place = {"PYTHONPATH": str(copied_package), "RISING_BANDITS_CACHE": str(copied_package / "cache")}
    folder, reward = python(USE, **place).strip().split("|")
    assert folder.startswith(str(copied_package / "cache"))
    files = {path.name for path in Path(folder).iterdir()}
    assert python(USE, **place).strip().split("|") == [folder, reward]
    assert {path.name for path in Path(folder).iterdir()} == files, "a second process must find everything in the cache"
    rewards = copied_package / "rising_bandits" / "problems" / "rewards.py"
    text = rewards.read_text()
    assert "total += value" in text
    rewards.write_text(text.replace("total += value", "total += 2.0 * value", 1))
    other, doubled = python(USE, **place).strip().split("|")
    assert other != folder
    assert float(doubled) == pytest.approx(2 * float(reward))


def test_code_of_others_is_compiled_but_not_kept(tmp_path):
    """The hash knows only the package's sources, so a user's compiled rule must not outlive its text."""
    module = tmp_path / "mine.py"
    text = """
from dataclasses import dataclass
from typing import Any, NamedTuple
import numpy as np
import rising_bandits as rb
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.operations import indices, roomy, update

class Last(NamedTuple):
    plays: Any
    last: Any

@update.register(Last)
def _update(state, unit, outcome):
    state.plays[unit] += 1
    state.last[unit] = outcome

@indices.register(Last)
def _indices(state, t, rng, out):
    for unit in range(out.size):
        out[unit] = SIGN * state.last[unit]

@roomy.register(Last)
def _roomy(state, pushes):
    return True

class Greedy(BaseArmPolicy):
    name = "greedy"
    def make_rule(self, n_units, problem, horizon):
        return Last(np.zeros(n_units, dtype=np.int64), np.zeros(n_units))
"""
    use = (
        "import rising_bandits as rb, mine\n"
        "run = rb.simulate(rb.tasks.get('path-easy'), mine.Greedy(), horizon=300, seed=0)\n"
        "print(run.plays.tolist())"
    )
    place = {
        "PYTHONPATH": str(tmp_path),
        "RISING_BANDITS_CACHE": str(tmp_path / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    module.write_text(text.replace("SIGN", "+1.0"))
    first = python(use, **place)
    module.write_text(text.replace("SIGN", "-1.0"))
    assert python(use, **place) != first


def test_a_cache_folder_that_cannot_be_written_is_passed_over(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("RISING_BANDITS_CACHE", str(blocked / "inside"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert _compile._writable_folder() == tmp_path / "home" / "rising-bandits"


def test_the_project_tells_nothing_of_where_it_was_made():
    root = Path(__file__).resolve().parents[1]
    for pattern in ("*.md", "*.toml", "Makefile", "docs/*.md", "src/**/*.py"):
        for path in root.glob(pattern):
            assert "/".join(["", "work", ""]) not in path.read_text(), path
