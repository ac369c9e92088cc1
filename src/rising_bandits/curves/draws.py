r"""Random numbers that are a function of (seed, arm, play). There is no generator to advance, so no order matters.

Every arm has a key, drawn from the seed, and its n-th play gets the n-th number of the generator SplitMix64 (Steele,
Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014) that starts at this key,

.. math:: \mathrm{mix}\big(\text{key} + (n + 1)\,g \bmod 2^{64}\big),

without its lowest bit, so that it fits a signed integer. Two policies that play the same arm for the n-th time on one
seed meet the same outcome, whatever each of them did before.
"""

from __future__ import annotations

import math

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled, compiled_as

_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB
_UNIT = 2.0**-53


def arm_keys(seed: int, n_arms: int) -> Ints:
    """A key of 63 bits for every arm; the key of an arm does not depend on how many there are.

    >>> arm_keys(3, 2).tolist() == arm_keys(3, 5)[:2].tolist()
    True
    """
    seed = _checks.integer("seed", seed, low=0)
    n_arms = _checks.integer("n_arms", n_arms, low=1, limit=10**9)
    _checks.memory(f"the keys of {n_arms} arms", 3.0 * n_arms)
    words = np.random.SeedSequence(seed, spawn_key=(0,)).generate_state(n_arms, np.uint64)
    return (words >> np.uint64(1)).astype(np.int64)


def _wrapping_draw(key: int, play: int) -> int:
    """`draw_of` in compiled code, where unsigned integers wrap around by themselves."""
    word = np.uint64(key) + np.uint64(play + 1) * np.uint64(_STEP)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(_FIRST)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(_SECOND)
    return np.int64((word ^ (word >> np.uint64(31))) >> np.uint64(1))  # type: ignore[return-value]


@compiled_as(_wrapping_draw)
def draw_of(key: int, play: int) -> int:
    """The random number of 63 bits of the play that has ``play`` plays before it.

    >>> draw_of(1234567, 0) == 6457827717110365317 // 2
    True
    """
    word = (int(key) + (int(play) + 1) * _STEP) & _MASK
    word = ((word ^ (word >> 30)) * _FIRST) & _MASK
    word = ((word ^ (word >> 27)) * _SECOND) & _MASK
    return (word ^ (word >> 31)) >> 1


@compiled
def another(word: int) -> int:
    """A further random number that follows from one, for noise that needs several per play."""
    return draw_of(word, 0)


@compiled
def uniform(word: int) -> float:
    """A number in [0, 1) from a random number of 63 bits.

    >>> uniform(0), uniform(2**62)
    (0.0, 0.5)
    """
    return (word >> 10) * _UNIT


def _ziggurat() -> tuple[Ints, Floats, Floats]:
    """For each of 256 layers of equal area: the last place surely inside, its width, and the density at its edge."""
    edge, area = 3.6541528853610088, 0.00492867323399
    sure, width, density = np.zeros(256, dtype=np.int64), np.zeros(256), np.zeros(256)
    x = before = edge
    base = area / math.exp(-0.5 * x * x)
    sure[0], width[0], density[0] = int(x / base * _PLACES), base / _PLACES, 1.0
    width[255], density[255] = x / _PLACES, math.exp(-0.5 * x * x)
    for layer in range(254, 0, -1):
        x = math.sqrt(-2.0 * math.log(area / x + math.exp(-0.5 * x * x)))
        sure[layer + 1] = int(x / before * _PLACES)
        before = x
        width[layer], density[layer] = x / _PLACES, math.exp(-0.5 * x * x)
    return sure, width, density


_PLACES = 2**52
_EDGE = 3.6541528853610088
_SURE, _WIDTH, _DENSITY = _ziggurat()


@compiled
def normal(word: int) -> float:
    """A standard normal number from a random number of 63 bits: the ziggurat of Marsaglia and Tsang.

    *The ziggurat method for generating random variables*, Journal of Statistical Software 5(8), 2000. One number in
    a hundred needs more randomness, which is drawn from the word itself (`another`).

    >>> round(normal(123456789 << 20), 12), normal(2**61) == -normal(2**61 + 256)
    (-0.000219556396, True)
    """
    layer = word & 255
    place = (word >> 9) & (_PLACES - 1)
    x = place * _WIDTH[layer]
    if place >= _SURE[layer]:
        x = _outside(word, layer, x)
    return float(x if word & 256 else -x)


@compiled
def _outside(word: int, layer: int, x: float) -> float:
    """The rest of `normal`: a place that may lie outside the density, or in its tail."""
    while True:
        if layer == 0:
            while True:
                word = another(word)
                x = -math.log(1.0 - uniform(word)) / _EDGE
                word = another(word)
                if -2.0 * math.log(1.0 - uniform(word)) > x * x:
                    return _EDGE + x
        word = another(word)
        if _DENSITY[layer] + uniform(word) * (_DENSITY[layer - 1] - _DENSITY[layer]) < math.exp(-0.5 * x * x):
            return x
        word = another(word)
        layer = word & 255
        place = (word >> 9) & (_PLACES - 1)
        x = place * _WIDTH[layer]
        if place < _SURE[layer]:
            return x
