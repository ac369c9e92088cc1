"""The hierarchy: a bandit policy chooses a path, the ant walks it edge by edge and learns, and the bandit is told."""

from __future__ import annotations

from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits.antmaze.agent import Agent
from rising_bandits.antmaze.buffer import Buffer
from rising_bandits.antmaze.mazes import Maze
from rising_bandits.antmaze.record import Record
from rising_bandits.antmaze.settings import CPU, Settings
from rising_bandits.antmaze.world import World
from rising_bandits.errors import InputError
from rising_bandits.policies import Policy


class Training:
    """One run: ``episodes`` rounds of choose, walk, tell and learn. `episode` plays the next one.

    Feedback is cascading: an edge that fails ends the episode, and the edges behind it were not played. The
    outcome of an edge is one over its steps, or 0. Before the first episode the ant moves at random for
    ``settings.warm_up`` episodes, which fills its memory and counts for nothing else; for one seed they are the
    same under every policy.
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
        """The number of episodes, if a run may have so many."""
        least = len(maze.edges)
        wanted = f"an integer of at least {least}, one for each edge of maze {maze.name!r}"
        return _checks.integer("episodes", episodes, low=least, wanted=wanted)

    @property
    def done(self) -> bool:
        """Whether every episode was played."""
        return self.record.episodes >= self.horizon

    def warm_up(self) -> None:
        """Move at random, if that was not done yet."""
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
        """Play the next episode and learn from it; its tries as (edge, steps or 0)."""
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
                break  # no step is left to try this edge with
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
        """Try one edge; the steps it took, or 0 if it failed or the episode's steps ran out."""
        goal = self.maze.nodes[self.maze.edges[arm][1]]
        rng, settings = self._explore, self.settings
        gone = min(1.0, self.record.successes / settings.random_successes)
        share = settings.random_share + gone * (settings.random_share_end - settings.random_share)
        # Of all steps the share is random, though a random action once begun is held for several.
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
        """Make the updates that are due for so many more steps."""
        settings = self.settings
        self._due += steps
        chunk = settings.steps_per_update * settings.chunk
        while self._due >= chunk:
            self._due -= chunk
            self.agent.learn(self.buffer.sample(self._explore, settings, settings.chunk))

    def walk_last(self) -> Floats:
        """The positions of the ant as it walks its last path without noise; nothing is learned from it."""
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
        """Plain data beside the learner, the buffer and the record: what else goes on changing."""
        return {
            "policy": self.policy.state(),
            "explore": self._explore.bit_generator.state,
            "start": self._start.bit_generator.state,
            "due": self._due,
            "warm": self._warm,
            "rows": self.buffer.rows,
        }

    def restore(self, state: dict[str, Any], learner: Any, buffer: Buffer, record: Record) -> None:
        """Go on from what was saved."""
        self.policy = type(self.policy).from_state(state["policy"], problem=self.problem)
        self._explore.bit_generator.state = state["explore"]
        self._start.bit_generator.state = state["start"]
        self._due, self._warm = int(state["due"]), int(state["warm"])
        self.agent.learner, self.buffer, self.record = learner, buffer, record
