"""Training runs as data and on disk: specs, checkpoints and results.

The folder of a run in progress holds ``checkpoint.npz`` (networks, optimiser state, policy, random generators and log)
and ``replay.bin`` (the replay buffer). A finished run has only ``result.npz``, and an empty lock file. The checkpoint
says how many rows of ``replay.bin`` belong to it. It is written under a temporary name and then renamed, so that it is
always complete, and only a checkpoint of a later episode replaces it.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from rising_bandits import _checks
from rising_bandits.antmaze import mazes
from rising_bandits.antmaze.buffer import Buffer
from rising_bandits.antmaze.files import MOST_CHECKPOINT, MOST_RESULT, read_npz, write_npz
from rising_bandits.antmaze.record import Record
from rising_bandits.antmaze.settings import Settings, preset
from rising_bandits.antmaze.training import Training
from rising_bandits.errors import InputError
from rising_bandits.experiments.plan import PAPER_POLICIES, make_policy, parse_policy, with_windows
from rising_bandits.experiments.texts import call_text
from rising_bandits.problems.recorded import SHARE, SIGMA

FORMAT = 2
"""The format of run files. Since format 2 a run holds its whole maze and not only the name."""
POLICIES = (*PAPER_POLICIES, "oracle")
"""The six policies of the paper, and ``oracle``, the constant optimal path."""
_MOST_LABEL = 1_000
CHECKPOINT_SECONDS = 60.0
"""How often a run in progress is saved."""


@dataclass(frozen=True)
class TrainSpec:
    """Everything that defines one training run. `make` fills in the defaults of the experiment.

    Parameters
    ----------
    maze
        The maze.
    policy
        The name of the policy.
    parameters
        The arguments of the policy.
    episodes
        The number of episodes.
    seed
        The seed of the run.
    settings
        The settings of the low-level agent, as `Settings.as_dict` returns them.
    read
        For a run that was read from a file: its label. Such a run imports nothing. None if the caller made it.

    >>> TrainSpec.make("easy", "crucb", episodes=100).parameters
    {'epsilon': 0.25, 'sigma': 0.0001}
    """

    maze: mazes.Maze = field(repr=False)
    policy: str
    parameters: dict[str, Any]
    episodes: int
    seed: int
    settings: dict[str, Any] = field(repr=False)
    read: str | None = field(default=None, repr=False, compare=False)

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
        """A run with the defaults of this experiment.

        Windows are a quarter of the plays and ``sigma`` is 0.0001, unless the text of the policy sets them.

        Parameters
        ----------
        maze
            A `Maze`, the name of a built-in one, or the path of a TOML file.
        policy
            The policy as text, such as ``crucb`` or ``crucb(upward=True)``.
        episodes
            The number of episodes; by default the maze's own.
        seed
            The seed of the run.
        settings
            The name of a preset, or settings of the low-level agent.

        Raises
        ------
        InputError
            An argument is wrong, or the policy cannot run for so few episodes.
        """
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
        """The policy with the parameters that differ from the defaults of this experiment, for tables and figures.

        >>> TrainSpec.make("easy", "crucb(epsilon=0.25, upward=True)").label
        'crucb(upward=True)'
        """
        if self.read is not None:
            return self.read
        usual = make_policy(*_policy(self.maze, self.policy)).parameters()
        changed = [f"{name}={value!r}" for name, value in self.parameters.items() if usual.get(name) != value]
        return f"{self.policy}({', '.join(changed)})" if changed else self.policy

    @property
    def key(self) -> str:
        """The name of the run's folder: maze, policy and seed."""
        parts = (self.maze.name, self.label, str(self.seed))
        return "-".join(re.sub(r"[^A-Za-z0-9.-]+", "-", part).strip("-") for part in parts)

    def as_dict(self) -> dict[str, Any]:
        """The spec as plain data, ready for JSON."""
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
    def from_dict(cls, data: dict[str, Any], label: str | None = None) -> TrainSpec:
        """A spec from plain data, which is checked. Nothing that it names is imported.

        Parameters
        ----------
        data
            What `as_dict` returned, perhaps read from a file.
        label
            The label that the file has for the run. By default it is computed; a policy of one's own then has all its
            parameters in its label.

        Raises
        ------
        InputError
            The data has another format, or is not a run.
        """
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise InputError(f"format of an AntMaze run must be {FORMAT}")
        policy, parameters = data["policy"], data["parameters"]
        if (
            not isinstance(policy, str)
            or not isinstance(parameters, dict)
            or not all(map(str.isidentifier, parameters))
        ):
            raise InputError("policy of an AntMaze run must be a text, and its parameters a table")
        if label is not None and (not isinstance(label, str) or len(label) > _MOST_LABEL):
            raise InputError(f"label of an AntMaze run must be a text of at most {_MOST_LABEL} letters")
        found = cls(
            mazes.Maze.from_dict(data["maze"]),
            policy,
            parameters,
            _checks.integer("episodes", data["episodes"], low=1),
            _checks.integer("seed", data["seed"], low=0),
            dict(data["settings"]),
        )
        Settings.from_dict(found.settings)
        if ":" in policy:
            label = label or call_text(policy, parameters)
        return replace(found, read=found.label if label is None else label)

    def begin(self) -> Training:
        """A new `Training` of this run, before its first episode."""
        return Training(
            self.maze,
            make_policy(self.policy, self.parameters, None if self.read is None else ()),
            episodes=self.episodes,
            seed=self.seed,
            settings=Settings.from_dict(self.settings),
        )


def _policy(maze: mazes.Maze, text: str) -> tuple[str, dict[str, Any]]:
    """The name and parameters of a policy, with the defaults of this experiment filled in."""
    name, parameters = parse_policy(with_windows(text, SHARE))
    if name == "oracle":
        parameters = {"super_arm": maze.arms(maze.shortest), **parameters}
    if name == "tour":
        parameters = {"super_arms": [maze.arms(nodes) for nodes in maze.tour], **parameters}
    # Only policies that need sigma get it; others estimate the noise themselves or do not use it.
    if make_policy(name, parameters).parameters().get("sigma") is not None:
        parameters = {"sigma": SIGMA, **parameters}
    return name, dict(sorted(parameters.items()))


@dataclass(frozen=True)
class Result:
    """The result of a finished run.

    Attributes
    ----------
    spec
        The spec of the run.
    record
        The log of the run.
    walk
        The positions of the ant on a walk of its last path without noise, one row of 15 numbers per step.
    seconds
        How long the training took, without interruptions.
    """

    spec: TrainSpec
    record: Record
    walk: np.ndarray[Any, np.dtype[np.float32]]
    seconds: float

    @property
    def maze(self) -> mazes.Maze:
        """The maze of the run."""
        return self.record.maze

    @property
    def competes(self) -> bool:
        """Whether the run belongs into comparisons of regret; runs of ``tour`` do not, they only measure edges."""
        return self.spec.policy != "tour"


def read_result(path: str | Path) -> Result:
    """Read the result of a finished run.

    Parameters
    ----------
    path
        The file of the result, or the folder of the run.

    Raises
    ------
    InputError
        There is no result, or it cannot be read.
    """
    path = Path(path)
    path = path / "result.npz" if path.is_dir() else path
    try:
        arrays, meta = read_npz(path, MOST_RESULT)
        spec = TrainSpec.from_dict(meta["spec"], meta.get("label"))
        return Result(spec, Record.load(spec.maze, arrays), arrays["walk"], float(meta["seconds"]))
    except FileNotFoundError:
        raise InputError(f"there is no finished AntMaze run at {str(path)!r}") from None
    except Exception as error:
        # A damaged or foreign file can raise many kinds of errors: of zlib, of numpy, or of the checks here.
        raise InputError(f"{str(path)!r} is not the result of an AntMaze run: {error}") from None


def find_results(places: Iterable[str | Path]) -> list[Result]:
    """All finished runs in some places, sorted by maze, policy and seed.

    Parameters
    ----------
    places
        Result files, run folders, or folders that hold them.

    Raises
    ------
    InputError
        A place does not exist, a file is not a result, or there is none.
    """
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
    """The given runs, and all runs in a folder with the same maze, settings and number of episodes as the first.

    Files in the folder that cannot be read are ignored.
    """
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
    """Runs sorted by maze, policy and seed."""
    order = {name: place for place, name in enumerate(POLICIES)}
    return sorted(results, key=lambda r: (r.maze.name, order.get(r.spec.policy, len(order)), r.spec.label, r.spec.seed))


def check_alike(results: Sequence[Result]) -> None:
    """Raise `InputError` if runs cannot be compared: they differ in maze or settings, or one was given twice."""
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
    """The folder of one run, in progress or finished.

    Parameters
    ----------
    folder
        The folder that holds the folders of all runs.
    spec
        The run.
    """

    def __init__(self, folder: str | Path, spec: TrainSpec) -> None:
        self.spec = spec
        self.path = Path(folder) / spec.key
        self.checkpoint, self.replay, self.result = (
            self.path / name for name in ("checkpoint.npz", "replay.bin", "result.npz")
        )

    def check(self) -> None:
        """Raise `InputError` if the folder holds a result or a checkpoint of a run with other settings."""
        if self.result.exists():
            self._check(self.result, read_result(self.result).spec.as_dict())
        elif self.checkpoint.exists():
            self._read_checkpoint()

    def _read_checkpoint(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arrays and the plain data of the checkpoint, which must be of this run."""
        try:
            arrays, meta = read_npz(self.checkpoint, MOST_CHECKPOINT)
            spec = dict(meta["spec"])
        except Exception as error:
            raise InputError(f"{str(self.checkpoint)!r} cannot be read ({error}); move it away to start anew") from None
        self._check(self.checkpoint, spec)
        return arrays, meta

    def open(self) -> tuple[Training, float]:
        """The training, and how many seconds it has taken so far.

        It continues from the checkpoint if there is one; otherwise it is new.

        Raises
        ------
        InputError
            The checkpoint cannot be read or is of another run.
        """
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
        """Raise `InputError` if a file is of another run, and say in what it differs."""
        have, want = (json.loads(json.dumps(spec)) for spec in (have, self.spec.as_dict()))
        if differ := _differing(have, want):
            raise InputError(
                f"{str(path)!r} is of a run with other settings ({', '.join(differ)}); "
                "give another folder, or the same settings"
            )

    def save(self, training: Training, seconds: float) -> None:
        """Write a checkpoint.

        Parameters
        ----------
        training
            The training.
        seconds
            How long it has taken so far.

        Raises
        ------
        InputError
            There is a checkpoint of a later episode, or of another run.
        """
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
        write_npz(self.checkpoint, {**training.record.dump(), **arrays, "meta": json.dumps(meta)}, small=False)

    def finish(self, training: Training, seconds: float) -> Result:
        """Write the result, delete the checkpoint and the replay buffer, and return the result.

        Parameters
        ----------
        training
            The finished training.
        seconds
            How long it took.
        """
        walk = training.walk_last().astype(np.float32)
        meta = json.dumps({"spec": self.spec.as_dict(), "label": self.spec.label, "seconds": seconds})
        self.path.mkdir(parents=True, exist_ok=True)
        write_npz(self.result, {**training.record.dump(), "walk": walk, "meta": meta}, small=True)
        self._clean()
        return Result(self.spec, training.record, walk, seconds)

    def finished(self) -> bool:
        """Whether the run has a result. Files that a killed process left beside a result are deleted."""
        if self.result.exists() and (self.checkpoint.exists() or self.replay.exists()):
            with self.locked():
                pass
        return self.result.exists()

    def _clean(self) -> None:
        """Delete temporary files, and the checkpoint and replay buffer of a finished run."""
        finished = (self.checkpoint, self.replay) if self.result.exists() else ()
        for path in (*finished, *self.path.glob(".*.tmp")):
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other processes that train. The lock ends with the process, however it ends.

        Raises
        ------
        InputError
            Another process has the lock, or the folder cannot be made.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InputError(f"runs are kept in a folder, but {str(self.path.parent)!r} is a file") from None
        with (self.path / "lock").open("w") as file:
            try:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ImportError:  # pragma: no cover - this system has no such locks
                pass
            except OSError:
                raise InputError(f"another process is training in {str(self.path)!r}") from None
            self._clean()
            yield


def _differing(have: Any, want: Any, name: str = "") -> list[str]:
    """The names of the entries that differ, such as ``settings.batch``."""
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
    """Train one run to its end, continuing from its checkpoint if there is one.

    A run that was interrupted at any moment ends with the same result as one that was not. The last bits of the result
    may depend on the number of threads that JAX uses. To rule this out, call `pool.one_core` before JAX is used.

    Parameters
    ----------
    spec
        The run.
    folder
        The folder that holds the folders of all runs.
    progress
        Called after each episode with the training and the seconds it has taken so far.
    stopping
        Called after each episode; if it returns True, a checkpoint is written and training stops.
    checkpoint_seconds
        How often a checkpoint is written.

    Returns
    -------
    Result or None
        The result; None if ``stopping`` ended the training before its last episode.

    Raises
    ------
    InputError
        The folder holds another run of the same name, or another process trains this run.
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
