"""What many tests need, and what makes all of them quick: the order of files, and machine code that processes share."""

from __future__ import annotations

import gc
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rising_bandits.cli import main

LONGEST = (
    "policies/test_policies.py",
    "policies/test_recorded.py",
    "simulation/test_simulation.py",
    "test_docs.py",
    "antmaze/test_training.py",
    "antmaze/test_report.py",
    "policies/test_live.py",
    "test_machine.py",
    "experiments/test_experiments.py",
    "policies/test_states_from_strangers.py",
    "studies/test_storage.py",
    "studies/test_cli.py",
    "studies/test_faults.py",
    "test_reproduction.py",
    "test_benchmark.py",
    "test_docs_tables.py",
)
"""The files that take longest begin first, so that at the end no worker waits for one of them."""


def pytest_configure(config: pytest.Config) -> None:
    """Let all processes of a test run share what JAX compiles for AntMaze."""
    if not hasattr(config, "workerinput"):
        folder = tempfile.mkdtemp(prefix="rising-tests-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ["JAX_COMPILATION_CACHE_DIR"] = folder
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files; the others follow by their number of tests."""
    folder = Path(__file__).parent
    longest = {folder / name: place for place, name in enumerate(LONGEST)}
    counts: dict[Path, int] = {}
    for item in items:
        counts[item.path] = counts.get(item.path, 0) + 1
    items.sort(key=lambda item: (longest.get(item.path, len(LONGEST)), -counts[item.path], str(item.path)))


def pytest_collection_finish() -> None:
    """Spare the garbage collector what is imported now; it would be looked through again and again while compiling."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def run() -> Callable[..., int]:
    """``rising`` with these arguments, in this process; returns its exit code."""

    def run(*arguments: object) -> int:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        assert isinstance(stop.value.code, int)
        return stop.value.code

    return run


def _find(program: str) -> str | None:
    """A server program on the path, or where Debian puts it."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"), reverse=True)
    return str(places[0]) if places else shutil.which(program)


def _install() -> None:
    """Servers are not in PyPI: root installs one with the system's own tool."""
    if _find("initdb") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update"], ["install", "-y", "--no-install-recommends", "postgresql"]):
            subprocess.run(["apt-get", "-qq", *command], env=environment, capture_output=True, timeout=300, check=False)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _as_server() -> list[str]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    known = subprocess.run(["id", "postgres"], capture_output=True, check=False).returncode == 0
    return ["runuser", "-u", "postgres" if known else "nobody", "--"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of an empty cluster in a temporary folder, reachable from this machine only."""
    _install()
    initdb, control = _find("initdb"), _find("pg_ctl")
    if initdb is None or control is None:
        pytest.skip("NO POSTGRESQL: studies on PostgreSQL are NOT tested; apt-get install postgresql")
    # Not pytest's own folder: the server's user must be able to enter every folder above.
    folder = Path(tempfile.mkdtemp(prefix="rising-postgres-", dir="/tmp"))
    folder.chmod(0o777)
    port, runner = _free_port(), _as_server()

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*runner, *command], capture_output=True, text=True, timeout=60, check=False, cwd=folder)

    data = f"{folder}/data"
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
    steps = [
        (initdb, "-D", data, "-U", "rising", "--auth=trust", "-E", "UTF8", "--no-sync"),
        (control, "-D", data, "-w", "-l", f"{folder}/log", "-o", options, "start"),
    ]
    for step in steps:
        done = run(*step)
        if done.returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            said = (done.stderr or done.stdout).strip().splitlines()
            pytest.skip(f"NO POSTGRESQL: studies on PostgreSQL are NOT tested; {said[-1] if said else step[0]}")
    try:
        yield f"postgresql://rising@127.0.0.1:{port}/postgres"
    finally:
        run(control, "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say it once more at the end, where everyone looks."""
    for report in terminalreporter.stats.get("skipped", []):
        if "NO POSTGRESQL" in str(report.longrepr):
            terminalreporter.write_sep(
                "!", "studies on PostgreSQL were NOT tested: no server could be started", red=True
            )
            return
