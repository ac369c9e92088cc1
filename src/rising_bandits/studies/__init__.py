"""Live decisions for systems that run for months: ask and tell, on disk.

>>> import tempfile, rising_bandits as rb
>>> folder = tempfile.TemporaryDirectory()
>>> storage = f"sqlite:///{folder.name}/team.db"
>>> study = rb.studies.create("team", rb.problems.TopK(["ann", "bob"], k=1), storage=storage)
>>> study.tell(study.ask(), {"ann": 0.5})
True
>>> rb.studies.names(storage=storage)
['team']
>>> study.close(); folder.cleanup()
"""

from __future__ import annotations

from rising_bandits.studies import aio
from rising_bandits.studies.library import create, delete, load, names, open  # noqa: A004
from rising_bandits.studies.log.noticed import Change
from rising_bandits.studies.reports.compare import Comparison, Difference
from rising_bandits.studies.reports.explanation import Choice, Explanation, Reason
from rising_bandits.studies.reports.replay import Replay
from rising_bandits.studies.scales import Decay, Inverse, Log, Range, Reciprocal, Scale
from rising_bandits.studies.study import Decision, Study
from rising_bandits.studies.upkeep import Check, backup, check

__all__ = [
    "Change",
    "Check",
    "Choice",
    "Comparison",
    "Decay",
    "Decision",
    "Difference",
    "Explanation",
    "Inverse",
    "Log",
    "Range",
    "Reason",
    "Reciprocal",
    "Replay",
    "Scale",
    "Study",
    "aio",
    "backup",
    "check",
    "create",
    "delete",
    "load",
    "names",
    "open",
]
