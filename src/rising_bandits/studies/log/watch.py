"""What a study notices while it learns: arms that fall, and outcomes that contradict the policy's sigma.

The outcomes of each arm are kept as sums over blocks of equal length, with sums of squares, at most `MOST` blocks. When
there are more, each two become one. So memory is bounded, and the start of a fall is known up to a block.

Tests are made when a block is full, and before if the newest outcomes are far below the mean. They are those of
`rising_bandits.theory.falls` and `rising_bandits.theory.noise`, which hold for any choice of moments and cuts that does
not look ahead. Outcomes are counted every `TOGETHER` entries, because that takes a fraction of the time. When they are
counted makes no difference to what is found.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import astuple
from operator import mul
from typing import TYPE_CHECKING, Any

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.theory.falls import Fall, fall
from rising_bandits.theory.noise import Steps

if TYPE_CHECKING:
    from rising_bandits.studies.log.entries import Entry

BLOCK = 16
"""The plays of a block at first. So many outcomes of an arm are gathered before anything is computed."""
TOGETHER = 32
"""How many entries wait until they are counted."""
MOST = 32
"""The most blocks of an arm."""
RESETS_KEPT = 20
"""How many resets that the study made by itself are remembered."""
RECENT = 8
"""How many of the newest blocks are the recent ones."""
_FAR = 9.0
"""A block that is not full is far below a mean if the square of the distance is so many variances of its own mean."""
_LOWER = 1e-9
"""A newest block that is lower than the mean by less is not lower: it may be a rounding error."""


class Blocks:
    """The outcomes of one arm since its last restart: sums over blocks, and steps from play to play.

    >>> blocks = Blocks()
    >>> blocks.waiting += [1.0] * (BLOCK + 2)
    >>> blocks.gather()
    True
    >>> blocks.sums, blocks.waiting
    ([16.0], [1.0, 1.0])
    """

    __slots__ = ("_full", "count", "high", "low", "size", "square", "squares", "steps", "sums", "total", "waiting")

    def __init__(self) -> None:
        self.size = BLOCK
        """The plays of a full block."""
        self.sums: list[float] = []
        """The sum of the outcomes of each full block."""
        self.squares: list[float] = []
        """The sum of their squares."""
        self.count, self.total, self.square = 0, 0.0, 0.0
        """The plays of the newest block, which is not full, and the sums of their outcomes and of the squares."""
        self.low, self.high = 1.0, 0.0
        """The smallest and the largest outcome."""
        self.steps = Steps()
        """The steps from play to play, to doubt sigma by."""
        self.waiting: list[float] = []
        """The newest outcomes, which are counted nowhere yet."""
        self._full: tuple[float, float] | None = None
        """The sum of all full blocks, and of the recent ones; None if it has to be computed."""

    def gather(self) -> bool:
        """Count `BLOCK` outcomes that wait. Returns whether they fill a block."""
        counted = self.waiting[:BLOCK]
        del self.waiting[:BLOCK]
        self.steps.extend(counted)
        self.count += BLOCK
        self.total += math.fsum(counted)
        self.square += math.fsum(map(mul, counted, counted))
        self.low, self.high = min(self.low, min(counted)), max(self.high, max(counted))
        if self.count < self.size:
            return False
        self.sums.append(self.total)
        self.squares.append(self.square)
        self._full = None
        self.count, self.total, self.square = 0, 0.0, 0.0
        return True

    def fall(self, arms: int) -> Fall | None:
        """The fall that the outcomes show, if they do; ``arms`` is the number of arms that are tested.

        It is only looked for if the newest block is lower than the mean of all or of the recent blocks, as after a
        fall; far lower than the recent ones, if it is not full.
        """
        newest = self.total / self.count if self.count else self.sums[-1] / self.size
        if self._full is None:
            self._full = math.fsum(self.sums), math.fsum(self.sums[-RECENT:])
        blocks = len(self.sums)
        whole = (self._full[0] + self.total) / (blocks * self.size + self.count)
        recent = (self._full[1] + self.total) / (min(blocks, RECENT) * self.size + self.count)
        if max(whole, recent) - newest <= _LOWER:
            return None
        if self.count:
            plays = min(RECENT, len(self.sums)) * self.size + self.count
            variance = (math.fsum(self.squares[-RECENT:]) + self.square) / plays - recent * recent
            if newest > recent or self.count * (recent - newest) ** 2 < _FAR * variance:
                return None
        sizes, sums, squares = [self.size] * len(self.sums), self.sums, self.squares
        if self.count:
            sizes, sums, squares = [*sizes, self.count], [*sums, self.total], [*squares, self.square]
        means, powers = (
            [min(1.0, part / size) for part, size in zip(of, sizes, strict=True)] for of in (sums, squares)
        )
        return fall(means, counts=sizes, squares=powers, ends=(self.low, self.high), arms=arms)

    def halve(self) -> None:
        """Make one block of each two if there are too many."""
        if len(self.sums) >= MOST:
            self.sums = [first + second for first, second in zip(self.sums[::2], self.sums[1::2], strict=True)]
            self.squares = [first + second for first, second in zip(self.squares[::2], self.squares[1::2], strict=True)]
            self.size *= 2
            self._full = None

    def dump(self) -> list[Any]:
        """The outcomes as plain data."""
        counted = [self.size, self.sums, self.squares, self.count, self.total, self.square, self.low, self.high]
        return [*counted, self.steps.dump(), self.waiting]

    @staticmethod
    def load(data: list[Any]) -> Blocks:
        """The inverse of `dump`."""
        blocks = Blocks()
        size, sums, squares, count, total, square, low, high, steps, waiting = data
        blocks.size = _checks.integer("the size of a block", size, low=1, high=2**62)
        blocks.count = _whole("count", count)
        blocks.sums, blocks.squares = [float(part) for part in sums], [float(part) for part in squares]
        blocks.total, blocks.square, blocks.low, blocks.high = float(total), float(square), float(low), float(high)
        blocks.waiting = [float(value) for value in waiting]
        if len(blocks.sums) != len(blocks.squares):
            raise InputError("blocks must have a sum and a sum of squares each")
        blocks.steps = Steps.load(steps)
        return blocks


class Watch:
    """What a study has noticed about its arms, by key. It is a function of the log, as the policy is."""

    def __init__(self) -> None:
        self.blocks: dict[int, Blocks] = {}
        self._uncounted: list[dict[int, float]] = []
        """The outcomes of the newest entries, which are not in blocks yet."""
        self._arms = 1
        self._sigma: float | None = None
        """The number of arms and the sigma that the outcomes which wait are tested with."""
        self.fallen: dict[int, Fall] = {}
        """The arms that have fallen, as values in [0, 1]."""
        self.doubted: int | None = None
        """The first arm whose outcomes contradict the policy's sigma."""
        self.resets: list[tuple[float, int, Fall]] = []
        """The newest resets that the study made by itself: time, key and fall."""
        self.news: list[tuple[str, int]] = []
        """What was noticed since this was last emptied: "fall" or "sigma", and the arm. It is not part of the state."""

    def take(self, entry: Entry, began: dict[int, int], arms: int, sigma: float | None) -> None:
        """Take a settled entry.

        Parameters
        ----------
        entry
            The entry.
        began
            The event of the last restart of each arm, by key. Outcomes of before are passed over.
        arms
            The number of arms of the problem.
        sigma
            The sigma that the policy was told; None if it was told none.
        """
        if (arms, sigma) != (self._arms, self._sigma):
            self.count()
            self._arms, self._sigma = arms, sigma
        if entry.control is None:
            if entry.values:
                self._later(entry, entry.values, began)
        elif entry.control.kind == "import":
            body = entry.control.body
            for key, values in zip(body["arms"], body["value"], strict=True):
                for value in values:
                    self._later(entry, {key: value}, began)

    def _later(self, entry: Entry, values: dict[int, float], began: dict[int, int]) -> None:
        """Note outcomes, which are counted a little later together with others."""
        if began:
            values = {key: value for key, value in values.items() if began.get(key, 0) <= entry.seq}
        self._uncounted.append(values)
        if len(self._uncounted) >= TOGETHER:
            self.count()

    def count(self) -> None:
        """Count the outcomes that wait, and test arms with a full block."""
        blocks = self.blocks
        touched: defaultdict[int, list[float]] = defaultdict(list)
        for values in self._uncounted:
            for key, value in values.items():
                touched[key].append(value)
        self._uncounted = []
        for key, values_of in touched.items():
            mine = blocks.get(key)
            if mine is None:
                mine = blocks[key] = Blocks()
            mine.waiting += values_of
            while len(mine.waiting) >= BLOCK:
                self._test(key, mine, self._arms, self._sigma)

    def _test(self, key: int, blocks: Blocks, arms: int, sigma: float | None) -> None:
        """Count a group of the outcomes of an arm that wait, and test the arm."""
        full = blocks.gather()
        if (full or key not in self.fallen) and (found := blocks.fall(arms)) is not None:
            if key not in self.fallen:
                self.news.append(("fall", key))
            self.fallen[key] = found
        if not full:
            return
        blocks.halve()
        if sigma is not None and self.doubted is None and blocks.steps.against(sigma, arms):
            self.doubted = key
            self.news.append(("sigma", key))

    def restart(self, key: int) -> None:
        """Forget the plays of an arm that restarts."""
        self.count()
        self.blocks.pop(key, None)
        self.fallen.pop(key, None)
        self.doubted = None if self.doubted == key else self.doubted

    def reset(self, at: float, keys: list[int], fell: list[Any]) -> None:
        """Note a reset that the study made by itself."""
        self.resets += [(at, key, Fall(*facts)) for key, facts in zip(keys, fell, strict=True)]
        del self.resets[:-RESETS_KEPT]

    def steps(self) -> dict[int, Steps]:
        """The steps from play to play of each arm, with the newest outcomes."""
        self.count()
        found = {}
        for key, blocks in self.blocks.items():
            found[key] = Steps.load(blocks.steps.dump())
            found[key].extend(blocks.waiting)
        return found

    def copy(self) -> Watch:
        """An independent copy."""
        return Watch.load(self.dump())

    def keys(self) -> set[int]:
        """The keys of all arms that something was noticed about."""
        return {*self.blocks, *self.fallen, *(key for _, key, _ in self.resets)}

    def dump(self) -> dict[str, Any]:
        """The state as plain data."""
        self.count()
        return {
            "blocks": [[key, *blocks.dump()] for key, blocks in self.blocks.items()],
            "fallen": [[key, *astuple(found)] for key, found in self.fallen.items()],
            "doubted": self.doubted,
            "resets": [[at, key, *astuple(found)] for at, key, found in self.resets],
        }

    @staticmethod
    def load(data: dict[str, Any]) -> Watch:
        """The inverse of `dump`."""
        watch = Watch()
        watch.blocks = {key: Blocks.load(rest) for key, *rest in data["blocks"]}
        watch.fallen = {_whole("a key", key): _fall(rest) for key, *rest in data["fallen"]}
        watch.doubted = None if data["doubted"] is None else _whole("doubted", data["doubted"])
        watch.resets = [
            (_checks.number("at", at, low=-9e9, high=9e9), _whole("a key", key), _fall(rest))
            for at, key, *rest in data["resets"]
        ]
        return watch


def _fall(parts: list[Any]) -> Fall:
    """A fall from plain data, checked."""
    since, plays, *numbers, first = parts
    before, after, chance = (_checks.number("a fall", number) for number in numbers)
    return Fall(_whole("since", since), _whole("plays", plays), before, after, chance, _whole("first", first))


def _whole(name: str, value: object) -> int:
    """A whole number that a database can hold."""
    return _checks.integer(name, value, low=0, high=2**62)
