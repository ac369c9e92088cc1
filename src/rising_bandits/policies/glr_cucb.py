"""GLR-CUCB: CUCB that looks for changes of its arms and starts anew after one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.rules.changes import SinceChange, make_since_change
from rising_bandits.problems.base import Problem

_LEAST_FORCED = 1e-9
"""The smallest share of forced rounds other than 0."""


@dataclass(kw_only=True, eq=False)
class GLRCUCB(BaseArmPolicy):
    r"""CUCB with a change detector for every arm (Zhou, Wang, Varshney and Lim, AAAI 2020); then the oracle.

    After each play a generalised likelihood ratio test compares the older and the newer outcomes of the arm, for
    several places of a cut between them (`rising_bandits.policies.rules.changes` has the formula). If they differ, the
    arm forgets its plays. The index is :math:`\hat\mu + \sqrt{3 \log(t - \tau) / (2n)}` from the :math:`n` plays since
    then. A share of the rounds tries the arms in turn, so that a change of an arm that is not chosen is found as well.

    It assumes arms that are flat between changes. An arm that rises looks like one with many small changes. The paper
    restarts all arms at a change; ``restart="arm"`` restarts only the arm that changed. The test tries at most 16 cuts,
    not all; so it takes O(1) time and memory per arm.

    Parameters
    ----------
    delta
        The chance of a false alarm that the test allows, in (0, 1). None is one over the horizon, or 0.001 without one.
    forced
        The share of rounds that try arms in turn, from 0 to 1. None is :math:`0.05 \sqrt{K \log T / T}` for K base
        arms, or 0.01 without a horizon.
    restart
        ``"arm"`` or ``"all"``: what forgets its plays at a change.

    >>> import rising_bandits as rb
    >>> policy = GLRCUCB(delta=0.01)
    >>> policy.start(rb.problems.TopK(["x"], k=1), rng=0)
    >>> for outcome in [0.9] * 30 + [0.1] * 20:
    ...     policy.observe([0], [outcome])
    >>> {name: part.round(2).tolist() for name, part in policy.terms().items()}  # 6 plays since it was found
    {'recent average': [0.1], 'bonus': [0.99]}
    """

    name = "glr-cucb"
    title = "GLR-CUCB"
    first_plays = 1

    delta: float | None = None
    forced: float | None = None
    restart: str = "arm"

    def __post_init__(self) -> None:
        if self.delta is not None:
            self.delta = _checks.number("delta", self.delta, low=0.0, high=1.0, open_low=True, open_high=True)
        if self.forced is not None:
            self.forced = _checks.number("forced", self.forced, low=0.0, high=1.0)
            if 0.0 < self.forced < _LEAST_FORCED:
                raise InputError(f"forced must be 0 or at least {_LEAST_FORCED}, got {self.forced!r}")
        if not isinstance(cast(object, self.restart), str) or self.restart not in ("arm", "all"):
            raise InputError(f"restart must be 'arm' or 'all', got {self.restart!r}")

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{"restart": "all", "delta": 0.05, "forced": 0.2}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> SinceChange:
        delta, forced = self.delta, self.forced
        if delta is None:
            delta = 0.001 if horizon is None else 1.0 / max(2, horizon)
        if forced is None:
            share = 0.01 if horizon is None else 0.05 * math.sqrt(n_units * math.log(max(2, horizon)) / horizon)
            forced = min(1.0, share)
        return make_since_change(n_units, constant=1.5, delta=delta, forced=forced, together=self.restart == "all")
