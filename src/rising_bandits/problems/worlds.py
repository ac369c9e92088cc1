"""Small worlds with outcomes of 0 and 1: online models, a chain of tools, two arms, and arms that fall.

They test what the paper's tasks do not: much noise, product rewards with cascading feedback, and arms whose mean drops.
All curves are formulas; nothing here was measured. In every task a number of rounds may follow after ``@``, as in
``tool-chain@10000``. It does not change the curves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rising_bandits.curves import Bernoulli, Curve, Dropping, Exponential, Flat, Interpolated, PowerLaw
from rising_bandits.problems.base import Problem
from rising_bandits.problems.graphs import ShortestPath
from rising_bandits.problems.groups import OneOfEach
from rising_bandits.problems.sets import TopK
from rising_bandits.problems.task import Task
from rising_bandits.problems.tasks import Family

MODELS: dict[str, Curve] = {
    "steady": Flat(0.58),
    "quick and low": PowerLaw(scale=100.0, power=0.5, start=0.5, end=0.72),
    "quick": PowerLaw(scale=1_000.0, power=0.5, start=0.5, end=0.88),
    "middle": Exponential(time=4_000.0, start=0.5, end=0.84),
    "slow and low": Exponential(time=9_000.0, start=0.5, end=0.74),
    "slow": Exponential(time=9_000.0, start=0.5, end=0.9),
    "very slow": Exponential(time=30_000.0, start=0.5, end=0.8),
}
"""Two-class models that start at chance and learn online, over thousands of examples."""

TOOLS: dict[str, dict[str, Curve]] = {
    "find": {
        "web search": Flat(0.9),
        "own index": Exponential(time=150.0, start=0.6, end=0.98),
        "cached pages": Flat(0.75),
    },
    "read": {
        "whole text": Flat(0.92),
        "summary": Flat(0.8),
        "table reader": Exponential(time=250.0, start=0.5, end=0.97),
    },
    "write": {
        "template": Flat(0.85),
        "outline first": Exponential(time=100.0, start=0.7, end=0.97),
        "at once": Flat(0.9),
    },
    "check": {
        "own review": Flat(0.8),
        "tests": Exponential(time=200.0, start=0.65, end=0.98),
        "second model": Flat(0.93),
    },
}
"""The tools of each stage of an agent's chain. Some work as they are, others get better with use."""

BREAKS_AT = 500
"""The number of plays after which an arm of the drop tasks falls."""


def _models(name: str, horizon: int) -> Task:
    note = "one of seven online models, right or wrong on the next example; curves by formula"
    return Task(name, TopK(list(MODELS), k=1), tuple(MODELS.values()), horizon, Bernoulli(), description=note)


def _chain(name: str, horizon: int) -> Task:
    """One tool per stage: the best tool of each stage makes the best chain."""
    problem = OneOfEach({stage: list(tools) for stage, tools in TOOLS.items()}, reward="product")
    return _of_tools(name, horizon, problem, TOOLS)


def _path(name: str, horizon: int) -> Task:
    """The same tools as edges between stages, with the solver for paths."""
    edges = [
        (f"stage {place}", f"stage {place + 1}", tool) for place, tools in enumerate(TOOLS.values()) for tool in tools
    ]
    problem = ShortestPath(edges, "stage 0", f"stage {len(TOOLS)}", reward="product")
    return _of_tools(name, horizon, problem, TOOLS)


def _broken_chain(name: str, horizon: int) -> Task:
    """The chain of tools, and the best steady tool of its second stage breaks."""
    read = TOOLS["read"] | {"whole text": Dropping(TOOLS["read"]["whole text"], at=BREAKS_AT, factor=0.2)}
    problem = OneOfEach({stage: list(tools) for stage, tools in TOOLS.items()}, reward="product")
    return _of_tools(name, horizon, problem, TOOLS | {"read": read})


def _of_tools(name: str, horizon: int, problem: Problem, stages: Mapping[str, Mapping[str, Curve]]) -> Task:
    """A step works or fails, and a step that fails ends the round. The reward is 1 if all steps work."""
    curves = tuple(curve for tools in stages.values() for curve in tools.values())
    note = "an agent's chain of four stages with three tools each; a step that fails ends the round"
    return Task(name, problem, curves, horizon, Bernoulli(), description=note, cascade=True)


def _two(name: str, horizon: int) -> Task:
    note = "two flat arms, 0.9 and 0.3"
    return Task(name, TopK(["good", "bad"], k=1), (Flat(0.9), Flat(0.3)), horizon, Bernoulli(), description=note)


def _single(note: str, curves: Mapping[str, Curve]) -> Callable[[str, int], Task]:
    """A task with one arm per round."""
    return lambda name, horizon: Task(
        name, TopK(list(curves), k=1), tuple(curves.values()), horizon, Bernoulli(), description=note
    )


_DROPS: dict[str, Callable[[str, int], Task]] = {
    "once": _single(
        f"the best of three arms falls from 0.9 to 0.2 at its play {BREAKS_AT}",
        {"breaks": Dropping(Flat(0.9), at=BREAKS_AT, factor=2 / 9), "steady": Flat(0.6), "poor": Flat(0.4)},
    ),
    "slowly": _single(
        "the best of three arms falls from 0.9 to 0.2 over 1000 plays",
        {
            "wears out": Interpolated((BREAKS_AT, BREAKS_AT + 1_000), (0.9, 0.2)),
            "steady": Flat(0.6),
            "poor": Flat(0.4),
        },
    ),
    "rising": _single(
        f"of three arms that rise, the best falls to a third at its play {BREAKS_AT}",
        {
            "breaks": Dropping(Exponential(time=100.0, start=0.3, end=0.9), at=BREAKS_AT, factor=1 / 3),
            "rises": Exponential(time=300.0, start=0.2, end=0.8),
            "steady": Flat(0.5),
        },
    ),
    "chain": _broken_chain,
}


def _family(prefix: str, members: dict[str, Callable[[str, int], Task]], rounds: int, description: str) -> Family:
    """A family whose members have this number of rounds if their name has none."""
    return Family(
        prefix,
        lambda: list(members),
        lambda name, member, horizon: members[member](name, rounds if horizon is None else horizon),
        description,
    )


FAMILIES = (
    _family("imdb-", {"like": _models}, 5_000, "online models that rise for thousands of examples, right or wrong"),
    _family("tool-", {"chain": _chain, "path": _path}, 3_000, "an agent's chain of four tools, which work or fail"),
    _family("two-", {"arms": _two}, 3_000, "two flat arms with outcomes of 0 and 1"),
    _family("drop-", _DROPS, 3_000, "arms that fall, with outcomes of 0 and 1"),
)
"""The tasks ``imdb-like``, ``tool-chain``, ``tool-path``, ``two-arms``, ``drop-once`` and so on."""
