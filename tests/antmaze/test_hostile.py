"""Files of trained runs that a stranger wrote: nothing in them is imported, and their sizes are checked first."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.antmaze.results import find_results, read_result

GOOD = Path(__file__).parents[2] / "docs" / "data" / "antmaze" / "easy-crucb-10.npz"


def forge(path, spec=None, **changes):
    """A copy of a good result with other parts."""
    with np.load(GOOD) as data:
        arrays = {name: data[name] for name in data.files}
    meta = json.loads(str(arrays["meta"]))
    meta["spec"] |= spec or {}
    meta |= {name: changes.pop(name) for name in ("label", "seconds") if name in changes}
    np.savez_compressed(path, **{**arrays, **changes, "meta": changes.get("meta", json.dumps(meta))})


def test_what_a_result_names_is_never_called(tmp_path, run, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    marker = tmp_path / "marker"
    (tmp_path / "evil_a.py").write_text(f"open({str(marker)!r}, 'w')\nclass P:\n    pass\n")
    path = tmp_path / "result.npz"
    for policy, parameters in (("evil_a:P", {}), ("subprocess:check_output", {"args": ["touch", str(marker)]})):
        forge(path, {"policy": policy, "parameters": parameters})
        result = read_result(path)
        assert result.spec.label.startswith(policy)
        assert result.spec.key
        with pytest.raises(rb.InputError, match="named by a file"):
            result.spec.begin()
        assert find_results([path])[0].spec.policy == policy
    assert run("antmaze", "report", path, "--out", tmp_path / "page", "--no-film", "--json") == 0
    capsys.readouterr()
    assert not marker.exists()
    forge(path, {"policy": "evil_a:P"}, label="mine")
    assert read_result(path).spec.label == "mine"


@pytest.mark.parametrize(
    "changes",
    [
        {"positions": np.zeros((20_000, 20_000), dtype=np.int8)},
        {"junk": np.zeros(400_000_000, dtype=np.int8)},
        {"tries": np.zeros((3, 30_000_000), dtype=np.int8)},
        {"meta": np.array(3)},
        {"meta": "x"},
        {"meta": "[]"},
        {"label": 3},
        {"seconds": "nan"},
        {"seconds": 10**400},
        {"walk": np.zeros(3)},
        {"walk": np.full((5, 15), "x")},
        {"walk": np.zeros((5, 3))},
        {"walk": np.zeros((0, 15))},
        {"walk": np.zeros((100_000, 15))},
        {"walk": np.full((5, 15), np.nan)},
        {"walk": np.full((5, 15), 1e30)},
        {"label": "x" * 5_000},
        {"spec": {"policy": 3}},
        {"spec": {"parameters": [1]}},
        {"spec": {"episodes": -1}},
        {"spec": {"settings": {"nope": 1}}},
        {"paths": np.zeros((3, 500), dtype=np.int16)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_bad_results_are_refused_before_memory_is_asked_for(tmp_path, changes):
    path = tmp_path / "result.npz"
    forge(path, **changes)
    del changes
    tracemalloc.start()
    with pytest.raises(rb.InputError, match="is not the result of an AntMaze run"):
        read_result(path)
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


def test_a_maze_without_end_is_refused(tmp_path):
    with np.load(GOOD) as data:
        maze = json.loads(str(data["meta"]))["spec"]["maze"]
    walls = [[side * 1e7 for side in wall] for wall in maze["walls"]]
    forge(
        tmp_path / "result.npz",
        {"maze": {**maze, "walls": walls, "nodes": [[x * 1e7, y * 1e7] for x, y in maze["nodes"]]}},
    )
    with pytest.raises(rb.InputError, match="must cover at most"):
        read_result(tmp_path / "result.npz")
