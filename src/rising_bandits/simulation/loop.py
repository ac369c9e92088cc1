"""The only loop: select, draw, learn, record. It runs as plain Python on anything, or compiled."""

from __future__ import annotations

from typing import Any

from rising_bandits._compile import compiled
from rising_bandits.policies.engines.operations import learn, ready, select
from rising_bandits.problems.rewards import combine
from rising_bandits.simulation.environment import draw
from rising_bandits.simulation.ledger import Ledger, note, spacious


@compiled
def play(engine: Any, environment: Any, ledger: Ledger, reward: Any, first: int, last: int, rng: Any) -> int:
    """Play rounds ``first`` to ``last``; return the next round to play.

    It returns before ``last + 1`` where Python has to act first: memory is short, first plays have to be planned, or
    the engine has no super arm to play. ``rng`` is the policy's.
    """
    pushes = environment.outcomes.size
    upcoming = ledger.rounds[ledger.cursor[0]] if ledger.cursor[0] < ledger.rounds.size else 0
    for t in range(first, last + 1):
        if not ready(engine, pushes) or not spacious(ledger):
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
