"""The number that breaks ties between equally good super arms. It comes from a generator's seed and draws nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

_LOW_BITS = 2**63 - 1


def luck_of(rng: Any) -> int:
    """A number of 63 bits that differs between seeds and stays the same while a generator is used.

    It is the part of a generator's state that never changes: the increment of PCG64, the key of Philox. So a policy
    that goes on from a saved state breaks ties as if never stopped. MT19937 and SFC64 have no such part; with them,
    ties are broken in the same way for every seed. A function that makes the generator later gives the number as an
    attribute ``luck``.

    >>> import numpy as np
    >>> rng = np.random.default_rng(7)
    >>> before = luck_of(rng)
    >>> _ = rng.random(100)
    >>> luck_of(rng) == before, luck_of(np.random.default_rng(8)) == before
    (True, False)
    """
    if not isinstance(rng, np.random.Generator):
        return int(getattr(rng, "luck", 1)) | 1
    state = rng.bit_generator.state["state"]
    if isinstance(state, Mapping) and "inc" in state:
        return (int(state["inc"]) >> 1) & _LOW_BITS | 1
    if isinstance(state, Mapping) and "counter" in state:
        return (int(state["key"][0]) >> 1) | 1
    return 1
