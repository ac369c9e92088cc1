"""One run: a policy on a task for a number of rounds, stoppable, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits.errors import InputError, TooManySuperArmsError
from rising_bandits.policies import state as plain
from rising_bandits.policies.base import Policy
from rising_bandits.policies.reference import Oracle
from rising_bandits.problems.base import Label
from rising_bandits.problems.tasks import Task
from rising_bandits.simulation.environment import make_environment
from rising_bandits.simulation.ledger import Ledger, make_ledger, super_arm_plays, with_space
from rising_bandits.simulation.loop import play
from rising_bandits.theory.cascade import expects, known
from rising_bandits.theory.optimum import OptimalConstant, optimal_constant

_interpreted = getattr(play, "py_func", play)


def checkpoints(horizon: int, extra: Sequence[int] = (), count: int = 200) -> Ints:
    """Rounds to record: about ``count`` spread evenly on a logarithmic axis, as many evenly spread, and ``extra``.

    >>> checkpoints(10, count=4).tolist()
    [1, 2, 5, 8, 10]
    """
    spread = np.geomspace(1, horizon, count).round().astype(np.int64)
    even = np.linspace(horizon / count, horizon, count).round().astype(np.int64)
    for value in extra:
        _checks.integer("rounds", value, low=1, high=horizon)
    return np.unique(np.concatenate([spread, even.clip(1), np.array(list(extra), dtype=np.int64), [horizon]]))


@dataclass(frozen=True)
class Run:
    """What one run left behind. Cumulative numbers are taken at ``rounds``."""

    task: Task = field(repr=False)
    policy: str
    horizon: int
    seed: int
    rounds: Ints = field(repr=False)
    """The rounds after which the numbers below were taken; the last one is the horizon."""
    reward: Floats = field(repr=False)
    """Cumulative expected reward.

    NaN for arms that fail by chance under cascading feedback, where `rising_bandits.theory.cascade` has no formula."""
    regret: Floats = field(repr=False)
    """Cumulative expected regret against the optimal constant super arm for this horizon; may be negative.

    NaN where that is not known: where ``reward`` is NaN, for cascading feedback of other noise than arms that fail by
    chance, and where it would take listing too many super arms."""
    realised_reward: Floats = field(repr=False)
    """Cumulative reward of the outcomes that were drawn."""
    realised_regret: Floats = field(repr=False)
    """The comparator's expected reward minus ``realised_reward``."""
    plays: Ints = field(repr=False)
    """Plays of each base arm over the whole run."""
    plays_at: Ints = field(repr=False)
    """Plays of each base arm at each of ``rounds``; no columns where that would be more than 20 million numbers."""
    super_arm_plays: dict[tuple[int, ...], int] = field(repr=False)
    """Plays of each super arm that was played, by its ascending arm numbers."""
    optimum: OptimalConstant | None = field(repr=False)
    """The comparator; None where ``regret`` is NaN."""
    seconds: float = 0.0
    """Time in the loop."""

    @property
    def plays_by_label(self) -> dict[Label, int]:
        """Plays of each base arm, by its label."""
        return {label: int(count) for label, count in zip(self.task.problem.labels, self.plays, strict=True)}

    @property
    def super_arm_plays_by_label(self) -> dict[tuple[Label, ...], int]:
        """Plays of each super arm by the labels of its arms, in the order in which they are used; most played first."""
        problem = self.task.problem
        ordered = sorted(self.super_arm_plays.items(), key=lambda item: -item[1])
        return {tuple(problem.labels_of(problem.ordered(arms))): count for arms, count in ordered}

    @property
    def optimal_plays(self) -> int:
        """How often the optimal constant super arm was played."""
        return 0 if self.optimum is None else self.super_arm_plays.get(tuple(self.optimum.super_arm.tolist()), 0)


_Kind = tuple[type, type, str, bool]
_WARM_ROUNDS: set[_Kind] = set()
_WARM_LOOPS: set[_Kind] = set()
"""What this process has machine code for: policies, oracles and rewards whose rounds and loops were played."""


class _PythonActor:
    """A policy of any kind as the loop sees it: it decides and learns in Python."""

    def __init__(self, policy: Any, task: Task) -> None:
        self._policy = policy
        self._oracle = task.problem.oracle
        # Policies of the library check themselves; what an object of the user's own proposes is checked here.
        self._trusted = isinstance(policy, Policy)

    def roomy(self, pushes: int) -> bool:
        return True

    def select(self, t: int, rng: np.random.Generator, out: Ints) -> int:
        proposed = self._policy.select()
        arms = self._oracle.ordered(proposed if self._trusted else self._oracle.check_super_arm(proposed))
        out[: arms.size] = arms
        return int(arms.size)

    def learn(self, arms: Ints, outcomes: Floats, played: int) -> None:
        # Copies: a policy may keep what it is given, and the loop writes over its own arrays.
        if played == arms.size:
            self._policy.observe(arms.copy(), outcomes.copy())
        else:
            self._policy.observe(arms.copy(), outcomes.copy(), np.arange(arms.size) < played)


class Simulation:
    """A run in progress: `advance` it, save it (`state`), go on with it (`from_state`), read its `result`."""

    def __init__(
        self,
        task: Task,
        policy: Any,
        horizon: int | None = None,
        seed: int = 0,
        *,
        rounds: Sequence[int] = (),
        compiled: bool = True,
    ) -> None:
        if not isinstance(cast(object, task), Task):
            raise InputError(f"task must be a Task, as in rb.tasks.get('path-easy'), got {task!r}")
        if isinstance(policy, type) or not all(hasattr(policy, name) for name in ("start", "select", "observe")):
            raise InputError(
                f"policy must be an object with start, select and observe, as in rb.CRUCB(), got {policy!r}"
            )
        self.task, self.policy = task, policy
        self.horizon = _checks.integer("horizon", task.horizon if horizon is None else horizon, low=1)
        self.seed = _checks.integer("seed", seed, low=0)
        self.compiled = compiled
        self.optimum = _optimum(task, self.horizon)
        recorded = checkpoints(self.horizon, rounds)
        # One stream each, so that what a policy draws never changes what the arms do.
        environment_seed, policy_seed = np.random.SeedSequence(self.seed).spawn(2)
        self._rng = np.random.default_rng(environment_seed)
        self._environment = make_environment(task, self.horizon)
        if isinstance(policy, Oracle) and self.optimum is not None:
            policy.reveal(self.optimum.super_arm)
        policy.start(task.problem, horizon=self.horizon, rng=np.random.default_rng(policy_seed))
        self._reward: Any = task.problem.reward.kernel or task.problem.reward
        self._ledger: Ledger = make_ledger(recorded, task.problem.n_arms, task.problem.oracle.max_size)
        self.next_round = 1
        self.seconds = 0.0
        self._kind = (type(policy), type(task.problem.oracle), task.problem.reward.name, compiled)

    @property
    def done(self) -> bool:
        """Whether the horizon is reached."""
        return self.next_round > self.horizon

    def advance(self, rounds: int | None = None) -> None:
        """Play some more rounds, or all that are left."""
        self._warm_up()
        last = self.horizon if rounds is None else min(self.horizon, self.next_round + rounds - 1)
        started = time.perf_counter()
        while self.next_round <= last:
            if int(self._ledger.cursor[1]) >= self._ledger.counts.size:
                self._ledger = with_space(self._ledger)
            actor = self._compiled_actor()
            if actor is not None and self._kind not in _WARM_LOOPS:
                # Compiling (or loading machine code) is not part of the time per round.
                self.seconds += time.perf_counter() - started
                self._play(actor, self.next_round - 1)
                _WARM_LOOPS.add(self._kind)
                started = time.perf_counter()
            if actor is None:
                python = _PythonActor(self.policy, self.task)
                # While arms are being covered a built-in policy decides in Python, one round at a time.
                until = self.next_round if self.compiled and isinstance(self.policy, Policy) else last
                self.next_round = _interpreted(
                    python, self._environment, self._ledger, self._reward, self.next_round, until, None, self._rng
                )
            else:
                self.next_round = self._play(actor, last)
                self.policy.take_back(self.next_round)
        self.seconds += time.perf_counter() - started

    def _warm_up(self) -> None:
        """Have the functions of single rounds compiled, by playing a few on the side, so that no time includes it."""
        # Only policies of the library: one of the user's own may do more than decide.
        if self._kind in _WARM_ROUNDS or not type(self.policy).__module__.startswith("rising_bandits."):
            return
        _WARM_ROUNDS.add(self._kind)
        twin = type(self.policy)(**self.policy.parameters())
        Simulation(self.task, twin, self.horizon, self.seed, compiled=self.compiled).advance(2)

    def _play(self, actor: Any, last: int) -> int:
        """Rounds up to ``last`` in compiled code."""
        rng = self.policy.rng
        return play(actor, self._environment, self._ledger, self._reward, self.next_round, last, rng, self._rng)

    def _compiled_actor(self) -> Any:
        if not self.compiled or not isinstance(self.policy, Policy) or self.task.problem.reward.kernel is None:
            return None
        return self.policy.actor()

    def result(self) -> Run:
        """What came of the run; the horizon must be reached."""
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
        """Everything but the task, as plain data."""
        ledger = {
            name: plain.encode_array(value)
            for name, value in self._ledger._asdict().items()
            if isinstance(value, np.ndarray)
        }
        return {
            "version": plain.VERSION,
            "task": self.task.name,
            "horizon": self.horizon,
            "seed": self.seed,
            "next_round": self.next_round,
            "seconds": self.seconds,
            "rng": plain.dump_rng(self._rng),
            "plays": plain.encode_array(self._environment.plays),
            "ledger": ledger,
            "policy": self.policy.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], task: Task, policy_type: type[Policy]) -> Simulation:
        """The run as it was when `state` was called; it ends as one that was never stopped."""
        if state.get("version") != plain.VERSION or state.get("task") != task.name:
            raise InputError(f"state must be one of task {task.name!r} and version {plain.VERSION}")
        saved = state["policy"]
        if saved.get("policy") != policy_type.__name__:
            raise InputError(f"policy_type must be the class {saved.get('policy')}, got {policy_type.__name__}")
        run = cls(task, policy_type(**saved["parameters"]), state["horizon"], state["seed"])
        run.policy = policy_type.from_state(saved, problem=task.problem)
        ledger = {name: plain.decode_array(value) for name, value in state["ledger"].items()}
        run._ledger = run._ledger._replace(**ledger)
        run._environment.plays[:] = plain.decode_array(state["plays"])
        run._rng = plain.load_rng(state["rng"])
        run.next_round, run.seconds = int(state["next_round"]), float(state["seconds"])
        return run


def _optimum(task: Task, horizon: int) -> OptimalConstant | None:
    """The comparator, or None where it is not known; the run is worth having without it."""
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
    progress: Callable[[int], None] | None = None,
) -> Run:
    """Run a policy on a task and return its regret, rewards and plays.

    The policy is started anew. ``rounds`` adds rounds to those that are recorded; ``compiled=False`` runs the
    loop in Python around the same compiled rules and solvers, with the same result; ``progress`` is called
    with the rounds played so far.

    >>> import rising_bandits as rb
    >>> run = simulate(rb.tasks.get("k-max"), rb.CRUCB(sigma=0.01), horizon=2_000, seed=0)
    >>> int(run.rounds[-1]), int(run.plays.sum())
    (2000, 4000)
    """
    simulation = Simulation(task, policy, horizon, seed, rounds=rounds, compiled=compiled)
    # Short stretches keep Ctrl-C and progress bars alive; they change no number.
    stretch = 50_000 if compiled else 500
    while not simulation.done:
        simulation.advance(stretch)
        if progress is not None:
            progress(simulation.next_round - 1)
    return simulation.result()
