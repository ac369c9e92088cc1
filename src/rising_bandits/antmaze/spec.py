"""What defines a training run: maze, policy, episodes, seed and settings, as data that is checked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from rising_bandits import _checks
from rising_bandits.antmaze import mazes
from rising_bandits.antmaze.maze import Maze
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

    maze: Maze = field(repr=False)
    policy: str
    parameters: dict[str, Any]
    episodes: int
    seed: int
    settings: dict[str, Any] = field(repr=False)
    read: str | None = field(default=None, repr=False, compare=False)

    @classmethod
    def make(
        cls,
        maze: str | Maze,
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
            Maze.from_dict(data["maze"]),
            policy,
            parameters,
            _checks.integer("episodes", data["episodes"], low=1),
            _checks.integer("seed", data["seed"], low=0),
            # A file from before a setting existed has its default, so that runs can be compared with it.
            Settings.from_dict(dict(data["settings"])).as_dict(),
        )
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


def _policy(maze: Maze, text: str) -> tuple[str, dict[str, Any]]:
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


def differing(have: Any, want: Any, name: str = "") -> list[str]:
    """The names of the entries that differ, such as ``settings.batch``."""
    if isinstance(have, dict) and isinstance(want, dict) and name != "maze":
        keys = dict.fromkeys([*want, *have])
        return [part for key in keys for part in differing(have.get(key), want.get(key), f"{name}.{key}".strip("."))]
    return [] if have == want else [name]
