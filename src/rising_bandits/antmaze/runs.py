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
import zipfile
from collections.abc import Callable, Iterable, Iterator
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
from rising_bandits.experiments.plan import make_policy, parse_policy

FORMAT = 2
"""2: a run holds its maze, not only its name."""
POLICIES = ("crucb", "r-ed-ucb", "sw-ucb", "sw-cucb", "sw-ts", "sw-cts", "oracle")
"""The paper's six, and the constant optimal path."""
_SIGMA, _SHARE = 1e-4, 0.25
CHECKPOINT_SECONDS = 60.0
_UNREADABLE = (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile)


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
    if text.strip() == "oracle":
        return "oracle", {"super_arm": maze.arms(maze.shortest)}
    name, parameters = parse_policy(text)
    if name in ("crucb", "r-ed-ucb"):
        parameters = {"epsilon": _SHARE, "sigma": _SIGMA, **parameters}
    elif name.startswith("sw-"):
        parameters = {"window": _SHARE, **parameters}
    elif make_policy(name, parameters).parameters().get("sigma") is not None:
        # A policy that measures the noise itself is left to do so.
        parameters = {"sigma": _SIGMA, **parameters}
    return name, parameters


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


def _write_npz(path: Path, arrays: dict[str, Any], *, small: bool) -> None:
    with replacing(path) as aside, aside.open("wb") as file:
        (np.savez_compressed if small else np.savez)(file, **arrays)


def read_result(path: str | Path) -> Result:
    """A finished run from its file, or from its folder."""
    path = Path(path)
    path = path / "result.npz" if path.is_dir() else path
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
            meta = json.loads(str(data["meta"]))
            spec = TrainSpec.from_dict(meta["spec"])
            record = Record.load(spec.maze, data)
            return Result(spec, record, data["walk"], float(meta["seconds"]))
    except FileNotFoundError:
        raise InputError(f"there is no finished AntMaze run at {str(path)!r}") from None
    except _UNREADABLE as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{str(path)!r} is not the result of an AntMaze run: {error}") from None


def find_results(places: Iterable[str | Path]) -> list[Result]:
    """All finished runs in files, run folders and folders of them, by maze, policy and seed."""
    files: list[Path] = []
    for place in map(Path, places):
        if not place.exists():
            raise InputError(f"there is no file or folder {str(place)!r}")
        files += [place] if place.is_file() else sorted(place.rglob("*.npz"))
    found = [read_result(path) for path in dict.fromkeys(files) if path.name != "checkpoint.npz"]
    if not found:
        raise InputError(f"there is no finished AntMaze run in {', '.join(map(str, places))}")
    order = {name: place for place, name in enumerate(POLICIES)}
    return sorted(found, key=lambda r: (r.maze.name, order.get(r.spec.policy, len(order)), r.spec.label, r.spec.seed))


class RunFolder:
    """Where one run is kept while it goes on, and after."""

    def __init__(self, folder: str | Path, spec: TrainSpec) -> None:
        self.spec = spec
        self.path = Path(folder) / spec.key
        self.checkpoint, self.replay, self.result = (
            self.path / name for name in ("checkpoint.npz", "replay.bin", "result.npz")
        )

    def open(self) -> tuple[Training, float]:
        """The run where it was stopped, or at its first episode, and the seconds spent on it so far."""
        if not self.checkpoint.exists():
            return self.spec.begin(), 0.0
        try:
            with self.checkpoint.open("rb") as file, np.load(file, allow_pickle=False) as data:
                arrays = {name: data[name] for name in data.files}
            meta = json.loads(str(arrays["meta"]))
        except _UNREADABLE as error:
            raise InputError(f"{str(self.checkpoint)!r} cannot be read ({error}); move it away to start anew") from None
        self._check(meta)
        training = self.spec.begin()
        leaves = [arrays[f"leaf_{place}"] for place in range(meta["leaves"])]
        learner = jax.tree.unflatten(jax.tree.structure(training.agent.learner), [jax.numpy.asarray(x) for x in leaves])
        buffer = Buffer.read(self.replay, meta["state"]["rows"])
        training.restore(meta["state"], learner, buffer, Record.load(training.maze, arrays))
        return training, float(meta["seconds"])

    def _check(self, meta: dict[str, Any]) -> None:
        have, want = meta["spec"], json.loads(json.dumps(self.spec.as_dict()))
        if have != want:
            differ = [name for name in want if have.get(name) != want[name]]
            if "settings" in differ:
                other = have.get("settings", {})
                differ += [f"settings.{name}" for name, value in want["settings"].items() if other.get(name) != value]
                differ.remove("settings")
            raise InputError(
                f"the checkpoint in {str(self.path)!r} is of a run with other settings ({', '.join(differ)}); "
                "give another folder, or the same settings"
            )

    def save(self, training: Training, seconds: float) -> None:
        """Write a checkpoint, unless there is one already of a later episode."""
        self.path.mkdir(parents=True, exist_ok=True)
        rows = 0
        if self.checkpoint.exists():
            with np.load(self.checkpoint, allow_pickle=False) as data:
                meta = json.loads(str(data["meta"]))
            if meta["episodes"] > training.record.episodes:
                raise InputError(
                    f"{str(self.checkpoint)!r} is of episode {meta['episodes']}, "
                    f"later than {training.record.episodes}, and is not overwritten"
                )
            self._check(meta)
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
        for path in (self.checkpoint, self.replay):
            path.unlink(missing_ok=True)
        return Result(self.spec, training.record, walk, seconds)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else trains in this folder meanwhile; the lock goes with the process, however it ends."""
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / "lock").open("w") as file:
            try:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ImportError:  # pragma: no cover - no such locks on this system
                pass
            except OSError:
                raise InputError(f"another process is training in {str(self.path)!r}") from None
            yield


def train(
    spec: TrainSpec,
    folder: str | Path,
    *,
    progress: Callable[[Training, float], None] | None = None,
    stopping: Callable[[], bool] = lambda: False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> Result | None:
    """Train to the end, from where it was stopped; None where it was asked to stop before.

    Killed at any moment and called again, it ends with the same result as if it had not been.
    """
    place = RunFolder(folder, spec)
    if place.result.exists():
        done = read_result(place.result)
        if done.spec.as_dict() != json.loads(json.dumps(spec.as_dict())):
            raise InputError(f"{str(place.result)!r} is of a run with other settings; give another folder")
        return done
    with place.locked():
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
