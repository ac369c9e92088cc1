"""The command as a person and as a program would use it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import rising_bandits as rb

RISING = str(Path(sys.executable).with_name("rising"))


def test_the_package_can_be_run_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "rising_bandits", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"rising {rb.__version__}\n"


def test_tasks_prints_a_table_and_json(run, capsys):
    assert run("tasks") == 0
    table = capsys.readouterr().out
    for name in rb.tasks.names():
        assert name in table
    assert run("tasks", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    easy = next(task for task in data["tasks"] if task["task"] == "path-easy")
    assert easy["base_arms"] == 12
    assert easy["super_arms"] == 6
    assert easy["optimal_arms"] == [2, 5, 6, 9]
    assert easy["optimal_super_arm"][0] == "0,0->1,0"


def test_run_prints_a_table_draws_and_keeps_the_results(run, tmp_path, capsys):
    arguments = ["run", "path-easy", "--policy", "crucb", "--policy", "sw-cucb", "--seeds", "2", "--horizon", "600"]
    assert run(*arguments, "--out", str(tmp_path), "--plot", "--workers", "1") == 0
    text = capsys.readouterr().out
    assert "crucb" in text
    assert "600 rounds" in text
    assert len(list((tmp_path / "runs").glob("*.parquet"))) == 4
    assert (tmp_path / "_settings.json").exists()
    assert (tmp_path / "_figures" / "regret-path-easy.png").stat().st_size > 10_000
    assert (tmp_path / "_figures" / "overview-path-easy.png").stat().st_size > 10_000
    assert (tmp_path / "_figures" / "regret-path-easy.svg").read_text().startswith("<?xml")
    assert run(*arguments, "--out", str(tmp_path), "--json") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["policy"] for row in rows} == {"crucb", "sw-cucb"}
    single = ["run", "toy", "--policy", "random", "--seeds", "1", "--horizon", "50", "--out", str(tmp_path)]
    assert run(*single, "--json") == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["half_width"] is None
    assert run(*single, "--metric", "regret-split") == 0
    assert "regret_exploring" in capsys.readouterr().out


def test_a_run_is_repeated_from_its_own_file(run, tmp_path, capsys):
    common = ["run", "toy", "--policy", "sw-ts(window=20)", "--seeds", "1", "--first-seed", "3", "--horizon", "400"]
    assert run(*common, "--record", "123", "--out", str(tmp_path / "a")) == 0
    capsys.readouterr()
    file = next((tmp_path / "a" / "runs").glob("*.parquet"))
    assert run("run", "--repeat", str(file), "--out", str(tmp_path / "b")) == 0
    assert "every number is the same" in capsys.readouterr().out
    assert run("run", "toy", "--repeat", str(file)) == 2


def test_a_run_without_a_known_optimum_is_shown_and_repeated(run, tmp_path, capsys):
    common = ["run", "k-max", "--policy", "sw-cucb", "--cascade", "--seeds", "1", "--horizon", "300"]
    assert run(*common, "--out", tmp_path / "a") == 0
    table = capsys.readouterr().out
    assert "nan" not in table
    assert table.split("sw-cucb")[1].split()[:5] == ["1", "–", "–", "–", "–"]
    file = next((tmp_path / "a" / "runs").glob("*.parquet"))
    assert run("run", "--repeat", file, "--out", tmp_path / "b") == 0
    assert "every number is the same" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "give at least one task"),
        (["run", "nope"], "got 'nope'"),
        (["run", "toy", "--policy", "nope"], "got 'nope'"),
        (["run", "toy", "--policy", "crucb(epsilon=2)"], "epsilon must be"),
        (["run", "toy", "--seeds", "0"], "seeds must be"),
        (["run", "toy", "--seeds", "many"], "seeds must be a number of at least 1"),
        (["run", "toy", "--horizon", "3", "--policy", "crucb"], "horizon must be at least"),
        (["run", "toy", "--record", "0", "--policy", "random", "--horizon", "10"], "rounds must be"),
        (["run", "--repeat", "no.parquet"], "does not exist"),
        (["run", "toy", "--workers", "0"], "workers must be"),
        (["run", "--nope"], "nope"),
        (["nope"], "nope"),
        (["run", "toy", "--policy", "random", "--horizon", "10", "--out", "/proc/nowhere"], "/proc"),
        (["run", "toy", "--policy", "builtins:dict(1)"], "policy must look like"),
        (["run", "toy", "--policy", "builtins:object(x=2)"], "cannot be made with"),
        (["theory", "bounds", "nope"], "got 'nope'"),
        (["theory", "diagnose", "none.csv"], "does not exist"),
        (["reproduce", "--only", "nope"], "got 'nope'"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(run, arguments, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.strip().splitlines()) == 1
    assert captured.err.startswith("rising: ")
    assert words in captured.err
    assert list(tmp_path.iterdir()) == []


def test_the_command_is_installed_and_tells_its_version():
    done = subprocess.run([RISING, "--version"], capture_output=True, text=True, check=True)
    assert rb.__version__ in done.stdout
    done = subprocess.run([RISING, "--help"], capture_output=True, text=True, check=True)
    assert "tasks" in done.stdout


RUNNING = """
import signal, sys
from rising_bandits.cli import main, output

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a test in the background would ignore Ctrl-C
    output.LINE_EVERY = 0.0  # progress is said as soon as rounds are played
    main(sys.argv[1:])
"""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_saves_and_the_same_command_goes_on(tmp_path, workers):
    script = tmp_path / "running.py"
    script.write_text(RUNNING)
    # Far longer than a test: the run is never over before it is stopped.
    command = ["run", "spanning-complex", "--policy", "sw-ts", "--seeds", "2", "--horizon", "5000000"]
    command += ["--out", str(tmp_path / "out"), "--workers", workers]
    process = subprocess.Popen(
        [sys.executable, str(script), *command], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        line = process.stderr.readline()
        assert line.startswith("running: 0%, 0/2 runs")
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    finally:
        if process.poll() is None:  # deaf: it must not go on beside the other tests
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert errors.strip().splitlines()[-1] == "rising: stopped; the same command continues where it stopped"
    assert list((tmp_path / "out" / "_partial").glob("*.gz"))


def test_only_commands_with_checkpoints_promise_to_continue(run, tmp_path, monkeypatch, capsys):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    hint = "; the same command continues where it stopped"
    for words, place, command in [
        (hint, "rising_bandits.cli.report.play_plan", ["run", "toy"]),
        (hint, "rising_bandits.cli.report.play_plan", ["antmaze", "replay"]),
        (hint, "rising_bandits.cli.bench.seeds_of", ["bench", "policies"]),
        (hint, "rising_bandits.cli.reproduce.engine", ["reproduce"]),
        (hint, "rising_bandits.antmaze.pool.train_all", ["antmaze", "run"]),
        ("", "rising_bandits.cli.demo.commute", ["demo"]),
        ("", "rising_bandits.cli.identify.identify", ["identify", "identify-models"]),
        ("", "rising_bandits.cli.study_show.open_study", ["study", "show", "x"]),
    ]:
        with monkeypatch.context() as patched:
            patched.chdir(tmp_path)
            patched.setattr(place, stop)
            assert run(*command) == 130, command
        assert capsys.readouterr().err == f"rising: stopped{words}\n", command


def test_theory_commands_print_tables_and_json(run, tmp_path, capsys):
    assert run("theory", "bounds", "path-easy", "toy") == 0
    assert "path-easy" in capsys.readouterr().out
    assert run("theory", "bounds", "k-max", "--json") == 0
    bound = json.loads(capsys.readouterr().out)["bounds"][0]
    assert bound["bound"] == pytest.approx(bound["start"] + bound["growth"] + bound["noise"])
    assert run("theory", "optimum", "path-easy", "--json") == 0
    assert json.loads(capsys.readouterr().out)["super_arm"][0] == "0,0->1,0"
    name = "rising_bandits.theory.instances:best_constant_is_not_optimal(horizon=110)"
    assert run("theory", "optimum", name, "--exact") == 0
    assert "0.3000 more" in capsys.readouterr().out
    log = tmp_path / "log.csv"
    rows = [f"warm,{n},{min(1.0, 0.2 + 0.002 * n)}" for n in range(300)]
    log.write_text("arm,play,outcome\n" + "\n".join(rows) + "\n")
    assert run("theory", "diagnose", str(log), "--plot", str(tmp_path / "arms.png")) == 0
    assert "warm" in capsys.readouterr().out
    assert (tmp_path / "arms.png").exists()
    assert run("theory", "diagnose", str(log), "--json") == 0
    assert json.loads(capsys.readouterr().out)["arms"][0]["arm"] == "warm"


def test_a_task_of_ones_own_is_drawn_too(run, tmp_path, capsys):
    name = "rising_bandits.theory.instances:general_a(horizon=300)"
    assert run("run", name, "--policy", "sw-cucb", "--seeds", "1", "--out", str(tmp_path), "--plot", "--json") == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert len(figures) == 4
    assert all(":" not in Path(figure).name for figure in figures)
