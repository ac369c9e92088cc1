"""Comparisons with many runs: make a plan, run it on all cores or machines, store the results and compare them."""

from rising_bandits.experiments.compare import compare
from rising_bandits.experiments.comparison import Comparison
from rising_bandits.experiments.execute import run_plan
from rising_bandits.experiments.frame import frame
from rising_bandits.experiments.identity import make_task
from rising_bandits.experiments.metrics import METRICS, regret_split
from rising_bandits.experiments.plan import PAPER_POLICIES, make_plan, parse_policies, parse_policy
from rising_bandits.experiments.plans import Plan
from rising_bandits.experiments.shards import collect, shard
from rising_bandits.experiments.spec import RunSpec
from rising_bandits.experiments.statistics import Band, Row, band, group, summarise
from rising_bandits.experiments.store import ResultStore
from rising_bandits.experiments.stored import StoredRun, read_run
from rising_bandits.experiments.texts import seeds_of

__all__ = [
    "METRICS",
    "PAPER_POLICIES",
    "Band",
    "Comparison",
    "Plan",
    "ResultStore",
    "Row",
    "RunSpec",
    "StoredRun",
    "band",
    "collect",
    "compare",
    "frame",
    "group",
    "make_plan",
    "make_task",
    "parse_policies",
    "parse_policy",
    "read_run",
    "regret_split",
    "run_plan",
    "seeds_of",
    "shard",
    "summarise",
]
