"""Curves in little memory: means and spreads of a growing list of numbers, in at most `MOST` buckets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct, field

MOST = 64
"""How many buckets a curve has at most."""
_Bucket = Annotated[list[float], Meta(min_length=5, max_length=5)]


class Curve(Struct):
    """Means and spreads of a growing list of numbers, in buckets of equal size.

    When there are more than `MOST` buckets, each two neighbours become one.
    """

    size: Annotated[int, Meta(ge=1)] = 1
    """How many numbers a bucket holds."""
    buckets: Annotated[list[_Bucket], Meta(max_length=MOST)] = field(default_factory=list)
    """For each bucket: how many numbers, their sum, the sum of their squares, the sum of their values, and the last
    position."""

    def add(self, number: float, position: float, value: float = 0.0) -> None:
        """Add a number. The position (a play, or a time) grows from call to call; the value is from 0 to 1."""
        buckets = self.buckets
        if buckets and buckets[-1][0] < self.size:
            last = buckets[-1]
            last[0] += 1.0
            last[1] += number
            last[2] += number * number
            last[3] += value
            last[4] = position
            return
        if len(buckets) >= MOST:
            self._halve()
            self.add(number, position, value)
            return
        buckets.append([1.0, number, number * number, value, position])

    def _halve(self) -> None:
        """Join each two neighbours."""
        self.buckets = [_joined(pair) for pair in zip(self.buckets[::2], self.buckets[1::2], strict=True)]
        self.size *= 2

    def newest_value(self) -> float | None:
        """The mean value of the last bucket; of the last two if the last one is less than half full."""
        newest = self.buckets[-1:]
        if len(self.buckets) > 1 and 2 * newest[0][0] < self.size:
            newest = self.buckets[-2:]
        return sum(bucket[3] for bucket in newest) / sum(bucket[0] for bucket in newest) if newest else None

    def value_at(self, position: float) -> float | None:
        """The mean value of the newest bucket up to a position, or of the first one if the position is inside it."""
        found = [bucket for bucket in self.buckets if bucket[4] <= position][-1:] or self.buckets[:1]
        return found[0][3] / found[0][0] if found else None

    def points(self, most: int = MOST) -> dict[str, list[float]]:
        """Positions, counts, means and standard errors of at most ``most`` buckets.

        A last bucket that is less than half full is drawn as a part of the one before, for its mean says little.

        >>> curve = Curve()
        >>> for play, outcome in enumerate([1.0, 3.0, 5.0], start=1):
        ...     curve.add(outcome, play)
        >>> curve.points()["mean"]
        [1.0, 3.0, 5.0]
        >>> curve.points(2)["mean"]
        [2.0, 5.0]
        """
        buckets, size = self.buckets, self.size
        while len(buckets) > most:
            buckets = [_joined(buckets[i : i + 2]) for i in range(0, len(buckets), 2)]
            size *= 2
        if len(buckets) > 1 and 2 * buckets[-1][0] < size:
            buckets = [*buckets[:-2], _joined(buckets[-2:])]
        made: dict[str, list[float]] = {"at": [], "count": [], "mean": [], "error": []}
        for count, total, squares, _, position in buckets:
            if count < 1.0:
                continue
            mean = total / count
            spread = max(0.0, squares / count - mean * mean)
            made["at"].append(position)
            made["count"].append(int(count))
            made["mean"].append(short(mean))
            made["error"].append(short(math.sqrt(spread / count)))
        return made


def _joined(buckets: Sequence[list[float]]) -> list[float]:
    """Neighbours as one bucket."""
    return [sum(column) for column in list(zip(*buckets, strict=True))[:4]] + [buckets[-1][4]]


def short(number: float) -> float:
    """A number with seven digits, which is more than a picture shows."""
    return float(f"{number:.7g}")
