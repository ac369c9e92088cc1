"""Runs: a policy plays a task for a number of rounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from rising_bandits import _checks
from rising_bandits._compile import compilable
from rising_bandits._machine import prepared
from rising_bandits.errors import InputError, TooManySuperArmsError
from rising_bandits.policies import saving
from rising_bandits.policies.engines.python import PythonEngine
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.reference import Oracle
from rising_bandits.problems.tasks import Task, check_task
from rising_bandits.simulation.delays import Delay, Delayed, check_delay
from rising_bandits.simulation.environment import make_environment
from rising_bandits.simulation.ledger import (
    Ledger,
    dump_ledger,
    load_ledger,
    make_ledger,
    super_arm_plays,
    with_space,
)
from rising_bandits.simulation.loop import play
from rising_bandits.simulation.result import Run, checkpoints
from rising_bandits.theory.cascade import expects, known
from rising_bandits.theory.optimum import OptimalConstant, optimal_constant

RUN_VERSION = 3
"""The format of a saved run. Runs saved in another version cannot be continued."""
MOST_ROUNDS_SIMULATED = 10**9
"""The largest horizon of a simulation."""
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
        if not isinstance(cast(object, compiled), bool):
            raise InputError(f"compiled must be True or False, got {compiled!r}")
        self.compiled = compiled
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
                self._ledger = with_space(self._ledger)
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
        return _quietly

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
        if not isinstance(self.policy, Policy):
            raise InputError(
                f"policy must be one of the library's classes for the run to be saved, got {self.policy!r}"
            )
        delayed = {"delayed": self._player.state()} if isinstance(self._player, Delayed) else {}
        return saving.sealed(
            {
                **delayed,
                "version": RUN_VERSION,
                "task": self.task.name,
                "horizon": self.horizon,
                "seed": self.seed,
                "next_round": self.next_round,
                "seconds": self.seconds,
                "plays": saving.encode_array(self._environment.plays),
                "ledger": dump_ledger(self._ledger),
                "policy": self.policy.state(),
            }
        )

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
        check_task(task)
        saved = saving.Saved("state", state)
        if saved.data.get("version") != RUN_VERSION or saved.data.get("task") != task.name:
            raise InputError(f"state must be one of task {task.name!r} and version {RUN_VERSION}")
        if saved.get("checksum") != saving.checksum(saved.data):
            raise InputError("state is damaged or was edited: its checksum is wrong")
        with saving.reading("state"):
            name = saved.part("policy").data.get("policy")
            given = getattr(policy_type, "__name__", repr(policy_type))
            if given != name:
                raise InputError(f"policy_type must be the class {name}, got {given}")
            policy = policy_type.from_state(saved.part("policy").data, problem=task.problem)
            horizon = saved.integer("horizon", low=1, high=MOST_ROUNDS_SIMULATED)
            next_round = saved.integer("next_round", low=1, high=horizon + 1)
            run = cls(task, policy_type(**policy.parameters()), horizon, saved.integer("seed", low=0, high=2**128))
            player: Any = policy
            if "delayed" in saved.data:
                player = Delayed.from_state(saved.part("delayed"), policy, run.seed, next_round - 1)
                run._has_engine = False
            elif policy.round != next_round:
                raise InputError(f"state holds a policy at round {policy.round} of a run at round {next_round}")
            if policy.horizon != run.policy.horizon:
                raise InputError(f"state holds a policy for {policy.horizon} rounds of a run of {run.policy.horizon}")
            plays = saving.load_plays(saved, task.problem.n_arms)
            if (plays > next_round - 1).any():
                raise InputError("state holds more plays of an arm than rounds")
            oracle = task.problem.oracle
            run._ledger = load_ledger(saved.part("ledger"), next_round, horizon, oracle.n_arms, oracle.max_size)
            run._environment.plays[:] = plays
            run.policy, run._player = policy, player
            run.next_round, run.seconds = next_round, saved.number("seconds", low=0.0)
        return run


def _quietly(*arguments: Any) -> int:
    """The loop as plain Python, without NumPy's warnings about infinities, which compiled code does not give either."""
    with np.errstate(all="ignore"):
        return play(*arguments)


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
    simulation = Simulation(task, policy, horizon, seed, rounds=rounds, compiled=compiled, delay=delay)
    # In short stretches, so that Ctrl-C and progress bars work. The result does not depend on them.
    stretch = 50_000 if compiled and delay == 0 else 500
    while not simulation.done:
        simulation.advance(stretch)
        if progress is not None:
            progress(simulation.next_round - 1)
    return simulation.result()
