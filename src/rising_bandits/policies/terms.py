"""What an index is made of, for people who ask why: per unit and by name."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.policies.coarse import Coarse
from rising_bandits.policies.remaining import Outlook, outlook_terms
from rising_bandits.policies.rising import Rising
from rising_bandits.policies.window import WindowTS, WindowUCB

AVERAGE, IMPROVEMENT, BONUS = "recent average", "predicted improvement", "bonus"


@singledispatch
def terms_of(rule: Any, t: int) -> dict[str, Floats] | None:
    """The terms whose sum is the index at round ``t``, or None where a rule does not say.

    Units without an index of their own yet (too few plays) have NaN.
    """
    return None


def _rising(rule: Rising | Coarse, average: Floats, t: int) -> dict[str, Floats]:
    short = rule.plays < 2
    improvement = np.where(short, 0.0, rule.level) + rule.slope * t - average
    bonus = rule.width * (t - rule.delay) * math.sqrt(rule.constant * math.log(t))
    parts = {
        AVERAGE: average,
        IMPROVEMENT: np.maximum(improvement, 0.0) if rule.upward else improvement,
        BONUS: bonus,
    }
    return {name: np.where(short, np.nan, part) for name, part in parts.items()}


@terms_of.register
def _(rule: Rising, t: int) -> dict[str, Floats]:
    return _rising(rule, rule.sums[:, 0] / np.maximum(rule.window, 1), t)


@terms_of.register
def _(rule: Coarse, t: int) -> dict[str, Floats]:
    return _rising(rule, rule.average, t)


@terms_of.register
def _(rule: WindowUCB, t: int) -> dict[str, Floats]:
    plays = np.where(rule.plays == 0, np.nan, rule.plays)
    return {AVERAGE: _recent(rule), BONUS: np.sqrt(1.5 * math.log(t) / plays)}


@terms_of.register
def _(rule: WindowTS, t: int) -> dict[str, Floats]:
    return {AVERAGE: _recent(rule)}


@terms_of.register
def _(rule: Outlook, t: int) -> dict[str, Floats]:
    average, calm, index = outlook_terms(rule, t)
    return {AVERAGE: average, IMPROVEMENT: calm - average, BONUS: index - calm}


def _recent(rule: WindowUCB | WindowTS) -> Floats:
    """The mean of the plays that a window holds: a number of them, or a share."""
    plays = rule.plays.astype(np.float64)
    held = np.maximum(1.0, np.floor(rule.share * plays)) if rule.share > 0.0 else np.minimum(plays, rule.window)
    return np.asarray(np.divide(rule.total, held, out=np.full(plays.size, np.nan), where=plays > 0))
