"""Play one run: from its checkpoint or from the first round, saved on the way, to its result on disk."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from rising_bandits.errors import InputError, RisingBanditsError
from rising_bandits.experiments.spec import RunSpec
from rising_bandits.experiments.store import ResultStore
from rising_bandits.policies.policy import Policy
from rising_bandits.simulation import Simulation

CHECKPOINT_SECONDS = 20.0
"""How often a run in progress is saved."""
_STRETCH_SECONDS = 0.2
"""How long a run goes on before it reports progress and checks whether to stop."""

Progress = Callable[[int, int], None]
"""Called with the position of a run in the plan and the number of rounds it has played."""


def _begin(spec: RunSpec, store: ResultStore) -> Simulation:
    """The simulation of a run: from its checkpoint if there is one, otherwise from the first round."""
    state = store.read_partial(spec)
    if state is not None:
        try:
            return begin(spec, state)
        except RisingBanditsError as error:
            store.damaged(spec, error)
    return begin(spec, None)


def begin(spec: RunSpec, state: dict[str, Any] | None) -> Simulation:
    """The simulation of a run, from a saved state or from the first round.

    A run that cannot be saved always starts with the first round.
    """
    policy = spec.make_policy()
    if state is not None and saves(policy):
        found = Simulation.from_state(state, spec.make_task(), type(policy))
        of_state = found.horizon, found.seed, found.delay, found.policy.parameters()
        if of_state != (spec.horizon, spec.seed, spec.delay, policy.parameters()):
            raise InputError("state must be of this run, but is of another horizon, seed, delay or policy")
        return found
    return Simulation(spec.make_task(), policy, spec.horizon, spec.seed, rounds=spec.rounds, delay=spec.delay)


def saves(policy: Any) -> bool:
    """Whether a run in progress can be saved: its policy derives from `Policy`."""
    return isinstance(policy, Policy)


def stretch_after(stretch: int, took: float) -> int:
    """The number of rounds of the next stretch, which should take about `_STRETCH_SECONDS`."""
    return max(100, min(1_000_000, int(stretch * min(4.0, _STRETCH_SECONDS / max(took, 1e-6)))))


def execute(
    spec: RunSpec,
    store: ResultStore,
    version: str,
    *,
    progress: Callable[[int], None] | None = None,
    stopping: Callable[[], bool] = lambda: False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> bool:
    """Run one spec to its end and store the result; returns False if it was asked to stop before the end."""
    simulation = _begin(spec, store)
    kept = saves(simulation.policy)
    saved = time.monotonic()
    stretch = 200
    while not simulation.done:
        started = time.monotonic()
        simulation.advance(stretch)
        # Stretches are short, so that progress and requests to stop are prompt.
        stretch = stretch_after(stretch, time.monotonic() - started)
        if progress is not None:
            progress(simulation.next_round - 1)
        if stopping():
            if kept:
                store.write_partial(spec, simulation.state())
            return False
        if kept and time.monotonic() - saved > checkpoint_seconds:
            store.write_partial(spec, simulation.state())
            saved = time.monotonic()
    store.write_run(spec, simulation.result(), version)
    return True


@contextlib.contextmanager
def interrupt_heard() -> Iterator[Callable[[], bool]]:
    """A function that says whether Ctrl-C was pressed. Checked between stretches, it never interrupts a round."""
    heard = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield heard.is_set
        return
    before = signal.signal(signal.SIGINT, lambda *_: heard.set())
    try:
        yield heard.is_set
    finally:
        signal.signal(signal.SIGINT, before)
