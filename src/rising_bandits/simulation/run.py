"""Runs: a policy plays a task for a number of rounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rising_bandits import _checks
from rising_bandits._compile import compilable, quietly
from rising_bandits._machine import prepared
from rising_bandits.errors import InputError, TooManySuperArmsError
from rising_bandits.policies.engines.python import PythonEngine
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.reference import Oracle
from rising_bandits.problems.task import Task, check_task
from rising_bandits.simulation.delays import Delay, Delayed, check_delay
from rising_bandits.simulation.environment import make_environment
from rising_bandits.simulation.ledger import (
    Ledger,
    enlarged,
    make_ledger,
    super_arm_plays,
)
from rising_bandits.simulation.loop import play
from rising_bandits.simulation.result import Run, checkpoints
from rising_bandits.simulation.saved import MOST_ROUNDS_SIMULATED, dump_run, load_run
from rising_bandits.theory.cascade import expects, known
from rising_bandits.theory.optimum import OptimalConstant, optimal_constant

PLANNED_ROUNDS = 256
"""How many rounds of first plays are planned at a time."""


class Simulation:
    """A run in progress: play rounds with `advance`, save with `state`, continue with `from_state`, read `result`.

    Parameters
    ----------
    task
        The problem with its curves and noise.
    policy
        A policy of the library, or any object with ``start``, ``select`` and ``observe``. Its ``start`` is called.
    horizon
        How many rounds; by default the task's.
    seed
        The seed of the outcomes and of the policy's random choices. With the same seed, the n-th play of an arm has
        the same outcome under every policy.
    rounds
        Rounds to record in addition to those of `checkpoints`.
    compiled
        False runs the same loop as plain Python, with the same result.
    delay
        How many rounds later outcomes are known: a number, or `Geometric`. Such a run is not compiled.
    """

    def __init__(
        self,
        task: Task,
        policy: Any,
        horizon: int | None = None,
        seed: int = 0,
        *,
        rounds: Sequence[int] = (),
        compiled: bool = True,
        delay: Delay = 0,
    ) -> None:
        check_task(task)
        if isinstance(policy, type) or not all(hasattr(policy, name) for name in ("start", "select", "observe")):
            raise InputError(
                f"policy must be an object with start, select and observe, as in rb.CRUCB(), got {policy!r}"
            )
        self.task, self.policy = task, policy
        given = task.horizon if horizon is None else horizon
        self.horizon = _checks.integer("horizon", given, low=1, limit=MOST_ROUNDS_SIMULATED)
        # The comparator is known round by round.
        _checks.memory(f"a run of {self.horizon} rounds", 3.0 * self.horizon)
        self.seed = _checks.integer("seed", seed, low=0)
        self.compiled = _checks.boolean("compiled", compiled)
        recorded = checkpoints(self.horizon, rounds)
        self._environment = make_environment(task, self.horizon, self.seed)
        self.optimum = _optimum(task, self.horizon)
        if isinstance(policy, Oracle) and self.optimum is not None:
            policy.reveal(self.optimum.super_arm)
        # The policy has a random stream of its own, so its draws do not change the outcomes of arms.
        stream = np.random.SeedSequence(self.seed).spawn(2)[1]
        policy.start(task.problem, horizon=self.horizon, rng=np.random.default_rng(stream))
        if isinstance(policy, Policy):
            # Whether outcomes contradict sigma is found out after the run, see `rising_bandits.simulation.noise`.
            policy._doubt = None
        size = task.problem.oracle.max_size
        self._reward: Any = task.problem.reward.state(size)
        self._ledger: Ledger = make_ledger(recorded, task.problem.n_arms, size)
        # A policy with its own select or observe is called through these methods.
        kind = type(policy)
        self._has_engine = (
            isinstance(policy, Policy) and kind.select is Policy.select and kind.observe is Policy.observe
        )
        check_delay(delay)
        self._player = policy
        if delay != 0:
            self._player, self._has_engine = Delayed(policy, delay, self.seed), False
        self.next_round = 1
        self.seconds = 0.0

    @property
    def delay(self) -> Delay:
        """How many rounds later outcomes are known."""
        return self._player.delay if isinstance(self._player, Delayed) else 0

    @property
    def done(self) -> bool:
        """Whether the horizon is reached."""
        return self.next_round > self.horizon

    def advance(self, rounds: int | None = None) -> None:
        """Play more rounds.

        Parameters
        ----------
        rounds
            How many rounds to play, at most up to the horizon; None for all that are left.
        """
        if rounds is not None:
            rounds = _checks.integer("rounds", rounds, low=0)
        last = self.horizon if rounds is None else min(self.horizon, self.next_round + rounds - 1)
        while self.next_round <= last:
            started = time.perf_counter()
            if int(self._ledger.cursor[1]) >= self._ledger.counts.size:
                self._ledger = enlarged(self._ledger)
            engine, rng = self._engine()
            arguments = (engine, self._environment, self._ledger, self._reward, self.next_round, last, rng)
            # `seconds` does not count the time to compile the loop or to load its machine code.
            self.seconds += time.perf_counter() - started
            loop = self._loop(arguments)
            started = time.perf_counter()
            reached = loop(*arguments)
            self.seconds += time.perf_counter() - started
            stuck = reached == self.next_round
            self.next_round = reached
            if self._has_engine:
                self.policy._round = reached
            if stuck:
                raise self.task.problem.oracle.nothing_left(None)

    def _engine(self) -> tuple[Any, Any]:
        """The engine for the next rounds, and its random generator (None if it draws nothing)."""
        if not self._has_engine:
            return PythonEngine(self._player, self.task.problem.oracle), None
        engine = self.policy._advance_engine(PLANNED_ROUNDS)
        draws = getattr(engine, "draws", False) or getattr(getattr(engine, "rule", None), "draws", True)
        return engine, self.policy.rng if draws or not self.compiled else None

    def _loop(self, arguments: tuple[Any, ...]) -> Callable[..., int]:
        """The loop for these arguments: compiled if all of them can be compiled, else plain Python."""
        engine, environment, _, reward, *_ = arguments
        if self.compiled and compilable(engine) and compilable(environment) and compilable(reward):
            return prepared(play, *arguments)
        return quietly(play)

    def result(self) -> Run:
        """Return the result of the run.

        Returns
        -------
        Run
            Regret, rewards and plays.

        Raises
        ------
        InputError
            The horizon is not reached.
        """
        if not self.done:
            raise InputError(
                f"the run must be finished first: {self.next_round - 1} of {self.horizon} rounds are played"
            )
        unknown = np.full(self._ledger.rounds.size, np.nan)
        comparator = unknown if self.optimum is None else self.optimum.cumulative(self._ledger.rounds)
        expected = unknown if self.task.cascade and not expects(self.task) else self._ledger.expected.copy()
        return Run(
            task=self.task,
            policy=repr(self.policy),
            horizon=self.horizon,
            seed=self.seed,
            rounds=self._ledger.rounds,
            reward=expected,
            regret=comparator - expected,
            realised_reward=self._ledger.realised.copy(),
            realised_regret=comparator - self._ledger.realised,
            plays=self._environment.plays.copy(),
            plays_at=self._ledger.plays.copy(),
            super_arm_plays=super_arm_plays(self._ledger),
            optimum=self.optimum,
            seconds=self.seconds,
        )

    def state(self) -> dict[str, Any]:
        """Save the run.

        Returns
        -------
        dict
            Everything but the task, as plain data that JSON can hold.

        Raises
        ------
        InputError
            The policy is not a `Policy` of the library.
        """
        return dump_run(self)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], task: Task, policy_type: type[Policy]) -> Simulation:
        """Continue a saved run. Its result is the same as that of a run that was never stopped.

        Parameters
        ----------
        state
            What ``state()`` returned, perhaps through JSON. It is checked completely.
        task, policy_type
            The task, and the class of the policy.

        Returns
        -------
        Simulation
            The run as it was when `state` was called.

        Raises
        ------
        InputError
            The state is damaged, or belongs to another task, policy or version.
        """
        return load_run(cls, state, task, policy_type)


def _optimum(task: Task, horizon: int) -> OptimalConstant | None:
    """The comparator, or None if it is not known."""
    if task.cascade and not known(task):
        return None
    try:
        return optimal_constant(task, horizon)
    except TooManySuperArmsError:
        return None


def simulate(
    task: Task,
    policy: Any,
    horizon: int | None = None,
    seed: int = 0,
    *,
    rounds: Sequence[int] = (),
    compiled: bool = True,
    delay: Delay = 0,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """Run a policy on a task and return its regret, rewards and plays.

    Parameters
    ----------
    task
        The problem with its curves and noise, as in ``rb.tasks.get("path-easy")``.
    policy
        A policy of the library, or any object with ``start``, ``select`` and ``observe``. Its ``start`` is called.
    horizon
        How many rounds; by default the task's.
    seed
        The seed of the outcomes and of the policy's random choices. With the same seed, the n-th play of an arm has
        the same outcome under every policy.
    rounds
        Rounds to record in addition to those of `checkpoints`.
    compiled
        False runs the same loop as plain Python, with the same result.
    delay
        How many rounds later outcomes are known: a number, or `Geometric` for random delays. What was chosen and is not
        known yet goes to ``select(underway=...)``. Such a run is not compiled.
    progress
        A function that is called from time to time with the number of rounds played so far.

    Returns
    -------
    Run
        The result.

    >>> import rising_bandits as rb
    >>> run = simulate(rb.tasks.get("k-max"), rb.CRUCB(sigma=0.01), horizon=2_000, seed=0)
    >>> int(run.rounds[-1]), int(run.plays.sum())
    (2000, 4000)
    """
    if progress is not None and not callable(progress):
        raise InputError(f"progress must be a function of the number of rounds played, got {progress!r:.80}")
    simulation = Simulation(task, policy, horizon, seed, rounds=rounds, compiled=compiled, delay=delay)
    # In short stretches, so that Ctrl-C and progress bars work. The result does not depend on them.
    stretch = 50_000 if compiled and delay == 0 else 500
    while not simulation.done:
        simulation.advance(stretch)
        if progress is not None:
            progress(simulation.next_round - 1)
    return simulation.result()
