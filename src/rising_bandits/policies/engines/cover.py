"""First plays: which units still need them, and the super arms that are planned for them.

Before indices decide, every unit is played once or twice, as its policy wants. With cascading feedback, an earlier
failure can keep an arm from being played. A unit is given up if that many planned plays did not happen. Super arms
for first plays are planned in Python, because finding a super arm that holds a given arm is a search of its own. The
plan is a queue that the engine reads. If a round goes otherwise than planned, the engine drops the plan and is not
ready.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Bools, Ints
from rising_bandits._compile import compiled
from rising_bandits.oracles import SuperArmOracle
from rising_bandits.oracles.answers import holding
from rising_bandits.oracles.explicit import packed
from rising_bandits.problems.base import Problem

PLAYS_FIRST = 2
"""By default, every unit is played this often before indices decide."""


class Cover(NamedTuple):
    """Which units still need first plays, and the queue of planned super arms."""

    aims: Ints
    """How often first plays of each unit were planned and did not happen."""
    cursor: Ints
    """Place 0: all units before this one have their plays. 1: the next super arm of the plan. 2: the plan's length."""
    first: Ints
    """Super arm ``s`` of the plan is ``members[first[s]:first[s + 1]]``."""
    members: Ints
    wanted: int
    """How many first plays a unit needs."""


def make_cover(n_units: int, wanted: int = PLAYS_FIRST) -> Cover:
    """No unit has its first plays, and nothing is planned."""
    none = np.zeros(1, dtype=np.int64)
    return Cover(np.zeros(n_units, dtype=np.int64), np.zeros(3, dtype=np.int64), none, none.copy(), wanted)


def planned(cover: Cover, oracle: SuperArmOracle, super_arms: Sequence[Ints]) -> Cover:
    """The same cover with these super arms as its plan."""
    cover.cursor[1], cover.cursor[2] = 0, len(super_arms)
    if not super_arms:
        return cover
    plan = packed(oracle, super_arms)
    return cover._replace(first=plan.first, members=plan.members)


def copy_cover(cover: Cover) -> Cover:
    """An independent copy."""
    return cover._replace(aims=cover.aims.copy(), cursor=cover.cursor.copy())


@compiled
def next_unit(cover: Cover, plays: Ints) -> int:
    """The first unit that still needs plays, or -1."""
    unit = cover.cursor[0]
    while unit < plays.size and (plays[unit] >= cover.wanted or cover.aims[unit] >= cover.wanted):
        unit += 1
    cover.cursor[0] = unit
    return unit if unit < plays.size else -1


def waiting_units(cover: Cover, plays: Ints) -> Bools:
    """Which units still need plays."""
    return np.asarray((plays < cover.wanted) & (cover.aims < cover.wanted))


@compiled
def copy_set(first: Ints, members: Ints, place: int, out: Ints) -> int:
    """Write super arm number ``place`` of a packed list into ``out`` and return its size."""
    start = first[place]
    size = first[place + 1] - start
    for member in range(size):
        out[member] = members[start + member]
    return int(size)


@compiled
def follow(cover: Cover, arms: Ints, played: int) -> None:
    """Go on to the next planned super arm if all arms of the planned one were played, else drop the plan."""
    place = cover.cursor[1]
    if place >= cover.cursor[2]:
        return
    start = cover.first[place]
    same = played == arms.size and cover.first[place + 1] - start == arms.size
    if same:
        for member in range(arms.size):
            if cover.members[start + member] != arms[member]:
                same = False
    if same:
        cover.cursor[1] = place + 1
    else:
        cover.cursor[2] = 0
        cover.cursor[1] = 0


def cover_rounds(problem: Problem, wanted: int = PLAYS_FIRST) -> int:
    """How many rounds the first plays of every base arm take, if every chosen arm is played.

    >>> from rising_bandits.problems import TopK
    >>> cover_rounds(TopK(5, k=2))
    6
    """
    plays = np.zeros(problem.n_arms, dtype=np.int64)
    cover = make_cover(problem.n_arms, wanted)
    rounds = 0
    while (unit := next_unit(cover, plays)) >= 0:
        arms = holding(problem.oracle, unit, prefer=waiting_units(cover, plays))
        if arms is None:
            cover.aims[unit] = wanted
            continue
        plays[arms] += 1
        rounds += 1
    return rounds
