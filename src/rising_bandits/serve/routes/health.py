"""Health of the service, and numbers about it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

import numpy as np

from rising_bandits import __version__, studies
from rising_bandits.errors import RisingBanditsError
from rising_bandits.serve import schemas
from rising_bandits.serve.chronicle import Chronicle
from rising_bandits.serve.metrics import CONTENT_TYPE, Metrics
from rising_bandits.serve.operations import Answer, Call, operation
from rising_bandits.serve.problems import Refused

_TAG = "Health"
_PATIENCE, _LEAST = 5.0, 0.1
"""For how many seconds an answer with metrics opens and waits for studies, and how long it waits for each at least."""


@operation("GET", "/healthz", right=None, tag=_TAG, answer=schemas.Health)
async def healthz(call: Call) -> Any:
    """Say that the service is alive."""
    return schemas.Health("ok", __version__)


@operation("GET", "/readyz", right=None, tag=_TAG, answer=schemas.Health)
async def readyz(call: Call) -> Any:
    """Say whether requests can be answered: the database can be read, and the service is not about to end."""
    await call.hub.ready()
    return schemas.Health("ready", __version__)


@operation("GET", "/metrics", right="read", tag=_TAG, type="text/plain")
async def metrics(call: Call) -> Any:
    """Give numbers for Prometheus. Needs a token for all studies.

    Counters are of this process. After a restart, studies with long logs follow in the next answers.
    """
    if not call.grant.allows("read"):
        raise Refused(403, "this needs the right 'read' for all studies")
    found: Metrics = call.state.metrics
    try:
        names = await call.hub.names()
    except RisingBanditsError:
        # The database is out of reach; /readyz says so.
        return Answer(found.text(), type=CONTENT_TYPE)
    until = time.monotonic() + _PATIENCE
    opened = {desk.name for desk in call.hub.opened()}
    # Those in memory first. Others are opened while there is time, and as many as are kept in memory.
    for name in sorted(names, key=lambda name: name not in opened)[: call.state.limits.open]:
        if name not in opened and time.monotonic() > until:
            break
        with contextlib.suppress(RisingBanditsError, Refused, TimeoutError):
            # A study may be deleted meanwhile, need code of the user's own, or be slow.
            async with asyncio.timeout(max(until - time.monotonic(), _LEAST)):
                await call.hub.read(name, lambda study, _: _gauge(found, study, *call.state.chronicles.of(study)))
    found.keep(names)
    return Answer(found.text(), type=CONTENT_TYPE)


def _gauge(metrics: Metrics, study: studies.Study, found: Chronicle, left: int) -> None:
    """Measure a study, once its log has been read."""
    if left:
        return
    name = study.name
    waiting, expired = found.waiting(study.settings.expires, time.time())
    metrics.open.labels(name).set(waiting)
    metrics.expired.labels(name).set(expired)
    metrics.rounds.labels(name).set(study.policy.round - 1)
    if found.recent:
        recent = sum(found.recent) / len(found.recent)
        metrics.reward.labels(name).set(recent)
        best = best_now(study)
        if best is not None:
            metrics.regret.labels(name).set(best - recent)


def best_now(study: studies.Study) -> float | None:
    """The reward of the best super arm by the recent averages of its arms; None if they are not known."""
    averages = [arm.recent_average for arm in study.arms()]
    problem = study.problem
    if len(averages) != problem.n_arms or any(average is None for average in averages):
        return None
    weights = np.array(averages, dtype=np.float64)
    return float(problem.reward.combine(weights[problem.ordered(problem.oracle.solve(weights))]))
