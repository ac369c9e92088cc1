"""Results of runs, for the page: ``rising view DIR``."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from starlette.applications import Starlette

from rising_bandits.errors import InputError
from rising_bandits.experiments import ResultStore, StoredRun, band, compare, group, layout
from rising_bandits.serve import schemas
from rising_bandits.serve.app import assemble
from rising_bandits.serve.guard import Guard
from rising_bandits.serve.limits import Limits
from rising_bandits.serve.metrics import Metrics
from rising_bandits.serve.operations import Answer, Call, Operation, operation
from rising_bandits.serve.problems import unknown
from rising_bandits.serve.routes import page as pages
from rising_bandits.serve.tokens import Tokens

VIEW: list[Operation] = []
"""The operations of a page of results."""
_POINTS = 200
"""How many points of a curve are sent."""
_FOLDERS = 100
_FIGURES = 400
_TAG = "Results"


def find(folder: Path) -> list[Path]:
    """The folders of results in a folder: itself, and those in it at any depth, as those of a reproduction."""
    found = layout.result_folders(folder)
    return [path for path in found if not (path / layout.RUNS).is_symlink()][:_FOLDERS]


def stored(folder: Path) -> list[StoredRun]:
    """All finished runs in a folder, each once. Nothing that the files name is imported or run."""
    found: dict[tuple[str, str, int, int], StoredRun] = {}
    for place in find(folder):
        for run in ResultStore(place).runs():
            # Parts of a plan may lie beside the whole; a run in both is one seed, not two.
            found.setdefault((run.spec.world, run.label, run.spec.horizon, run.spec.seed), run)
    return list(found.values())


def results(folder: Path, runs: list[StoredRun]) -> dict[str, Any]:
    """The results in a folder: curves of regret by task and policy, the least regret first, and the report."""
    tasks: dict[str, list[dict[str, Any]]] = {}
    for (task, policy), mine in group(runs).items():
        # Runs with other horizons or records cannot be averaged with the first one.
        alike = [run for run in mine if np.array_equal(run.rounds, mine[0].rounds)]
        tasks.setdefault(task, []).append(_policy(policy, alike))
    return {
        "folder": str(folder),
        "runs": len(runs),
        "tasks": [
            {"task": task, "policies": sorted(found, key=lambda each: each["final"])} for task, found in tasks.items()
        ],
        "report": "report.html" if _has_report(folder) else None,
        "figures": figures(folder),
    }


def _policy(name: str, runs: list[StoredRun]) -> dict[str, Any]:
    """The curve of a policy."""
    found = band(runs)
    step = max(1, len(found.rounds) // _POINTS)
    places = np.unique(np.append(np.arange(0, len(found.rounds), step), len(found.rounds) - 1))
    half = (found.high - found.low) / 2.0
    return {
        "policy": name,
        "seeds": len(runs),
        "final": float(found.mean[-1]),
        "half_width": float(half[-1]) if len(runs) > 1 else None,
        "curve": {
            "at": found.rounds[places].tolist(),
            "mean": [float(f"{value:.6g}") for value in found.mean[places]],
            # The page draws two of these to each side.
            "error": [float(f"{value / 2.0:.6g}") for value in half[places]],
        },
    }


def _has_report(folder: Path) -> bool:
    """Whether there is a report in a folder. A link may lead to any file of the user's."""
    path = folder / "report.html"
    return path.is_file() and not path.is_symlink()


def figures(folder: Path) -> list[str]:
    """The pictures in a folder, as paths relative to it."""
    kinds = (*folder.glob("**/*.png"), *folder.glob("**/*.svg"))
    found = (path for path in sorted(kinds) if path.is_file() and not path.is_symlink())
    return [path.relative_to(folder).as_posix() for path, _ in zip(found, range(_FIGURES), strict=False)]


def tables(folder: Path) -> list[str]:
    """The tables to which the report links."""
    return sorted(path.name for path in folder.glob("*.csv") if path.is_file() and not path.is_symlink())


@operation("GET", "/v1/results", right="read", tag=_TAG, answer=dict[str, Any], into=VIEW)
async def show_results(call: Call) -> Any:
    """Give the results of the folder, as it is now."""
    return pages.packed(call, await call.state.look())


class CompareQuery(Struct, forbid_unknown_fields=True):
    """Which comparison."""

    task: str
    baseline: str


@operation(
    "GET",
    "/v1/results/compare",
    right="read",
    tag=_TAG,
    query=CompareQuery,
    answer=dict[str, Any],
    into=VIEW,
)
async def compare_results(call: Call) -> Any:
    """Compare the policies of a task with one of them, on the seeds that they share."""
    if call.state.runs is None:
        await call.state.look()
    query: CompareQuery = call.query
    mine = [run for (task, _), runs in group(call.state.runs).items() if task == query.task for run in runs]
    if not mine:
        raise unknown("task", query.task)
    found = await call.hub.run(partial(compare, mine, query.baseline, interval="t"))
    rows = [asdict(row) | {"p": row.p_holm} for row in sorted(found.rows, key=lambda row: row.difference)]
    return {"baseline": found.baseline, "rows": rows, "notes": list(found.notes)}


_ALONE = "sandbox; default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""The policy of files that a stranger may have written: they show something, and run nothing."""


@operation("GET", "/report/{file:path}", right="read", tag=_TAG, type="text/html", into=VIEW)
async def report(call: Call) -> Any:
    """Give the report of the folder, or one of its pictures and tables. Scripts in it do not run."""
    name, folder = call.path["file"], call.state.folder
    if name == "report.html" and _has_report(folder):
        kind = "text/html; charset=utf-8"
    elif name in await call.hub.run(figures, folder):
        kind = "image/png" if name.endswith(".png") else "image/svg+xml"
    elif name in await call.hub.run(tables, folder):
        kind = "text/plain; charset=utf-8"
    else:
        raise unknown("file", name)
    return Answer(
        await call.hub.run((folder / name).read_bytes), type=kind, headers={"Content-Security-Policy": _ALONE}
    )


@operation("GET", "/v1/me", right="read", tag=_TAG, answer=schemas.WhoAmI, into=VIEW)
async def me(call: Call) -> Any:
    """Say that this page shows results."""
    return schemas.WhoAmI(call.grant.name, [], ["read"], False, results=True)


operation("GET", "/", right=None, tag=_TAG, type="text/html", into=VIEW)(pages.page)
operation("GET", "/static/{file}", right=None, tag=_TAG, type="text/plain", into=VIEW)(pages.static)


class _Threads:
    """What the operations need of a hub: threads, and a sign of the end."""

    def __init__(self) -> None:
        self.draining = asyncio.Event()
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="rising-view")

    async def run(self, work: Any, *given: Any) -> Any:
        """Run a function in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)

    def close(self) -> None:
        """Wait for the threads."""
        self._threads.shutdown(wait=True, cancel_futures=True)


class _State:
    """The state of a page of results."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.hub, self.limits = folder, _Threads(), Limits(rate=0, seconds=120)
        self.runs: list[StoredRun] | None = None
        """The runs, since they were last looked at."""
        self._looking: asyncio.Future[dict[str, Any]] | None = None
        self.guard, self.metrics, self.underway = Guard(Tokens(), self.limits), Metrics(), 0

    async def look(self) -> dict[str, Any]:
        """The results of the folder. One look at a time: who asks again after a time-out waits for the same one."""
        if self._looking is None:
            self._looking = asyncio.ensure_future(self.hub.run(self._read))
        looking = self._looking
        try:
            found: dict[str, Any] = await asyncio.shield(looking)
        finally:
            if looking.done() and self._looking is looking:
                self._looking = None
        return found

    def _read(self) -> dict[str, Any]:
        """Read the folder. Runs in a thread."""
        runs = stored(self.folder)
        found = results(self.folder, runs)
        self.runs = runs
        return found


def make_view(folder: str | Path) -> Starlette:
    """Make the page of a folder of results as an ASGI application.

    Parameters
    ----------
    folder
        The folder, as ``rising run`` and ``rising reproduce`` write it.

    Raises
    ------
    InputError
        There is no such folder.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"folder must be a folder of results, but there is no folder {str(folder)!r}")

    @contextlib.asynccontextmanager
    async def begin() -> AsyncIterator[_State]:
        state = _State(place)
        try:
            yield state
        finally:
            state.hub.close()

    return assemble(VIEW, begin)
