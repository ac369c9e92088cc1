"""Scales: monotone maps from outcomes in the user's unit to values in [0, 1], and back.

A policy learns from values in [0, 1], where larger is better. The log stores outcomes and values. Values are computed
again from the outcomes only if the scale of a study is set.
"""

from __future__ import annotations

from rising_bandits.studies.scales.base import Scale
from rising_bandits.studies.scales.kept import UNIT, check_kept, scale_by_name, scale_from_spec
from rising_bandits.studies.scales.ranges import Log, Range
from rising_bandits.studies.scales.unlimited import Decay, Inverse, Reciprocal

__all__ = [
    "UNIT",
    "Decay",
    "Inverse",
    "Log",
    "Range",
    "Reciprocal",
    "Scale",
    "check_kept",
    "scale_by_name",
    "scale_from_spec",
]
