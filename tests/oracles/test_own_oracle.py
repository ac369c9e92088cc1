"""An oracle of the user's own in plain Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rising_bandits.errors import InfeasibleError, TooManySuperArmsError
from rising_bandits.oracles import (
    SuperArmOracle,
)


class Either(SuperArmOracle):
    """Arm 0 alone, or arms 1 and 2 together; it cannot be listed."""

    n_arms, max_size = 3, 2

    def best(self, weights: np.ndarray) -> list[int]:
        return [0] if weights[0] > weights[1] + weights[2] else [2, 1]

    def is_feasible(self, arms: Sequence[int]) -> bool:
        return sorted(arms) in ([0], [1, 2])


def test_an_oracle_of_ones_own_needs_two_methods() -> None:
    oracle = Either()
    assert oracle.solve([0.5, 0.3, 0.4]).tolist() == [1, 2]
    assert oracle.solve([0.5, 0.3, 0.4], [False, True, False]).tolist() == [0]
    assert oracle.solve([-5.0, 0.3, 0.4], [False, False, True]).tolist() == [0]
    assert oracle.solve([1e300, -1e300, 1e300]).tolist() == [0]
    assert oracle.can([True, False, False])
    assert not oracle.can([True, True, False])
    with pytest.raises(InfeasibleError, match=r"blocks 2 of 3 arms \(0, 1\)"):
        oracle.solve([0.5, 0.3, 0.4], [True, True, False])
    assert oracle.containing(2).tolist() == [1, 2]
    assert oracle.containing(0, prefer=[False, True, True]).tolist() == [0]
    assert oracle.containing(1, mask=[False, False, True]) is None
    assert oracle.search(np.array([0.5, np.inf, -3.0]), None).tolist() == [1, 2]
    assert oracle.kernel() is None
    assert oracle.spec() is None
    assert oracle.count() is None
    assert oracle.exact
    for call in (oracle.super_arms, lambda: oracle.sample(np.random.default_rng(0))):
        with pytest.raises(TooManySuperArmsError, match="super arms of Either cannot be listed"):
            call()
