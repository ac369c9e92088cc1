"""Whiskers, by which the ant feels walls: eight directions around its torso, the first one towards its goal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.antmaze.floor import Box

WHISKERS = 8
_ANGLES = np.arange(WHISKERS) * (2.0 * np.pi / WHISKERS)
_COSINES, _SINES = np.cos(_ANGLES), np.sin(_ANGLES)
_LEVEL = 1e-6
"""The smallest component of a direction; smaller ones are replaced by this, to avoid a division by 0."""


def feel(xp: Any, walls: Sequence[Box] | Floats, length: float, place: Any, goal: Any, mirrored: Any) -> Any:
    r"""What whiskers of a length feel at positions (.., 2): 0 if no wall is within reach, up to 1 at a wall.

    Whisker :math:`k` points :math:`k \cdot 45` degrees to the left of the goal, or to the right where ``mirrored``
    (..) is true. It gives :math:`1 - d/\text{length}` for a wall at distance :math:`d` along it. The values do not
    change if the maze, the ant and the goal are turned or mirrored together.

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
    sides = xp.asarray(np.asarray(walls, dtype=np.float64).reshape(-1, 4), dtype=place.dtype)
    # A rectangle is the intersection of two strips. A ray is inside it from the later of the two entries to the earlier
    # of the two exits.
    for axis, direction in enumerate((cosine * onward - sine * left, sine * onward + cosine * left)):
        slope = xp.where(xp.abs(direction) < _LEVEL, _LEVEL, direction)[..., None]
        start = place[..., axis, None, None]
        one, other = (sides[:, 2 * axis] - start) / slope, (sides[:, 2 * axis + 1] - start) / slope
        enter, leave = xp.maximum(enter, xp.minimum(one, other)), xp.minimum(leave, xp.maximum(one, other))
    met = (leave >= enter) & (leave > 0.0)
    distance = xp.where(met, xp.maximum(enter, 0.0), length).min(axis=-1, initial=length)
    return 1.0 - distance / length
