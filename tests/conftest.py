"""What many tests need: the command in this process, and a PostgreSQL server of the tests' own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rising_bandits.cli import main


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
