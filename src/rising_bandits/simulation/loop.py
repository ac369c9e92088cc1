"""The only loop: select, draw, learn, record. It runs compiled, or as plain Python on any policy."""

from __future__ import annotations

from typing import Any

import numpy as np

from rising_bandits._compile import compiled
from rising_bandits.policies.operations import learn, roomy, select
from rising_bandits.problems.rewards import combine
from rising_bandits.simulation.environment import draw
from rising_bandits.simulation.ledger import Ledger, note, spacious


@compiled
def play(
    actor: Any,
    environment: Any,
    ledger: Ledger,
    reward: Any,
    first: int,
    last: int,
    actor_rng: np.random.Generator | None,
    environment_rng: np.random.Generator,
) -> int:
    """Play rounds ``first`` to ``last``; return the next round to play.

    It returns before ``last + 1`` when memory has to be added first, which only Python can do.
    """
    pushes = environment.outcomes.size
    for t in range(first, last + 1):
        if not roomy(actor, pushes) or not spacious(ledger):
            return t
        arms = environment.arms[: select(actor, t, actor_rng, environment.arms)]
        played = draw(environment, arms, environment_rng)
        outcomes = environment.outcomes[: arms.size]
        learn(actor, arms, outcomes, played)
        note(ledger, arms)
        ledger.totals[0] += combine(reward, environment.means[: arms.size])
        ledger.totals[1] += combine(reward, outcomes)
        record = ledger.cursor[0]
        if record < ledger.rounds.size and ledger.rounds[record] == t:
            ledger.expected[record] = ledger.totals[0]
            ledger.realised[record] = ledger.totals[1]
            for arm in range(ledger.plays.shape[1]):
                ledger.plays[record, arm] = environment.plays[arm]
            ledger.cursor[0] = record + 1
    return last + 1
