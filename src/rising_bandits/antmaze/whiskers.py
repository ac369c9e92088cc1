"""How the ant feels the walls: eight whiskers around its torso, the first one towards its goal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rising_bandits.antmaze.mazes import Box

WHISKERS = 8
_ANGLES = np.arange(WHISKERS) * (2.0 * np.pi / WHISKERS)
_COSINES, _SINES = np.cos(_ANGLES), np.sin(_ANGLES)
_LEVEL = 1e-6
"""A direction this near to an axis counts as a little off it, so that nothing is divided by 0."""


def feel(xp: Any, walls: Sequence[Box], length: float, place: Any, goal: Any, mirrored: Any) -> Any:
    r"""What whiskers of some length feel at places (.., 2): 0 where there is nothing in reach, 1 at a wall.

    Whisker :math:`k` points :math:`k \cdot 45` degrees to the left of the goal, to the right where ``mirrored``
    (..), and gives :math:`1 - d/\text{length}` for a wall at distance :math:`d` along it. A maze that is turned
    or mirrored together with ant and goal is felt the same.

    >>> wall = Box(left=2.0, right=3.0, bottom=-9.0, top=9.0)
    >>> feel(np, [wall], 4.0, np.zeros(2), np.array([0.0, 5.0]), np.array(False)).round(2).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.29, 0.5, 0.29]
    """
    away = goal - place
    ahead = away / xp.sqrt((away * away).sum(-1, keepdims=True) + 1e-12)
    cosine, sine = ahead[..., :1], ahead[..., 1:]
    left = xp.asarray(_SINES, dtype=place.dtype) * xp.where(mirrored, -1.0, 1.0)[..., None]
    onward = xp.asarray(_COSINES, dtype=place.dtype)
    enter, leave = -xp.inf, xp.inf
    sides = xp.asarray(np.array(walls, dtype=np.float64).reshape(-1, 4), dtype=place.dtype)
    # A box is where two strips cross: a ray is inside from the later entry to the earlier exit.
    for axis, direction in enumerate((cosine * onward - sine * left, sine * onward + cosine * left)):
        slope = xp.where(xp.abs(direction) < _LEVEL, _LEVEL, direction)[..., None]
        start = place[..., axis, None, None]
        one, other = (sides[:, 2 * axis] - start) / slope, (sides[:, 2 * axis + 1] - start) / slope
        enter, leave = xp.maximum(enter, xp.minimum(one, other)), xp.minimum(leave, xp.maximum(one, other))
    met = (leave >= enter) & (leave > 0.0)
    distance = xp.where(met, xp.maximum(enter, 0.0), length).min(axis=-1, initial=length)
    return 1.0 - distance / length
