"""Machine code: never stale, never foreign, kept for users' own rules too, and never needed for a decision."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rising_bandits as rb
from rising_bandits import _machine


def python(code, **environment):
    """What a fresh process prints. It imports the package from where this test did, unless told otherwise."""
    own = str(Path(rb.__file__).parents[1])
    environment["PYTHONPATH"] = os.pathsep.join(part for part in (environment.get("PYTHONPATH"), own) if part)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "RISING_", "PYTHON"))}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        env={**kept, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def copied_package(tmp_path):
    """The package's sources somewhere else, so that they can be changed."""
    shutil.copytree(Path(rb.__file__).parent, tmp_path / "rising_bandits", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


USE = """
import rising_bandits as rb
from rising_bandits import _machine
run = rb.simulate(rb.tasks.get("toy"), rb.Random(), horizon=200, seed=0)
print(_machine.cache_folder(), run.reward[-1], sep="|")
"""


def files(folder):
    return {path.name: path.stat().st_mtime_ns for path in Path(folder).rglob("*.nb?")}


def test_machine_code_is_never_stale(copied_package):
    """A change in a file that the cached function only calls into must be seen; one elsewhere costs nothing."""
    place = {"PYTHONPATH": str(copied_package), "RISING_BANDITS_CACHE": str(copied_package / "cache")}
    folder, reward = python(USE, **place).strip().split("|")
    assert Path(folder).parent == copied_package / "cache"
    kept = files(folder)
    assert kept
    assert python(USE, **place).strip().split("|") == [folder, reward]
    assert files(folder) == kept, "a second process must find everything in the cache"
    command = copied_package / "rising_bandits" / "cli" / "app.py"
    command.write_text(command.read_text() + "# a comment\n")
    assert python(USE, **place).strip().split("|") == [folder, reward]
    assert files(folder) == kept, "a comment in the command line must not compile anything"
    rewards = copied_package / "rising_bandits" / "problems" / "rewards.py"
    text = rewards.read_text()
    assert "total += value" in text
    rewards.write_text(text.replace("total += value", "total += 2.0 * value", 1))
    other, doubled = python(USE, **place).strip().split("|")
    assert other != folder
    assert float(doubled) == pytest.approx(2 * float(reward))


OWN_RULE = """
from typing import Any, NamedTuple
import numpy as np
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.rules.operations import indices, roomy, update
from sign import SIGN

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
USE_OWN = (
    "import sign, mine, rising_bandits as rb\n"
    "run = rb.simulate(rb.tasks.get('path-easy'), mine.Greedy(), horizon=300, seed=0)\n"
    "print(run.plays.tolist())"
)


def test_a_rule_of_ones_own_is_kept_until_its_module_or_one_beside_it_changes(tmp_path):
    place = {
        "PYTHONPATH": str(tmp_path),
        "RISING_BANDITS_CACHE": str(tmp_path / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    (tmp_path / "mine.py").write_text(OWN_RULE)
    (tmp_path / "sign.py").write_text("SIGN = +1.0\ndef used(): ...\n")
    first = python(USE_OWN, **place)
    kept = files(tmp_path / "cache")
    assert kept, "machine code of a user's rule is kept on disk"
    assert python(USE_OWN, **place) == first
    assert files(tmp_path / "cache") == kept
    (tmp_path / "mine.py").write_text(OWN_RULE.replace("SIGN * state", "-1.0 * state"))
    assert python(USE_OWN, **place) != first


def test_a_cache_folder_that_cannot_be_made_is_passed_over(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("RISING_BANDITS_CACHE", str(blocked / "inside"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert _machine._safe_base() == tmp_path / "home" / "rising-bandits"


def _planted(folder):
    """Files that Numba would unpickle: reading one leaves a mark."""
    mark = folder.parent / "marked"
    code = f"import pickle, os\nclass Evil:\n    def __reduce__(self):\n        return (os.system, ('touch {mark}',))\n"
    namespace: dict = {}
    exec(code, namespace)
    import pickle

    evil = pickle.dumps(namespace["Evil"]())
    for path in folder.rglob("*.nb?"):
        path.write_bytes(evil)
    return mark


@pytest.mark.parametrize("how", ["mode", "owner", "link"])
def test_a_folder_of_somebody_else_is_not_used(tmp_path, how):
    """Numba reads its index with pickle, so a planted folder would run planted code."""
    cache = tmp_path / "cache"
    place = {"RISING_BANDITS_CACHE": str(cache), "XDG_CACHE_HOME": str(tmp_path / "home")}
    python(USE, **place)
    assert files(cache)
    mark = _planted(cache)
    if how == "mode":
        cache.chmod(0o777)
    elif how == "owner":
        if os.geteuid() != 0:
            pytest.skip("only root can give a folder away")
        os.chown(cache, 12345, 12345)
    else:
        cache.rename(tmp_path / "elsewhere")
        cache.symlink_to(tmp_path / "elsewhere")
    folder, _ = python(USE, **place).strip().split("|")
    assert not mark.exists(), "planted code was run"
    assert Path(folder).is_relative_to(tmp_path / "home")


def test_no_folder_is_better_than_an_unsafe_one(tmp_path):
    for name in ("cache", "home"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777)
    (tmp_path / "home" / "rising-bandits").mkdir()
    (tmp_path / "home" / "rising-bandits").chmod(0o777)
    place = {"RISING_BANDITS_CACHE": str(tmp_path / "cache"), "XDG_CACHE_HOME": str(tmp_path / "home")}
    folder, _ = python(USE, **place).strip().split("|")
    assert folder == "None"
    assert not files(tmp_path)


def test_other_locators_of_numba_do_not_bring_back_its_own_stale_check(tmp_path):
    place = {"RISING_BANDITS_CACHE": str(tmp_path / "cache"), "NUMBA_CACHE_LOCATOR_CLASSES": "InTreeCacheLocator"}
    before = files(Path(rb.__file__).parent)
    folder, _ = python(USE, **place).strip().split("|")
    assert files(Path(rb.__file__).parent) == before
    assert files(folder), "machine code is kept in our folder all the same"


def test_the_users_own_numba_settings_are_left_alone(tmp_path):
    code = USE + "import numba\nprint(numba.config.CACHE_DIR)"
    said = python(code, RISING_BANDITS_CACHE=str(tmp_path / "cache"), NUMBA_CACHE_DIR=str(tmp_path / "theirs"))
    assert said.splitlines()[-1] == str(tmp_path / "theirs")


OTHER_NUMBA = """
import warnings
import numba, numba.extending
njit, overload = numba.njit, numba.extending.overload

def check(options):
    {check}

def other_njit(*function, **options):
    if not function:  # Numba itself passes functions
        check(options)
    return njit(*function, **options)

def other_overload(function, jit_options={{}}, **rest):
    if jit_options:
        check(jit_options)
    return overload(function, jit_options=jit_options, **rest)

numba.njit, numba.extending.overload = other_njit, other_overload
import rising_bandits as rb
from rising_bandits import _machine
from rising_bandits.simulation import loop, run
made = []
run.prepared = lambda *parts: made.append(_machine.prepared(*parts)) or made[-1]
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    runs = [rb.simulate(rb.tasks.get("toy"), policy, horizon=200, seed=0) for policy in (rb.Random(), rb.Oracle())]
print([one.regret.tolist() for one in runs])
print(len(seen), {{one.category.__name__ for one in seen}}, *{{str(one.message) for one in seen}})
print("compiled" if all(hasattr(one, "signatures") for one in made) else "plain Python")
"""


def other_numba(check, folder):
    """The runs under a Numba that checks compiler options in its own way: regret, warnings, how the loop ran."""
    return python(OTHER_NUMBA.format(check=check), RISING_BANDITS_CACHE=str(folder)).splitlines()


@pytest.fixture(scope="module")
def usual_runs(tmp_path_factory):
    regret, seen, how = other_numba("pass", tmp_path_factory.mktemp("usual"))
    assert (seen[0], how) == ("0", "compiled")
    return regret


@pytest.mark.parametrize("option", ["_nrt=False", "forceinline=True"])
def test_a_numba_that_refuses_an_option_compiles_without_it(tmp_path, usual_runs, option):
    name = option.partition("=")[0]
    check = f'if "{name}" in options: raise KeyError("Unrecognized options: {name}")'
    regret, seen, how = other_numba(check, tmp_path / "cache")
    assert regret == usual_runs
    assert seen.startswith("1 {'RuntimeWarning'} Numba "), "one warning for all runs"
    assert f"refuses {option}; machine code is made without it. Results are the same" in seen
    assert how == "compiled"


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        ('raise TypeError("njit takes no options")', "TypeError: njit takes no options"),
        ('options.pop("error_model", None)', "ZeroDivisionError: division by zero"),
        ('if options.get("cache"): raise AssertionError("a fault of this Numba")', "AssertionError: a fault"),
    ],
)
def test_a_numba_that_cannot_compile_the_library_is_replaced_by_plain_python(tmp_path, usual_runs, check, reason):
    regret, seen, how = other_numba(check, tmp_path / "cache")
    assert regret == usual_runs
    assert seen.startswith("1 {'RuntimeWarning'} Numba ")
    assert f"cannot compile the library's code ({'' if 'Assert' in reason else '_UnfitError: '}{reason}" in seen
    assert "it runs as plain Python. Results are the same" in seen
    assert how == "plain Python"


def test_a_rule_of_ones_own_that_creates_arrays_is_refused_by_name(tmp_path):
    (tmp_path / "sign.py").write_text("SIGN = +1.0\n")
    makes_one = OWN_RULE.replace("    for unit in range(out.size):", "    for unit in range(np.zeros(out.size).size):")
    assert makes_one != OWN_RULE
    (tmp_path / "mine.py").write_text(makes_one)
    code = "import mine, rising_bandits as rb\n" + (
        "def run(compiled):\n"
        "    return rb.simulate(rb.tasks.get('path-easy'), mine.Greedy(), horizon=300, compiled=compiled)\n"
        "try:\n    run(True)\nexcept rb.InputError as error:\n    print(error)\n"
        "print(run(False).plays.sum())"
    )
    said, plays = python(code, PYTHONPATH=str(tmp_path), RISING_BANDITS_CACHE=str(tmp_path / "cache")).splitlines()
    assert said.startswith("the states of mine must be ones that Numba can compile, see 'Rules for compiled code'")
    assert plays == "1200"


LIVE = """
import json, sys
if {without}:
    class Refuse:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in ("numba", "llvmlite", "matplotlib", "pyarrow", "pandas"):
                raise ModuleNotFoundError(name)
    sys.meta_path.insert(0, Refuse())
    import importlib.util
    found = importlib.util.find_spec
    importlib.util.find_spec = lambda name, package=None: None if name == "numba" else found(name, package)
import warnings
import numpy as np
import rising_bandits as rb
warnings.simplefilter("ignore", rb.SigmaWarning)  # the outcomes below are meant to be wild
chosen = {{}}
for name in rb.policies.names():
    task = rb.tasks.get("path-easy")
    parameters = {{"super_arm": [0, 1, 4, 9]}} if name == "oracle" else {{}}
    policy = rb.policies.by_name(name, **parameters)
    policy.start(task.problem, horizon=500, rng=np.random.default_rng(3))
    rows = []
    for t in range(120):
        arms = policy.select()
        policy.observe(arms, [((37 * int(arm) + 11 * t) % 101) / 101.0 for arm in arms])
        rows.append(arms.tolist())
    chosen[name] = rows
run = rb.simulate(rb.tasks.get("path-easy"), rb.CRUCB(sigma=0.01), horizon=300, seed=1, compiled={compiled})
chosen["run"] = run.regret.tolist()
assert {without} or "numba" in sys.modules
assert not {without} or "numba" not in sys.modules
print(json.dumps(chosen))
"""


def test_decisions_are_the_same_with_and_without_numba():
    plain = json.loads(python(LIVE.format(without=True, compiled=False)))
    assert plain == json.loads(python(LIVE.format(without=False, compiled=True)))


def test_a_simulation_without_numba_names_the_extra_and_the_way_out():
    code = LIVE.format(without=True, compiled=True).replace("run = rb", "try:\n    run = rb")
    code = code.partition('chosen["run"]')[0] + "except rb.MissingExtraError as error:\n    print(error)\n"
    said = python(code)
    assert said == (
        "the extra lab is missing (numba is not installed): pip install '.[lab]' in a clone of the project, "
        "or simulate with compiled=False, which runs the same loop in plain Python\n"
    )


def test_deciding_never_loads_the_compiler():
    code = LIVE.format(without=False, compiled=False).replace('assert False or "numba" in sys.modules', "")
    assert python(code.replace("print(json.dumps(chosen))", 'print("numba" in sys.modules)')) == "False\n"


def test_every_program_that_simulates_has_loaded_all_files_with_compiled_code():
    """Machine code is kept under a hash of these files, so it must not depend on what else a program imports."""
    package = Path(rb.__file__).parent
    marks = re.compile(r"^@(compiled\b|compiled_as\b|\w+\.register\()", re.MULTILINE)
    files = [path for path in package.rglob("*.py") if marks.search(path.read_text())]
    names = {".".join(("rising_bandits", *path.relative_to(package).with_suffix("").parts)) for path in files}
    loaded = python("import sys, rising_bandits\nrising_bandits.simulate\nprint(*sys.modules)").split()
    assert {"rising_bandits.simulation.loop", "rising_bandits.examples.today"} < names
    assert {name for name in names if _machine._is_own(name)} <= {*loaded}


def test_an_example_shares_machine_code_with_nothing_else(tmp_path):
    code = (
        "import rising_bandits as rb\n"
        "from rising_bandits.examples.today import RoundRobin\n"
        "rb.simulate(rb.tasks.get('toy'), RoundRobin(), horizon=200)\n"
        "rb.simulate(rb.tasks.get('toy'), rb.Random(), horizon=200)\n"
    )
    python(code, RISING_BANDITS_CACHE=str(tmp_path))
    own, example = sorted(folder.name for folder in tmp_path.iterdir())
    assert example.startswith(f"{own}-")
