"""The loop of a simulation: select, draw, learn, record. It runs compiled, or as plain Python."""

from __future__ import annotations

from typing import Any

from rising_bandits._compile import compiled
from rising_bandits.policies.engines.operations import learn, ready, select
from rising_bandits.problems.rewards import combine
from rising_bandits.simulation.environment import draw
from rising_bandits.simulation.ledger import Ledger, has_room, note


@compiled
def play(engine: Any, environment: Any, ledger: Ledger, reward: Any, first: int, last: int, rng: Any) -> int:
    """Play rounds ``first`` to ``last`` and return the next round to play.

    It stops early, with a return value of at most ``last``, if Python has to act first: a buffer is full, first plays
    have to be planned, or the engine finds no super arm.

    Parameters
    ----------
    engine, rng
        The engine of the policy, and the policy's random generator.
    environment, ledger, reward
        Where outcomes come from, the record to write, and the state of the reward.
    first, last
        The first and the last round to play.
    """
    pushes = environment.outcomes.size
    upcoming = ledger.rounds[ledger.cursor[0]] if ledger.cursor[0] < ledger.rounds.size else 0
    for t in range(first, last + 1):
        if not ready(engine, pushes) or not has_room(ledger):
            return t
        size = select(engine, t, rng, environment.arms)
        if size == 0:
            return t
        arms = environment.arms[:size]
        played = draw(environment, arms)
        outcomes = environment.outcomes[:size]
        learn(engine, arms, outcomes, played)
        note(ledger, arms)
        ledger.totals[0] += combine(reward, environment.means[:size])
        ledger.totals[1] += combine(reward, outcomes)
        if t == upcoming:
            record = ledger.cursor[0]
            ledger.expected[record] = ledger.totals[0]
            ledger.realised[record] = ledger.totals[1]
            for arm in range(ledger.plays.shape[1]):
                ledger.plays[record, arm] = environment.plays[arm]
            ledger.cursor[0] = record + 1
            upcoming = ledger.rounds[record + 1] if record + 1 < ledger.rounds.size else 0
    return last + 1
