"""The symmetry of the ant: eight situations that differ by turns and reflections are mapped to one.

The four legs of the ant stand at 45, 135, 225 and 315 degrees. So quarter turns about the axis of the body and
reflections map the ant onto itself; there are eight such maps. An observation is first expressed in the frame of the
body. Then the map is applied that brings the goal to an angle between 0 and 45 degrees ahead. Situations that differ
only by one of the eight maps become equal, and what is learned about one of them holds for all (an MDP homomorphism;
van der Pol et al., *MDP Homomorphic Networks*, NeurIPS 2020). The floor is flat, and the whiskers that feel walls are
turned and reflected as well, so the symmetry is exact.

All functions take the array module first (numpy or jax.numpy), so that acting and learning share them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rising_bandits._checks import Floats, Ints

FEATURES = 29
"""Goal, velocity, spin and upward direction in the body's frame (3 each), height, 8 joint angles and 8 joint speeds."""
_ANKLE_SIGNS = (1.0, -1.0, -1.0, 1.0)
"""The sign of the angle with which the ankle of each leg bends outwards; the axes differ from leg to leg."""
_SCALES = np.array([0.5] * 3 + [1.0] * 3 + [0.5] * 3 + [1.0] * 3 + [2.0] + [1.0] * 8 + [0.2] * 8)
"""The factor of each feature, which brings it to the order of 1."""


def _tables() -> tuple[Ints, Floats]:
    """For each of the eight maps the joint that takes each place, and its sign."""
    index = np.zeros((8, 8), dtype=np.int64)
    sign = np.ones((8, 8))
    for mirror in range(2):
        for turn in range(4):
            for slot in range(4):
                leg = ((3 - slot if mirror else slot) + turn) % 4
                row = turn + 4 * mirror
                index[row, 2 * slot], index[row, 2 * slot + 1] = 2 * leg, 2 * leg + 1
                sign[row, 2 * slot] = -1.0 if mirror else 1.0
                sign[row, 2 * slot + 1] = _ANKLE_SIGNS[leg]
    return index, sign


INDEX, SIGN = _tables()
BACK = np.argsort(INDEX, axis=1)
"""The inverse of each row of ``INDEX``."""


def _gather(xp: Any, values: Any, order: Any) -> Any:
    """The values of the last axis in another order, row by row."""
    # For a single row, as when acting, plain indexing gives the same and is ten times faster.
    return values[order] if values.ndim == 1 else xp.take_along_axis(values, order, axis=-1)


def _from_body(w: Any, x: Any, y: Any, z: Any, a: Any, b: Any, c: Any) -> tuple[Any, Any, Any]:
    """The world's vector (a, b, c) in the frame of a body with the quaternion (w, x, y, z)."""
    return (
        (1 - 2 * (y * y + z * z)) * a + 2 * (x * y + w * z) * b + 2 * (x * z - w * y) * c,
        2 * (x * y - w * z) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z + w * x) * c,
        2 * (x * z + w * y) * a + 2 * (y * z - w * x) * b + (1 - 2 * (x * x + y * y)) * c,
    )


class _Scalars:
    """What `see` needs of an array module, for Python's floats: the same results without NumPy's cost per call."""

    minimum, sqrt, abs = min, math.sqrt, abs

    @staticmethod
    def where(condition: bool, yes: Any, no: Any) -> Any:
        return yes if condition else no

    @staticmethod
    def stack(values: list[float], axis: int) -> Floats:
        return np.array(values)


def see(xp: Any, observation: Any, goal: Any, reach: float) -> tuple[Any, Any]:
    """The features of observations (.., 29) with goals (.., 2), and the number of the map that was used (..).

    A goal that is farther away than ``reach`` is moved to this distance.
    """
    # A single observation, as when acting, is computed with Python's floats, which is five times as fast.
    single = xp is np and observation.ndim == 1
    on: Any = _Scalars if single else xp
    part = observation.tolist() if single else [observation[..., i] for i in range(29)]
    w, x, y, z = part[3:7]
    to_x, to_y = goal.tolist() if single else (goal[..., 0], goal[..., 1])
    dx, dy = to_x - part[0], to_y - part[1]
    pull = on.minimum(1.0, reach / on.sqrt(dx * dx + dy * dy + 1e-12))
    gx, gy, gz = _from_body(w, x, y, z, dx * pull, dy * pull, 0.0)
    vx, vy, vz = _from_body(w, x, y, z, part[15], part[16], part[17])
    ux, uy, uz = _from_body(w, x, y, z, 0.0, 0.0, 1.0)
    sx, sy, sz = part[18:21]
    # The quarter turn that brings the goal ahead is given by the larger of |gx| and |gy| and by its sign.
    along = on.abs(gx) >= on.abs(gy)
    turn = on.where(along, on.where(gx >= 0, 0, 2), on.where(gy >= 0, 1, 3))
    cosine = on.where(along, on.where(gx >= 0, 1.0, -1.0), 0.0)
    sine = on.where(along, 0.0, on.where(gy >= 0, 1.0, -1.0))
    ahead, aside = cosine * gx + sine * gy, cosine * gy - sine * gx
    mirror = aside < 0
    flip = on.where(mirror, -1.0, 1.0)
    group = turn + 4 * mirror
    order, sign = xp.asarray(INDEX)[group], xp.asarray(SIGN)[group]
    angles = _gather(xp, observation[..., 7:15], order) * sign
    speeds = _gather(xp, observation[..., 21:29], order) * sign
    # A spin is an axial vector: a reflection keeps its part along the mirror's normal and reverses the other parts.
    vectors = on.stack(
        [
            ahead, aside * flip, gz,
            cosine * vx + sine * vy, (cosine * vy - sine * vx) * flip, vz,
            (cosine * sx + sine * sy) * flip, cosine * sy - sine * sx, sz * flip,
            cosine * ux + sine * uy, (cosine * uy - sine * ux) * flip, uz,
            part[2] - 0.5,
        ],
        axis=-1,
    )  # fmt: skip
    return xp.concatenate([vectors, angles, speeds], axis=-1) * xp.asarray(_SCALES, dtype=observation.dtype), group


def mirrored(group: Any) -> Any:
    """Whether a map contains a reflection."""
    return group >= 4


def to_body(xp: Any, action: Any, group: Any) -> Any:
    """The torques (.., 8) of the real joints, as the networks see them under the map ``group``."""
    return _gather(xp, action, xp.asarray(INDEX)[group]) * xp.asarray(SIGN, dtype=action.dtype)[group]


def to_world(xp: Any, action: Any, group: Any) -> Any:
    """The torques of the real joints for an output of the networks under the map ``group``: inverse of `to_body`."""
    signed = action * xp.asarray(SIGN, dtype=action.dtype)[group]
    return _gather(xp, signed, xp.asarray(BACK)[group])
