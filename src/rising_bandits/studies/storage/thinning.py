"""Which snapshots are kept."""

from __future__ import annotations

from collections.abc import Sequence

NEWEST_KEPT = 2
"""How many of the newest snapshots are always kept."""
SPREAD_KEPT = 16
"""The distance of two snapshots is at most the length of the log divided by this, see `spare`."""


def spare(seqs: Sequence[int]) -> list[int]:
    """Choose the snapshots to delete.

    The age of a snapshot is its distance from the newest one. A snapshot is deleted if its two neighbours are at most
    half of its age apart, and at most a sixteenth of the log. So for any event there is a snapshot close before it, and
    the number of snapshots is logarithmic in the length of the log.

    Parameters
    ----------
    seqs
        The event numbers of the snapshots.

    Returns
    -------
    list of int
        The event numbers of the snapshots to delete.

    >>> kept = []
    >>> for seq in range(1, 10_001):
    ...     dropped = spare([*kept, seq])
    ...     kept = [old for old in [*kept, seq] if old not in dropped]
    >>> len(kept), kept[:4], kept[-4:]
    (37, [512, 1024, 1536, 2048], [9997, 9998, 9999, 10000])
    """
    kept = [0, *sorted(seqs)]
    newest, dropped, place = kept[-1], [], 1
    while place < len(kept) - NEWEST_KEPT:
        before, here, after = kept[place - 1 : place + 2]
        if after - before <= min((newest - here) / 2, newest / SPREAD_KEPT):
            dropped.append(kept.pop(place))
        else:
            place += 1
    return dropped
