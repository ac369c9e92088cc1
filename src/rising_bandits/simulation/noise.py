"""Whether the outcomes of a run contradict the noise that its policy was told.

Outcomes are a function of seed, arm and play, so they are drawn again after the run. Nothing is added to the loop.
"""

from __future__ import annotations

import numpy as np

from rising_bandits._checks import Ints
from rising_bandits.problems.tasks import Task
from rising_bandits.simulation.environment import draw, make_environment
from rising_bandits.theory.noise import Contradiction, Steps, contradiction

_PLAYS = 200
"""How many plays of an arm are looked at."""
_ARMS = 20
"""How many arms are looked at: those with the most plays."""


def contradicted(task: Task, seed: int, plays: Ints, sigma: float) -> Contradiction | None:
    """Find out whether the outcomes of a run contradict sigma.

    Parameters
    ----------
    task
        The task of the run.
    seed
        The seed of the run.
    plays
        The plays of each base arm in the run. Up to 200 plays are looked at, of the 20 arms with the most plays.
    sigma
        The subgaussian constant that the policy was told.

    Returns
    -------
    Contradiction or None
        None if they do not; see `rising_bandits.theory.noise`.

    >>> import numpy as np, rising_bandits as rb
    >>> task = rb.tasks.get("two-arms")
    >>> print(contradicted(task, 0, np.array([50, 50]), sigma=0.01))
    outcomes contradict sigma = 0.01: those of 'bad' vary by about 0.49 from play to play (50 plays, values from 0 to 1)
    >>> contradicted(task, 0, np.array([50, 50]), sigma=task.sigma) is None
    True
    """
    environment = make_environment(task, _PLAYS, seed)
    steps = {}
    for arm in np.argsort(-plays, kind="stable")[:_ARMS].tolist():
        single = np.array([arm])
        seen = steps[task.problem.labels[arm]] = Steps()
        for _ in range(min(int(plays[arm]), _PLAYS)):
            draw(environment, single)
            seen.add(float(environment.outcomes[0]))
    return contradiction(steps, sigma, len(plays))
