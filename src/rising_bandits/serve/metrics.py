"""Numbers for Prometheus."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Metrics:
    """The numbers of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        options: dict[str, Any] = {"registry": self._registry}
        self.requests = Counter("rising_requests", "Requests answered", ["operation", "status"], **options)
        self.seconds = Histogram("rising_request_seconds", "Time to answer", ["operation"], buckets=_BUCKETS, **options)
        self.decisions = Counter("rising_decisions", "Decisions made here", ["study"], **options)
        self.tells = Counter("rising_tells", "New tells stored here", ["study"], **options)
        self.repeated = Counter("rising_repeated_tells", "Tells that were told before", ["study"], **options)
        self.open = Gauge("rising_open_decisions", "Decisions that can still be told", ["study"], **options)
        self.expired = Gauge("rising_expired_decisions", "Decisions that expired untold", ["study"], **options)
        self.rounds = Gauge("rising_rounds", "Rounds learnt", ["study"], **options)
        self.reward = Gauge(
            "rising_recent_reward",
            "Mean reward of the newest decisions of the policy; outcomes count from 0 to 1",
            ["study"],
            **options,
        )
        self.regret = Gauge(
            "rising_regret_proxy",
            "Reward of the best super arm by recent averages, minus the recent reward",
            ["study"],
            **options,
        )
        self._children: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self._counted: dict[tuple[Counter, str], Counter] = {}

    def count(self, operation: str, status: int, seconds: float) -> None:
        """Count an answer."""
        key = (operation, status)
        found = self._children.get(key)
        if found is None:
            found = (self.requests.labels(operation, str(status)), self.seconds.labels(operation))
            self._children[key] = found
        counter, histogram = found
        counter.inc()
        histogram.observe(seconds)

    def add(self, counter: Counter, study: str, amount: int = 1) -> None:
        """Add to a counter of a study."""
        found = self._counted.get((counter, study))
        if found is None:
            # To look the child up takes longer than to count.
            found = self._counted[counter, study] = counter.labels(study)
        if amount:
            found.inc(amount)

    def keep(self, studies: Collection[str]) -> None:
        """Forget the present state of all studies but these."""
        for gauge in (self.open, self.expired, self.rounds, self.reward, self.regret):
            for sample in [sample for metric in gauge.collect() for sample in metric.samples]:
                if sample.labels["study"] not in studies:
                    gauge.remove(sample.labels["study"])

    def text(self) -> bytes:
        """All numbers in the text format of Prometheus."""
        return generate_latest(self._registry)
