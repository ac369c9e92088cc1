"""The record of a run: rewards and plays per arm at chosen rounds, and plays per super arm."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.policies.saving import Saved, encode_array


class Ledger(NamedTuple):
    """Totals so far, their values at the recorded rounds, and a hash table of super arms."""

    rounds: Ints
    """Rounds to record, ascending."""
    cursor: Ints
    """Place 0: the next record; 1: the number of distinct super arms; 2: the row of the last round's super arm."""
    totals: Floats
    """Expected and realised reward so far."""
    expected: Floats
    """Expected reward up to each recorded round."""
    realised: Floats
    """Realised reward up to each recorded round."""
    plays: Ints
    """Plays of each arm up to each recorded round."""
    slots: Ints
    """The hash table: the row of a super arm in ``sets`` plus one, 0 for an empty slot."""
    sets: Ints
    """Distinct super arms, one per row, padded with -1."""
    counts: Ints
    """Plays of each super arm in ``sets``."""


PLAYS_LIMIT = 20_000_000
"""Plays per arm are recorded only if rounds times arms is at most this."""


def make_ledger(rounds: Ints, n_arms: int, max_size: int) -> Ledger:
    """An empty ledger for the given rounds."""
    _checks.memory(f"super arms of up to {max_size} arms", 64.0 * max_size)
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
    """The slot of a super arm, or the empty slot where it belongs."""
    key = arms.size
    for arm in arms:
        # 31 bits times 31 bits fit into 64 bits, so plain Python computes the same.
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
    """Whether a row of ``sets`` is this super arm."""
    for place in range(arms.size):
        if sets[row, place] != arms[place]:
            return False
    return bool(arms.size == sets.shape[1] or sets[row, arms.size] < 0)


@compiled
def has_room(ledger: Ledger) -> bool:
    """Whether the table has room for one more super arm."""
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
    """Fill the empty hash table from the first ``used`` rows of ``sets``."""
    for row in range(used):
        size = 0
        while size < sets.shape[1] and sets[row, size] >= 0:
            size += 1
        slots[_slot(slots, sets, sets[row, :size])] = row + 1


def enlarged(ledger: Ledger) -> Ledger:
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
    """Plays of each super arm that was played, by its arm numbers in ascending order."""
    found: dict[tuple[int, ...], int] = {}
    for row in range(int(ledger.cursor[1])):
        arms = tuple(sorted(int(arm) for arm in ledger.sets[row] if arm >= 0))
        found[arms] = found.get(arms, 0) + int(ledger.counts[row])
    return dict(sorted(found.items()))


_COUNTED = ("expected", "realised", "plays")
"""The fields with one row per recorded round."""


def dump_ledger(ledger: Ledger) -> dict[str, Any]:
    """A ledger as plain data, without its hash table."""
    used = int(ledger.cursor[1])
    arrays = {
        "rounds": ledger.rounds,
        "totals": ledger.totals,
        "sets": ledger.sets[:used],
        "counts": ledger.counts[:used],
    }
    arrays |= {name: getattr(ledger, name)[: int(ledger.cursor[0])] for name in _COUNTED}
    return {name: encode_array(value) for name, value in arrays.items()}


def load_ledger(saved: Saved, next_round: int, horizon: int, n_arms: int, max_size: int) -> Ledger:
    """The inverse of `dump_ledger`; checks that the ledger fits its run."""
    rounds: Ints = saved.row("rounds", np.int64)
    if rounds.size == 0 or rounds[0] < 1 or rounds[-1] != horizon or (np.diff(rounds) <= 0).any():
        raise InputError(f"rounds of {saved.what} must rise from 1 or more to the horizon, {horizon}")
    ledger = make_ledger(rounds, n_arms, max_size)
    recorded = int(np.searchsorted(rounds, next_round))
    for name in _COUNTED:
        target = getattr(ledger, name)[:recorded]
        target[...] = saved.array(name, target)
    ledger.totals[:] = saved.array("totals", ledger.totals)
    if not all(np.isfinite(getattr(ledger, name)).all() for name in ("totals", "expected", "realised")):
        raise InputError(f"rewards of {saved.what} must be finite numbers")
    if (ledger.plays < 0).any() or (ledger.plays[:recorded] > rounds[:recorded, None]).any():
        raise InputError(f"plays of {saved.what} must be from 0 to the recorded round")
    counts: Ints = saved.row("counts", np.int64)
    if (counts < 1).any() or (counts >= next_round).any() or counts.sum() != next_round - 1:
        raise InputError(f"counts of {saved.what} must add up to the rounds played, {next_round - 1}")
    sets = saved.array("sets", np.full((counts.size, max_size), -1, dtype=np.int64))
    used = sets >= 0
    if (sets < -1).any() or (sets >= n_arms).any() or not used[:, 0].all() or (used[:, 1:] > used[:, :-1]).any():
        raise InputError(f"sets of {saved.what} must hold arm numbers below {n_arms}, padded with -1")
    while ledger.counts.size <= counts.size:
        ledger = enlarged(ledger)
    ledger.sets[: counts.size], ledger.counts[: counts.size] = sets, counts
    ledger.cursor[:] = recorded, counts.size, -1
    _rehash(ledger.slots, ledger.sets, counts.size)
    return ledger
