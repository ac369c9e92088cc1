"""A training run as data, on disk: checkpoints that are whole or not there, and a small file of results.

A run folder holds ``checkpoint.npz`` (networks, optimiser, bandit, random states, log), ``replay.bin`` (the
ant's memory, a file that only grows) and, at the end, ``result.npz``. The checkpoint names how many rows of
``replay.bin`` belong to it, is written aside and renamed, and is only ever replaced by a later one.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from rising_bandits import _checks
from rising_bandits._files import replacing
from rising_bandits.antmaze import mazes
from rising_bandits.antmaze.buffer import Buffer
from rising_bandits.antmaze.record import Record
from rising_bandits.antmaze.settings import Settings, preset
from rising_bandits.antmaze.training import Training
from rising_bandits.errors import InputError
from rising_bandits.experiments.plan import PAPER_POLICIES, make_policy, parse_policy, with_windows
from rising_bandits.problems.recorded import SHARE, SIGMA

FORMAT = 2
"""2: a run holds its maze, not only its name."""
POLICIES = (*PAPER_POLICIES, "oracle")
"""The paper's six, and the constant optimal path."""
CHECKPOINT_SECONDS = 60.0


@dataclass(frozen=True)
class TrainSpec:
    """One run, complete.

    >>> TrainSpec.make("easy", "crucb", episodes=100).parameters
    {'epsilon': 0.25, 'sigma': 0.0001}
    """

    maze: mazes.Maze = field(repr=False)
    policy: str
    parameters: dict[str, Any]
    episodes: int
    seed: int
    settings: dict[str, Any] = field(repr=False)

    @classmethod
    def make(
        cls,
        maze: str | mazes.Maze,
        policy: str,
        *,
        episodes: int | None = None,
        seed: int = 0,
        settings: str | Settings = "cpu",
    ) -> TrainSpec:
        """A run by names; windows are a quarter of the plays and sigma is 0.0001, unless the policy says otherwise."""
        plan = mazes.get(maze) if isinstance(maze, str) else maze
        name, parameters = _policy(plan, policy)
        chosen = preset(settings, plan) if isinstance(settings, str) else settings
        episodes = plan.episodes if episodes is None else episodes
        spec = cls(plan, name, parameters, episodes, _checks.integer("seed", seed, low=0), chosen.as_dict())
        Training.check(plan, episodes)
        make_policy(name, parameters).start(plan.problem, horizon=episodes, rng=0)
        return spec

    @property
    def label(self) -> str:
        """The policy with the parameters that differ from this experiment's, for tables and figures.

        >>> TrainSpec.make("easy", "crucb(epsilon=0.25, upward=True)").label
        'crucb(upward=True)'
        """
        usual = make_policy(*_policy(self.maze, self.policy)).parameters()
        changed = [f"{name}={value!r}" for name, value in self.parameters.items() if usual.get(name) != value]
        return f"{self.policy}({', '.join(changed)})" if changed else self.policy

    @property
    def key(self) -> str:
        """A file name for the run."""
        parts = (self.maze.name, self.label, str(self.seed))
        return "-".join(re.sub(r"[^A-Za-z0-9.-]+", "-", part).strip("-") for part in parts)

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "format": FORMAT,
            "maze": self.maze.as_dict(),
            "policy": self.policy,
            "parameters": self.parameters,
            "episodes": self.episodes,
            "seed": self.seed,
            "settings": self.settings,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> TrainSpec:
        """The inverse of `as_dict`."""
        if data.get("format") != FORMAT:
            raise InputError(f"format of an AntMaze run must be {FORMAT}, got {data.get('format')!r}")
        fields = {name: value for name, value in data.items() if name != "format"}
        return cls(**{**fields, "maze": mazes.Maze.from_dict(data["maze"])})

    def begin(self) -> Training:
        """The run at its first episode."""
        return Training(
            self.maze,
            make_policy(self.policy, self.parameters),
            episodes=self.episodes,
            seed=self.seed,
            settings=Settings.from_dict(self.settings),
        )


def _policy(maze: mazes.Maze, text: str) -> tuple[str, dict[str, Any]]:
    """A policy with the defaults of this experiment filled in."""
    name, parameters = parse_policy(with_windows(text, SHARE))
    if name == "oracle":
        parameters = {"super_arm": maze.arms(maze.shortest), **parameters}
    if name == "tour":
        parameters = {"super_arms": [maze.arms(nodes) for nodes in maze.tour], **parameters}
    # A policy that measures the noise itself, or needs not know it, is left to do so.
    if make_policy(name, parameters).parameters().get("sigma") is not None:
        parameters = {"sigma": SIGMA, **parameters}
    return name, dict(sorted(parameters.items()))


@dataclass(frozen=True)
class Result:
    """What a finished run left behind."""

    spec: TrainSpec
    record: Record
    walk: np.ndarray[Any, np.dtype[np.float32]]
    """Positions of the ant on its last path, walked without noise."""
    seconds: float
    """Time of training, over all its parts."""

    @property
    def maze(self) -> mazes.Maze:
        """The maze of the run."""
        return self.record.maze

    @property
    def competes(self) -> bool:
        """Whether its regret says something: a tour is there to measure edges, not to be compared."""
        return self.spec.policy != "tour"


def _write_npz(path: Path, arrays: dict[str, Any], *, small: bool) -> None:
    with replacing(path) as aside, aside.open("wb") as file:
        (np.savez_compressed if small else np.savez)(file, **arrays)


def _read_npz(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of a file, and the plain data among them."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
        arrays = {name: data[name] for name in data.files}
    return arrays, json.loads(str(arrays["meta"]))


def read_result(path: str | Path) -> Result:
    """A finished run from its file, or from its folder."""
    path = Path(path)
    path = path / "result.npz" if path.is_dir() else path
    try:
        arrays, meta = _read_npz(path)
        spec = TrainSpec.from_dict(meta["spec"])
        return Result(spec, Record.load(spec.maze, arrays), arrays["walk"], float(meta["seconds"]))
    except FileNotFoundError:
        raise InputError(f"there is no finished AntMaze run at {str(path)!r}") from None
    except Exception as error:
        # A damaged file, or one of something else, can fail in any way: in zlib, in numpy, in our own checks.
        raise InputError(f"{str(path)!r} is not the result of an AntMaze run: {error}") from None


def find_results(places: Iterable[str | Path]) -> list[Result]:
    """All finished runs in files, run folders and folders of them, by maze, policy and seed."""
    files: list[Path] = []
    for place in map(Path, places):
        if not place.exists():
            raise InputError(f"there is no file or folder {str(place)!r}")
        files += [place] if place.is_file() else sorted(place.rglob("*.npz"))
    once = {path.resolve(): path for path in reversed(files) if path.name != "checkpoint.npz"}
    found = [read_result(path) for path in once.values()]
    if not found:
        raise InputError(f"there is no finished AntMaze run in {', '.join(map(str, places))}")
    return _sorted(found)


def find_alike(results: Sequence[Result], folder: Path) -> list[Result]:
    """Some runs, and all others in a folder of runs that can be put beside them; what cannot be read is left alone."""
    found = {result.spec.key: result for result in results}
    kind = results[0].spec
    for path in sorted(folder.glob("*/result.npz")):
        with contextlib.suppress(InputError):
            other = read_result(path)
            spec = other.spec
            if (spec.maze, spec.settings, spec.episodes) == (kind.maze, kind.settings, kind.episodes):
                found.setdefault(spec.key, other)
    return _sorted(found.values())


def _sorted(results: Iterable[Result]) -> list[Result]:
    order = {name: place for place, name in enumerate(POLICIES)}
    return sorted(results, key=lambda r: (r.maze.name, order.get(r.spec.policy, len(order)), r.spec.label, r.spec.seed))


def check_alike(results: Sequence[Result]) -> None:
    """Refuse runs that cannot be put side by side: of different mazes or settings, or the same run twice."""
    seen: set[tuple[Any, ...]] = set()
    for result in results:
        spec, first = result.spec, results[0].spec
        if spec.maze != first.maze:
            raise InputError(f"runs must be of one maze, got {first.maze.name!r} and another, {spec.maze.name!r}")
        if differ := _differing(first.settings, spec.settings):
            raise InputError(
                f"runs must have been trained with the same settings, but {first.key} and {spec.key} differ in "
                f"{', '.join(differ)}"
            )
        if (run := (spec.label, spec.seed, spec.episodes)) in seen:
            raise InputError(f"run {spec.key} of {spec.episodes} episodes was given twice")
        seen.add(run)


class RunFolder:
    """Where one run is kept while it goes on, and after."""

    def __init__(self, folder: str | Path, spec: TrainSpec) -> None:
        self.spec = spec
        self.path = Path(folder) / spec.key
        self.checkpoint, self.replay, self.result = (
            self.path / name for name in ("checkpoint.npz", "replay.bin", "result.npz")
        )

    def check(self) -> None:
        """Refuse a folder with a result or a checkpoint of another run, before anything is trained."""
        if self.result.exists():
            self._check(self.result, read_result(self.result).spec.as_dict())
        elif self.checkpoint.exists():
            self._read_checkpoint()

    def _read_checkpoint(self) -> tuple[dict[str, Any], dict[str, Any]]:
        try:
            arrays, meta = _read_npz(self.checkpoint)
            spec = dict(meta["spec"])
        except Exception as error:
            raise InputError(f"{str(self.checkpoint)!r} cannot be read ({error}); move it away to start anew") from None
        self._check(self.checkpoint, spec)
        return arrays, meta

    def open(self) -> tuple[Training, float]:
        """The run where it was stopped, or at its first episode, and the seconds spent on it so far."""
        if not self.checkpoint.exists():
            return self.spec.begin(), 0.0
        arrays, meta = self._read_checkpoint()
        training = self.spec.begin()
        leaves = [arrays[f"leaf_{place}"] for place in range(meta["leaves"])]
        learner = jax.tree.unflatten(jax.tree.structure(training.agent.learner), [jax.numpy.asarray(x) for x in leaves])
        buffer = Buffer.read(self.replay, meta["state"]["rows"])
        training.restore(meta["state"], learner, buffer, Record.load(training.maze, arrays))
        return training, float(meta["seconds"])

    def _check(self, path: Path, have: dict[str, Any]) -> None:
        """Refuse a file of another run, and say in what it differs."""
        have, want = (json.loads(json.dumps(spec)) for spec in (have, self.spec.as_dict()))
        if differ := _differing(have, want):
            raise InputError(
                f"{str(path)!r} is of a run with other settings ({', '.join(differ)}); "
                "give another folder, or the same settings"
            )

    def save(self, training: Training, seconds: float) -> None:
        """Write a checkpoint, unless there is one already of a later episode."""
        self.path.mkdir(parents=True, exist_ok=True)
        rows = 0
        if self.checkpoint.exists():
            _, meta = self._read_checkpoint()
            if meta["episodes"] > training.record.episodes:
                raise InputError(
                    f"{str(self.checkpoint)!r} is of episode {meta['episodes']}, "
                    f"later than {training.record.episodes}, and is not overwritten"
                )
            rows = int(meta["state"]["rows"])
        training.buffer.write_from(self.replay, rows)
        leaves = jax.tree.leaves(training.agent.learner)
        meta = {
            "spec": self.spec.as_dict(),
            "state": training.state(),
            "episodes": training.record.episodes,
            "seconds": seconds,
            "leaves": len(leaves),
        }
        arrays = {f"leaf_{place}": np.asarray(leaf) for place, leaf in enumerate(leaves)}
        _write_npz(self.checkpoint, {**training.record.dump(), **arrays, "meta": json.dumps(meta)}, small=False)

    def finish(self, training: Training, seconds: float) -> Result:
        """Write the result, and drop what only a run in progress needs."""
        walk = training.walk_last().astype(np.float32)
        meta = json.dumps({"spec": self.spec.as_dict(), "seconds": seconds})
        self.path.mkdir(parents=True, exist_ok=True)
        _write_npz(self.result, {**training.record.dump(), "walk": walk, "meta": meta}, small=True)
        self._clean()
        return Result(self.spec, training.record, walk, seconds)

    def finished(self) -> bool:
        """Whether there is a result; what a process left that was killed right after writing it is dropped."""
        if self.result.exists() and (self.checkpoint.exists() or self.replay.exists()):
            with self.locked():
                pass
        return self.result.exists()

    def _clean(self) -> None:
        """Drop what a finished run does not need, and what was written aside by one that was killed."""
        finished = (self.checkpoint, self.replay) if self.result.exists() else ()
        for path in (*finished, *self.path.glob(".*.tmp")):
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else trains in this folder meanwhile; the lock goes with the process, however it ends."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InputError(f"runs are kept in a folder, but {str(self.path.parent)!r} is a file") from None
        with (self.path / "lock").open("w") as file:
            try:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ImportError:  # pragma: no cover - no such locks on this system
                pass
            except OSError:
                raise InputError(f"another process is training in {str(self.path)!r}") from None
            self._clean()
            yield


def _differing(have: Any, want: Any, name: str = "") -> list[str]:
    """The names of what differs, as in ``settings.batch``."""
    if isinstance(have, dict) and isinstance(want, dict) and name != "maze":
        keys = dict.fromkeys([*want, *have])
        return [part for key in keys for part in _differing(have.get(key), want.get(key), f"{name}.{key}".strip("."))]
    return [] if have == want else [name]


def train(
    spec: TrainSpec,
    folder: str | Path,
    *,
    progress: Callable[[Training, float], None] | None = None,
    stopping: Callable[[], bool] = lambda: False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> Result | None:
    """Train to the end, from where it was stopped; None where it was asked to stop before.

    Killed at any moment and called again, it ends with the same result as if it had not been. The last bits may
    depend on how many threads JAX has; `pool.one_core`, called before JAX is used, settles that for all machines.
    """
    place = RunFolder(folder, spec)
    place.check()
    if place.finished():
        return read_result(place.result)
    with place.locked():
        if place.result.exists():
            return read_result(place.result)  # another process has just finished it
        training, before = place.open()
        started = saved = time.monotonic()
        while not training.done:
            training.episode()
            now = time.monotonic()
            seconds = before + now - started
            if progress is not None:
                progress(training, seconds)
            if stopping():
                place.save(training, seconds)
                return None
            if now - saved > checkpoint_seconds:
                place.save(training, seconds)
                saved = time.monotonic()
        return place.finish(training, before + time.monotonic() - started)
