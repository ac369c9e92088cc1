"""Ring buffers for the last outcomes of each unit. They grow with the window of the unit.

Each unit has one ring inside a shared pool. Its capacity is a power of two. A ring that is too small moves to a new
place with twice the capacity. The old place goes to a free list, for the next ring that needs that capacity. Only the
pool is ever replaced, and only between rounds, so compiled code never allocates memory.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError

SMALLEST = 4
"""The smallest capacity."""
_CLASSES = 62
"""The number of free lists, one per capacity."""


class Rings(NamedTuple):
    """Rings of outcomes. Play number ``l`` of an arm is at ``offset + (l & (capacity - 1))`` in the pool."""

    pool: Floats
    """The memory of all rings."""
    offset: Ints
    """Where the ring of each arm begins."""
    capacity: Ints
    """The capacity of each ring."""
    book: Ints
    """Place 0: the first unused place of the pool; 1: the largest capacity; 2 + c: the free list of capacity 2**c."""

    def copied(self) -> Rings:
        """An independent copy. Only the used part of the pool is copied."""
        used = int(self.book[0])
        pool = np.empty(self.pool.size, dtype=np.float64)
        pool[:used] = self.pool[:used]
        return Rings(pool, self.offset.copy(), self.capacity.copy(), self.book.copy())


def make_rings(n_arms: int) -> Rings:
    """Empty rings of the smallest capacity.

    >>> rings = make_rings(3)
    >>> rings.capacity.tolist()
    [4, 4, 4]
    """
    book = np.full(2 + _CLASSES, -1, dtype=np.int64)
    book[0] = n_arms * SMALLEST
    book[1] = SMALLEST
    return Rings(
        pool=np.zeros(2 * n_arms * SMALLEST, dtype=np.float64),
        offset=np.arange(n_arms, dtype=np.int64) * SMALLEST,
        capacity=np.full(n_arms, SMALLEST, dtype=np.int64),
        book=book,
    )


def with_room(rings: Rings, pushes: int) -> Rings:
    """The rings with a pool in which the largest ring can grow ``pushes`` times.

    The new part of the pool is not written, so the operating system does not use memory for it yet.
    """
    used, largest = int(rings.book[0]), int(rings.book[1])
    need = used + 2 * largest * pushes
    if need <= rings.pool.size:
        return rings
    size = max(need + 2 * largest * pushes, 2 * rings.pool.size)
    _checks.memory("the outcomes that this policy keeps", size)
    pool = np.empty(size, dtype=np.float64)
    pool[:used] = rings.pool[:used]
    return rings._replace(pool=pool)


_RING_FIELDS: dict[type, tuple[str, ...]] = {}


def ring_fields(rule: object) -> tuple[str, ...]:
    """The names of a rule's fields that are rings. All rules of a class have the same ones."""
    found = _RING_FIELDS.get(type(rule))
    if found is None:
        names: tuple[str, ...] = getattr(rule, "_fields", ())
        parts = cast("tuple[object, ...]", rule) if names else ()
        found = tuple(name for name, part in zip(names, parts, strict=True) if type(part) is Rings)
        _RING_FIELDS[type(rule)] = found
    return found


@compiled
def has_room(rings: Rings, pushes: int) -> bool:
    """Whether ``pushes`` outcomes can be written without a larger pool."""
    return bool(rings.book[0] + 2 * rings.book[1] * pushes <= rings.pool.size)


@compiled
def read(rings: Rings, arm: int, play: int) -> float:
    """The outcome of play number ``play`` (from 1) of an arm. The ring must still contain it."""
    return float(rings.pool[rings.offset[arm] + (play & (rings.capacity[arm] - 1))])


@compiled
def write(rings: Rings, arm: int, play: int, outcome: float) -> None:
    """Write the outcome of play number ``play``. If the ring is full, it replaces the oldest outcome."""
    rings.pool[rings.offset[arm] + (play & (rings.capacity[arm] - 1))] = outcome


@compiled
def grow(rings: Rings, arm: int, plays: int) -> None:
    """Move an arm that has ``plays`` outcomes to a ring of twice the capacity."""
    old, size = rings.offset[arm], rings.capacity[arm]
    order = 0
    while (1 << order) < 2 * size:
        order += 1
    new = rings.book[2 + order]
    if new >= 0:
        rings.book[2 + order] = np.int64(rings.pool[new])
    else:
        new = rings.book[0]
        rings.book[0] = new + 2 * size
    # Cleared, so that saved states do not depend on what was here before.
    for place in range(new, new + 2 * size):
        rings.pool[place] = 0.0
    for play in range(max(1, plays - size + 1), plays + 1):
        rings.pool[new + (play & (2 * size - 1))] = rings.pool[old + (play & (size - 1))]
    rings.pool[old] = np.float64(rings.book[1 + order])
    rings.book[1 + order] = old
    rings.offset[arm] = new
    rings.capacity[arm] = 2 * size
    rings.book[1] = max(rings.book[1], 2 * size)


def _places(rings: Rings, plays: Ints) -> Ints:
    """Where in the pool the outcomes in the rings are, arm by arm and oldest first."""
    held = np.minimum(plays, rings.capacity)
    before = np.cumsum(held) - held
    play = np.arange(int(held.sum())) + np.repeat(plays - held + 1 - before, held)
    return np.repeat(rings.offset, held) + (play & np.repeat(rings.capacity - 1, held))  # type: ignore[no-any-return]


def dump_rings(rings: Rings, plays: Ints) -> dict[str, Floats | Ints]:
    """What has to be saved: the capacities, and the outcomes in the rings."""
    return {"capacity": rings.capacity.copy(), "held": rings.pool[_places(rings, plays)]}


def load_rings(capacity: Ints, held: Floats, plays: Ints) -> Rings:
    """The inverse of `dump_rings`. The new pool has no gaps.

    >>> rings = make_rings(2)
    >>> write(rings, 1, 1, 0.5)
    >>> plays = np.array([0, 1])
    >>> again = load_rings(**dump_rings(rings, plays), plays=plays)
    >>> read(again, 1, 1)
    0.5
    """
    check_rings(capacity, held, plays)
    rings = make_rings(capacity.size)
    rings.capacity[:] = capacity
    rings.offset[1:] = np.cumsum(capacity)[:-1]
    rings.book[0] = capacity.sum()
    rings.book[1] = capacity.max()
    rings = rings._replace(pool=np.zeros(2 * int(capacity.sum()), dtype=np.float64))
    rings.pool[_places(rings, plays)] = held
    return rings


def check_rings(capacity: Ints, held: Floats, plays: Ints) -> None:
    """Refuse capacities and outcomes that cannot be the result of plays, before memory is allocated."""
    powers = (capacity >= SMALLEST) & (capacity & (capacity - 1) == 0)
    # A ring grows when it is full, or a little earlier if two windows must fit.
    if not powers.all() or (capacity > np.maximum(SMALLEST, 4 * (plays + 4))).any():
        raise InputError(f"state holds impossible capacities of its buffers: {capacity[:8].tolist()}")
    expected = int(np.minimum(plays, capacity).sum())
    if held.size != expected:
        raise InputError(f"state holds {held.size} outcomes in its buffers, but its plays call for {expected}")
    if not ((held >= 0.0) & (held <= 1.0)).all():
        raise InputError("state holds outcomes outside [0, 1]")


def rearrange_rings(rings: Rings, plays: Ints, units: Ints, begin: Bools) -> Rings:
    """Rings for other units. Unit ``u`` gets the outcomes of the old arm ``units[u]``, or none if ``begin[u]`` is True.

    >>> rings = make_rings(2)
    >>> write(rings, 1, 1, 0.5)
    >>> new = rearrange_rings(rings, np.array([0, 1]), np.array([-1, 1, 0]), np.array([True, False, False]))
    >>> read(new, 1, 1)
    0.5
    """
    dumped = dump_rings(rings, plays)
    parts = np.split(dumped["held"], np.cumsum(np.minimum(plays, rings.capacity))[:-1])
    counts = np.where(begin, 0, plays[units])
    capacity = np.where(begin, SMALLEST, rings.capacity[units])
    kept = [parts[unit] for unit, new in zip(units.tolist(), begin.tolist(), strict=True) if not new]
    return load_rings(capacity, np.concatenate([np.zeros(0), *kept]), counts)
