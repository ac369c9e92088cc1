"""The task live-match: online models matched to real streams, replayed from recorded training.

Every round each of five data streams gets a different one of eight models. The model trains on the next eight examples
of the stream, and the outcome is its accuracy on 25 held-out examples. ``bench/make_live_match.py`` recorded the
training with scikit-learn and river; the streams come inside their wheels. The data file says how it was made.

Means and deviations were measured at some numbers of plays. Between them they are interpolated with straight lines, and
after the last play that was recorded they stay. Unlike in `lcdb`, a play is always the same amount of training,
whatever the horizon.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import numpy as np

from rising_bandits.curves import Interpolated, Spread
from rising_bandits.errors import InputError
from rising_bandits.problems.matching import Matching
from rising_bandits.problems.task import Task
from rising_bandits.problems.tasks import Family

FORMAT = 1
HORIZON = 1_000
"""The number of rounds of the task."""


def read() -> dict[str, Any]:
    """Read the data file."""
    path = resources.files("rising_bandits.problems") / "data" / "live-match.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if data.get("format") != FORMAT:
        raise InputError(f"format of live-match.json must be {FORMAT}, got {data.get('format')!r}")
    return data


def task(horizon: int = HORIZON, name: str = "live-match") -> Task:
    """The task live-match.

    Parameters
    ----------
    horizon
        The number of rounds.
    name
        The name of the task.

    >>> made = task()
    >>> made.problem
    Matching(40 base arms, 6720 super arms of up to 5, sum reward)
    """
    data = read()
    plays = tuple(float(play) for play in data["plays"])
    streams = list(dict.fromkeys(pair["stream"] for pair in data["pairs"]))
    models = list(dict.fromkeys(pair["model"] for pair in data["pairs"]))
    found = {(pair["stream"], pair["model"]): pair for pair in data["pairs"]}
    pairs = [found[stream, model] for stream in streams for model in models]
    deviations = tuple(Interpolated(plays, tuple(pair["spread"])) for pair in pairs)
    told = float(np.sqrt(np.mean([np.mean(curve.table(horizon) ** 2) for curve in deviations])))
    return Task(
        name,
        Matching(streams, models),
        tuple(Interpolated(plays, tuple(pair["mean"])) for pair in pairs),
        horizon,
        Spread(deviations, told=told),
        description=f"a different one of {len(models)} online models for each of {len(streams)} real streams",
        recorded=True,
    )


FAMILY = Family(
    "live-",
    lambda: ["match"],
    lambda name, member, horizon: task(horizon or HORIZON, name),
    "online models matched to real streams, from recorded training",
)
