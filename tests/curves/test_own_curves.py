"""A curve of a user's own may return anything: what are no means is refused before a run begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.curves import Curve


@dataclass(frozen=True)
class Own(Curve):
    """Returns what it is told, whatever the plays are."""

    returned: Any = 0.5
    end: Any = 0

    @property
    def settled(self):
        return self.end

    def mean(self, plays):
        return self.returned


@pytest.mark.parametrize("returned", ["x", None, 1j, 10**400, [[1.0], [2.0, 3.0]], ["a"]], ids=repr)
def test_what_are_no_means_is_refused(returned):
    with pytest.raises(rb.InputError, match="mean"):
        Own(returned).table(5)


@pytest.mark.parametrize("end", ["x", 1.5, -1, 1j, [3], np.array([1, 2])], ids=repr)
def test_where_a_curve_settles_is_a_number_of_plays(end):
    with pytest.raises(rb.InputError, match="settled of Own must be an integer of at least 0"):
        Own(np.array([0.5]), end).table(5)


def test_plays_are_whole_numbers():
    for plays in ("x", [[1], [2, 3]], 10**400, [0.5]):
        with pytest.raises(rb.InputError, match="plays must be whole numbers"):
            rb.curves.Flat(0.5)(plays)
