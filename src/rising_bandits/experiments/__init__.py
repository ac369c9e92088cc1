"""Comparisons with many runs: make a plan, run it on all cores, store the results and summarise them."""

from rising_bandits.experiments.execute import run_plan
from rising_bandits.experiments.plan import PAPER_POLICIES, RunSpec, make_plan, make_task, parse_policy
from rising_bandits.experiments.statistics import Band, Row, band, group, summarise
from rising_bandits.experiments.store import ResultStore, StoredRun, read_run

__all__ = [
    "PAPER_POLICIES",
    "Band",
    "ResultStore",
    "Row",
    "RunSpec",
    "StoredRun",
    "band",
    "group",
    "make_plan",
    "make_task",
    "parse_policy",
    "read_run",
    "run_plan",
    "summarise",
]
