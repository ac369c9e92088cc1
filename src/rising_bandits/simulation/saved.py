"""Saved runs as plain data. Data that is loaded is checked completely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rising_bandits.errors import InputError
from rising_bandits.policies import saving
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.task import Task, check_task
from rising_bandits.simulation.delays import Delayed
from rising_bandits.simulation.ledger import dump_ledger, load_ledger

if TYPE_CHECKING:
    from rising_bandits.simulation.run import Simulation

RUN_VERSION = 3
"""The format of a saved run. Runs saved in another version cannot be continued."""
MOST_ROUNDS_SIMULATED = 10**9
"""The largest horizon of a simulation."""


def dump_run(run: Simulation) -> dict[str, Any]:
    """The state of a run; see `Simulation.state`."""
    if not isinstance(run.policy, Policy):
        raise InputError(f"policy must be one of the library's classes for the run to be saved, got {run.policy!r}")
    delayed = {"delayed": run._player.state()} if isinstance(run._player, Delayed) else {}
    return saving.sealed(
        {
            **delayed,
            "version": RUN_VERSION,
            "task": run.task.name,
            "horizon": run.horizon,
            "seed": run.seed,
            "next_round": run.next_round,
            "seconds": run.seconds,
            "plays": saving.encode_array(run._environment.plays),
            "ledger": dump_ledger(run._ledger),
            "policy": run.policy.state(),
        }
    )


def load_run(kind: type[Simulation], state: Mapping[str, Any], task: Task, policy_type: type[Policy]) -> Simulation:
    """The run that was saved; see `Simulation.from_state`."""
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
        run = kind(task, policy_type(**policy.parameters()), horizon, saved.integer("seed", low=0, high=2**128))
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
