"""Results of runs as a page: the numbers of the folder, and nothing outside it."""

from __future__ import annotations

import shutil
import threading

import numpy as np
import pytest
from service_kit import Client, problem_of

from rising_bandits.errors import InputError
from rising_bandits.experiments import ResultStore, compare
from rising_bandits.serve import Limits, results
from rising_bandits.serve.results import make_view


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from rising_bandits.cli import main

    made = tmp_path_factory.mktemp("results") / "out"
    policies = ("--policy", "sw-cucb", "--policy", "random")
    with pytest.raises(SystemExit) as stop:
        main(["run", "path-easy", *policies, "--seeds", "3", "--horizon", "60", "--out", str(made)])
    assert stop.value.code == 0
    (made / "report.html").write_text("<h1>Report</h1><script>alert(1)</script>")
    (made / "figures").mkdir()
    (made / "figures" / "a b.png").write_bytes(b"\x89PNG\r\n")
    (made / "figures" / "away.png").symlink_to("/etc/passwd")
    (made / "secret.txt").write_text("secret")
    (made / "claims.csv").write_text("claim,verdict\n")
    (made / "away.csv").symlink_to("/etc/passwd")
    return made


def test_the_numbers_of_the_folder(folder):
    runs = ResultStore(folder).runs()
    with Client(make_view(folder)) as client:
        assert client.get("/v1/me").json()["results"]
        assert "<title>" in client.get("/").text
        found = client.get("/v1/results").json()
        assert found["runs"] == len(runs) == 6
        (task,) = found["tasks"]
        assert {each["policy"].split("(")[0] for each in task["policies"]} == {"sw-cucb", "random"}
        for each in task["policies"]:
            mine = [run.regret[-1] for run in runs if run.spec.label == each["policy"]]
            assert each["final"] == pytest.approx(np.mean(mine))
            assert each["curve"]["mean"][-1] == pytest.approx(np.mean(mine), rel=1e-5)
        assert [each["final"] for each in task["policies"]] == sorted(each["final"] for each in task["policies"])
        report = client.get("/report/report.html")
        assert report.headers["content-security-policy"].startswith("sandbox;")
        assert found["figures"] == ["figures/a b.png"]
        assert client.get("/report/figures/a%20b.png").headers["content-type"] == "image/png"
        # The report links to its tables.
        table = client.get("/report/claims.csv")
        assert (table.text, table.headers["content-type"]) == ("claim,verdict\n", "text/plain; charset=utf-8")
        for path in (
            "secret.txt",
            "away.csv",
            "figures/away.png",
            "..%2Fout%2Fsecret.txt",
            "../conftest.py",
            "/etc/passwd",
        ):
            problem_of(client.get(f"/report/{path}"), 404)
        problem_of(client.get("/v1/results", headers={"Host": "evil.example"}), 421)


def test_a_run_counts_once_wherever_else_it_lies(folder, tmp_path, run, capsys):
    shutil.copytree(folder, tmp_path / "whole", symlinks=True)
    shutil.copytree(folder / "runs", tmp_path / "parts" / "1" / "runs")
    file = sorted((folder / "runs").iterdir())[0]
    assert run("run", "--repeat", str(file), "--out", str(tmp_path / "whole2")) == 0
    shutil.move(tmp_path / "whole2" / "_repeat", tmp_path / "whole" / "_repeat")
    assert [path.relative_to(tmp_path).as_posix() for path in results.find(tmp_path)] == ["parts/1", "whole"]
    with Client(make_view(tmp_path)) as client:
        found = client.get("/v1/results").json()
        assert found["runs"] == 6
        assert {each["seeds"] for task in found["tasks"] for each in task["policies"]} == {3}
        compared = client.get("/v1/results/compare?task=path-easy&baseline=random")
        assert [row["pairs"] for row in compared.json()["rows"]] == [3]
    # Whoever asks for the repeated runs sees them.
    assert len(results.stored(tmp_path / "whole" / "_repeat")) == 1


@pytest.mark.parametrize("baseline", ["random", "sw-cucb"])
def test_a_comparison_is_that_of_the_library(folder, baseline):
    wanted = compare(folder, baseline, interval="t")
    with Client(make_view(folder)) as client:
        found = client.get("/v1/results/compare", params={"task": "path-easy", "baseline": baseline}).json()
        assert found["baseline"] == baseline
        (row,), (same,) = found["rows"], wanted.rows
        assert (row["policy"], row["pairs"]) == (same.policy, 3)
        assert [row[name] for name in ("difference", "low", "high", "p")] == [
            pytest.approx(value) for value in (same.difference, same.low, same.high, same.p_holm)
        ]
        wrong = {"task": "path-easy", "baseline": "crucb"}
        assert "baseline must be one of" in problem_of(client.get("/v1/results/compare", params=wrong), 422)
        problem_of(client.get("/v1/results/compare", params={"task": "toy", "baseline": baseline}), 404)


def test_a_folder_that_is_not_there(tmp_path, run, capsys):
    with pytest.raises(InputError, match="no folder"):
        make_view(tmp_path / "nothing")
    assert run("view", tmp_path / "nothing", "--no-browse") == 2
    assert "no folder" in capsys.readouterr().err
    assert run("view", tmp_path, "--host", "0.0.0.0") == 2


def test_a_look_that_takes_too_long_is_not_begun_again(folder, monkeypatch):
    begun, go_on = [], threading.Event()
    really = results.stored

    def slow(place):
        begun.append(place)
        go_on.wait(60)
        return really(place)

    monkeypatch.setattr(results, "stored", slow)
    with Client(make_view(folder)) as client:
        client.app.state.rising.limits = Limits(rate=0, seconds=0.2)
        for _ in range(3):
            problem_of(client.get("/v1/results"), 503)
        assert len(begun) == 1
        go_on.set()
        client.app.state.rising.limits = Limits(rate=0)
        assert client.get("/v1/results").json()["runs"] == 6
        assert len(begun) == 1
        # The next look sees the folder as it is then.
        assert client.get("/v1/results").json()["runs"] == 6
        assert len(begun) == 2
