"""Health of the service, and numbers about it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rising_bandits import __version__, studies
from rising_bandits.errors import RisingBanditsError
from rising_bandits.serve import schemas
from rising_bandits.serve.labels import Texts
from rising_bandits.serve.metrics import CONTENT_TYPE, Metrics
from rising_bandits.serve.operations import Answer, Call, operation
from rising_bandits.serve.problems import Refused

_TAG = "Health"
_NEWEST = 200
"""How many of the newest outcomes the recent reward is taken of."""


@operation("GET", "/healthz", right=None, tag=_TAG, answer=schemas.Health)
async def healthz(call: Call) -> Any:
    """Say that the service is alive."""
    return schemas.Health("ok", __version__)


@operation("GET", "/readyz", right=None, tag=_TAG, answer=schemas.Health, statuses=(503,))
async def readyz(call: Call) -> Any:
    """Say whether requests can be answered: the database can be read, and the service is not about to end."""
    await call.hub.run(call.hub.ready)
    return schemas.Health("ready", __version__)


@operation("GET", "/metrics", right="read", tag=_TAG, type="text/plain")
async def metrics(call: Call) -> Any:
    """Give numbers for Prometheus. Needs a token for all studies."""
    if not call.grant.allows("read"):
        raise Refused(403, "this needs the right 'read' for all studies")
    found: Metrics = call.state.metrics
    for desk in call.hub.opened():
        try:
            await desk.read(lambda study, texts: _gauge(found, study, texts))
        except RisingBanditsError:
            # The study was deleted, or its database is out of reach; /readyz says so.
            continue
    return Answer(found.text(), type=CONTENT_TYPE)


def _gauge(metrics: Metrics, study: studies.Study, _: Texts) -> None:
    """Measure a study."""
    name = study.name
    waiting = len(study.open_decisions())
    metrics.open.labels(name).set(waiting)
    metrics.expired.labels(name).set(study.expired if hasattr(study, "expired") else study.unlisted)
    metrics.rounds.labels(name).set(study.policy.round)
    recent = rewards(study)
    if recent.size:
        metrics.reward.labels(name).set(float(recent.mean()))
        best = best_now(study)
        if best is not None:
            metrics.regret.labels(name).set(best - float(recent.mean()))


def rewards(study: studies.Study) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The rewards of the newest decisions, from values in [0, 1]."""
    table = study.history(last=_NEWEST)
    reward, found = study.problem.reward, []
    for _, rows in table[table["decision_id"].notna()].groupby("decision_id"):
        values = dict(zip(rows["arm"], rows["value"], strict=True))
        found.append(reward.combine(np.array([values.get(arm, 0.0) for arm in rows["super_arm"].iloc[0]])))
    return np.array(found)


def best_now(study: studies.Study) -> float | None:
    """The reward of the best super arm by the recent averages of its arms; None if they are not known."""
    averages = [arm.recent_average for arm in study.arms()]
    problem = study.problem
    if len(averages) != problem.n_arms or any(average is None for average in averages):
        return None
    weights = np.array(averages, dtype=np.float64)
    return float(problem.reward.combine(weights[problem.ordered(problem.oracle.solve(weights))]))
