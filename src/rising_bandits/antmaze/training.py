"""A training run: a bandit policy chooses a path, the ant tries to walk it, and both learn from the result."""

from __future__ import annotations

from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits.antmaze.agent import Agent
from rising_bandits.antmaze.buffer import Buffer
from rising_bandits.antmaze.maze import Maze
from rising_bandits.antmaze.record import Record
from rising_bandits.antmaze.settings import CPU, Settings
from rising_bandits.antmaze.world import World
from rising_bandits.errors import InputError
from rising_bandits.policies import Policy


class Training:
    """One training run. `episode` plays the next episode.

    In each episode the policy chooses a path, the ant tries to walk it edge by edge, the policy observes the outcomes,
    and the ant learns. The outcome of an edge is one over its steps, or 0 if it failed. Feedback is cascading: a failed
    edge ends the episode, and the edges after it are not played.

    Before the first episode the ant makes random actions for ``settings.warm_up`` episodes. They only fill the replay
    buffer. For a given seed they are the same under every policy.

    Parameters
    ----------
    maze
        The maze.
    policy
        The bandit policy; it is started here.
    episodes
        The number of episodes; by default the maze's own.
    seed
        The seed of all random choices.
    settings
        The settings of the low-level agent; the preset ``cpu`` by default.

    Raises
    ------
    InputError
        There are fewer episodes than edges, or another argument is wrong.
    """

    def __init__(
        self,
        maze: Maze,
        policy: Policy,
        *,
        episodes: int | None = None,
        seed: int = 0,
        settings: Settings = CPU,
    ) -> None:
        self.maze, self.policy, self.settings = maze, policy, settings
        self.horizon = self.check(maze, maze.episodes if episodes is None else episodes)
        self.seed = _checks.integer("seed", seed, low=0)
        self._explore, self._start, fresh, chooser = (
            np.random.default_rng(part) for part in np.random.SeedSequence(seed).spawn(4)
        )
        self.problem = maze.problem
        policy.start(self.problem, horizon=self.horizon, rng=chooser)
        self.world = World(maze, settings.integrator)
        self.agent = Agent(settings, fresh, maze.walls)
        self.buffer = Buffer()
        self.record = Record(maze)
        self._due = 0
        self._warm = 0

    @staticmethod
    def check(maze: Maze, episodes: int) -> int:
        """The number of episodes, checked: a run needs at least one for each edge of the maze.

        Parameters
        ----------
        maze
            The maze.
        episodes
            The number of episodes.

        Raises
        ------
        InputError
            There are too few episodes.
        """
        least = len(maze.edges)
        wanted = f"an integer of at least {least}, one for each edge of maze {maze.name!r}"
        return _checks.integer("episodes", episodes, low=least, wanted=wanted)

    @property
    def done(self) -> bool:
        """Whether all episodes were played."""
        return self.record.episodes >= self.horizon

    def warm_up(self) -> None:
        """Play the episodes of random actions, if this was not done yet."""
        while self._warm < self.settings.warm_up:
            observations = [self.world.reset(self._start)]
            actions: list[Floats] = []
            for step in range(self.maze.edge_steps):
                if step % self.settings.hold == 0:
                    action = self._explore.uniform(-1.0, 1.0, 8)
                actions.append(action)
                observations.append(self.world.step(action))
            goal = self.maze.nodes[self.maze.start]
            self.buffer.add(observations, actions, [goal] * len(actions))
            self._warm += 1

    def episode(self) -> list[tuple[int, int]]:
        """Play the next episode and learn from it.

        Returns
        -------
        list
            The tries of the episode as pairs (edge, steps); steps are 0 if the edge failed.

        Raises
        ------
        InputError
            All episodes were played.
        """
        if self.done:
            raise InputError(f"all {self.horizon} episodes were played")
        self.warm_up()
        arms = self.problem.oracle.ordered(self.policy.select())
        observations = [self.world.reset(self._start)]
        actions: list[Floats] = []
        goals: list[tuple[float, float]] = []
        tries: list[tuple[int, int]] = []
        for arm in arms:
            if len(actions) >= self.maze.steps:
                break  # the episode has no steps left for this edge
            steps = self._walk(int(arm), observations, actions, goals)
            tries.append((int(arm), steps))
            if steps == 0:
                break
        outcomes = np.zeros(len(arms))
        outcomes[: len(tries)] = [1.0 / steps if steps else 0.0 for _, steps in tries]
        self.policy.observe(arms, outcomes, played=np.arange(len(arms)) < len(tries))
        self.buffer.add(observations, actions, goals)
        self.record.visit(np.array(observations))
        last = self.record.episodes + 1 == self.horizon
        self.record.close(tuple(int(arm) for arm in arms), tries, self.buffer.steps, last)
        self._learn(len(actions))
        return tries

    def _walk(
        self, arm: int, observations: list[Floats], actions: list[Floats], goals: list[tuple[float, float]]
    ) -> int:
        """Try one edge, and return the steps it took; 0 if it failed or the episode's steps were used up."""
        goal = self.maze.nodes[self.maze.edges[arm][1]]
        rng, settings = self._explore, self.settings
        gone = min(1.0, self.record.successes / settings.random_successes)
        share = settings.random_share + gone * (settings.random_share_end - settings.random_share)
        # A random action is held for several steps. With this probability of beginning one, the share of all steps
        # that are random is as wanted.
        begin = share / (settings.hold - share * (settings.hold - 1))
        held = 0
        for step in range(1, self.maze.edge_steps + 1):
            if len(actions) >= self.maze.steps:
                return 0
            if held > 0:
                held -= 1
            elif rng.random() < begin:
                action, held = rng.uniform(-1.0, 1.0, 8), settings.hold - 1
            else:
                action = self.agent.act(observations[-1], goal) + settings.noise * rng.standard_normal(8)
                action = np.minimum(np.maximum(action, -1.0), 1.0)
            actions.append(action)
            goals.append(goal)
            observations.append(self.world.step(action))
            if self.world.near(goal):
                return step
        return 0

    def _learn(self, steps: int) -> None:
        """Make the updates that are due after this many more steps."""
        settings = self.settings
        self._due += steps
        chunk = settings.steps_per_update * settings.chunk
        while self._due >= chunk:
            self._due -= chunk
            self.agent.learn(self.buffer.sample(self._explore, settings, settings.chunk))

    def walk_last(self) -> Floats:
        """Let the ant walk its last path without noise and without learning, and return its positions.

        Returns
        -------
        ndarray
            One row of 15 positions per step.
        """
        rng = np.random.default_rng(self.seed)
        seen = [self.world.reset(rng)]
        for arm in self.record.paths[-1]:
            goal = self.maze.nodes[self.maze.edges[arm][1]]
            for _ in range(self.maze.edge_steps):
                if self.world.near(goal) or len(seen) > self.maze.steps:
                    break
                seen.append(self.world.step(self.agent.act(seen[-1], goal)))
            if not self.world.near(goal):
                break
        return np.array(seen)[:, :15]

    def state(self) -> dict[str, Any]:
        """The state of the training as plain data, without the learner, the replay buffer and the record."""
        return {
            "policy": self.policy.state(),
            "explore": self._explore.bit_generator.state,
            "start": self._start.bit_generator.state,
            "due": self._due,
            "warm": self._warm,
            "rows": self.buffer.rows,
        }

    def restore(self, state: dict[str, Any], learner: Any, buffer: Buffer, record: Record) -> None:
        """Continue from a saved state.

        Parameters
        ----------
        state
            What `state` returned.
        learner, buffer, record
            The learner, the replay buffer and the record at that time.
        """
        self.policy = type(self.policy).from_state(state["policy"], problem=self.problem)
        self._explore.bit_generator.state = state["explore"]
        self._start.bit_generator.state = state["start"]
        self._due, self._warm = int(state["due"]), int(state["warm"])
        self.agent.learner, self.buffer, self.record = learner, buffer, record
