"""What a run writes down: rewards at chosen rounds, plays per arm, plays per super arm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled


class Ledger(NamedTuple):
    """Running totals, their values at the rounds asked for, and a hash table of super arms."""

    rounds: Ints
    """Rounds to record, ascending."""
    cursor: Ints
    """Place 0: next record; 1: number of distinct super arms; 2: super arm of the last round."""
    totals: Floats
    """Expected and realised reward so far."""
    expected: Floats
    realised: Floats
    plays: Ints
    """Plays of each arm at each recorded round."""
    slots: Ints
    """Hash table: place of a super arm in ``sets`` plus one, 0 where empty."""
    sets: Ints
    """Distinct super arms, padded with -1."""
    counts: Ints


PLAYS_LIMIT = 20_000_000
"""How many numbers of plays by round are kept at the most."""


def make_ledger(rounds: Ints, n_arms: int, max_size: int) -> Ledger:
    """An empty ledger for the given rounds."""
    return Ledger(
        rounds=rounds,
        cursor=np.array([0, 0, -1], dtype=np.int64),
        totals=np.zeros(2),
        expected=np.zeros(rounds.size),
        realised=np.zeros(rounds.size),
        plays=np.zeros((rounds.size, n_arms if rounds.size * n_arms <= PLAYS_LIMIT else 0), dtype=np.int64),
        slots=np.zeros(64, dtype=np.int64),
        sets=np.full((32, max_size), -1, dtype=np.int64),
        counts=np.zeros(32, dtype=np.int64),
    )


@compiled
def _slot(slots: Ints, sets: Ints, arms: Ints) -> int:
    """The slot that holds the super arm, or the empty one where it belongs."""
    key = arms.size
    for arm in arms:
        # 31 bits times 31 bits stay within an integer, so plain Python computes the same.
        key = ((key ^ (arm + 1)) * 0x5E3779B1) & 0x7FFFFFFFFFFFFFFF
        key = (key ^ (key >> 29)) & 0x7FFFFFFF
    cut = slots.size - 1
    slot = key & cut
    while slots[slot] > 0:
        if _same(sets, slots[slot] - 1, arms):
            break
        slot = (slot + 1) & cut
    return int(slot)


@compiled
def _same(sets: Ints, row: int, arms: Ints) -> bool:
    for place in range(arms.size):
        if sets[row, place] != arms[place]:
            return False
    return bool(arms.size == sets.shape[1] or sets[row, arms.size] < 0)


@compiled
def spacious(ledger: Ledger) -> bool:
    """Whether one more super arm can be noted before the table must grow."""
    return bool(ledger.cursor[1] < ledger.counts.size)


@compiled
def note(ledger: Ledger, arms: Ints) -> None:
    """Count a play of the super arm."""
    row = ledger.cursor[2]
    if row < 0 or not _same(ledger.sets, row, arms):
        slot = _slot(ledger.slots, ledger.sets, arms)
        row = ledger.slots[slot] - 1
        if row < 0:
            row = ledger.cursor[1]
            ledger.cursor[1] = row + 1
            ledger.slots[slot] = row + 1
            for place in range(arms.size):
                ledger.sets[row, place] = arms[place]
        ledger.cursor[2] = row
    ledger.counts[row] += 1


@compiled
def _rehash(slots: Ints, sets: Ints, used: int) -> None:
    for row in range(used):
        size = 0
        while size < sets.shape[1] and sets[row, size] >= 0:
            size += 1
        slots[_slot(slots, sets, sets[row, :size])] = row + 1


def with_space(ledger: Ledger) -> Ledger:
    """The same ledger with room for twice as many super arms."""
    used = ledger.counts.size
    sets = np.full((2 * used, ledger.sets.shape[1]), -1, dtype=np.int64)
    sets[:used] = ledger.sets
    counts = np.zeros(2 * used, dtype=np.int64)
    counts[:used] = ledger.counts
    slots = np.zeros(2 * ledger.slots.size, dtype=np.int64)
    _rehash(slots, sets, int(ledger.cursor[1]))
    return ledger._replace(slots=slots, sets=sets, counts=counts)


def super_arm_plays(ledger: Ledger) -> dict[tuple[int, ...], int]:
    """Plays of every super arm that was played, by its ascending arm numbers."""
    found: dict[tuple[int, ...], int] = {}
    for row in range(int(ledger.cursor[1])):
        arms = tuple(sorted(int(arm) for arm in ledger.sets[row] if arm >= 0))
        found[arms] = found.get(arms, 0) + int(ledger.counts[row])
    return dict(sorted(found.items()))
