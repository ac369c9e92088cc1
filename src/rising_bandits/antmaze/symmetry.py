"""What the ant's own shape says: seen from its body, eight directions of travel are one and the same.

The ant's four legs stand at 45, 135, 225 and 315 degrees, so a quarter turn about the body's axis, or a
reflection, maps the ant onto itself. Seen from the body's frame and brought by one of these eight maps to
the same wedge (the goal between 0 and 45 degrees ahead), situations that differ only by such a map become
equal, and what is learned about one of them holds for all (an MDP homomorphism; van der Pol et al.,
*MDP Homomorphic Networks*, NeurIPS 2020). The floor is flat, and walls are felt by whiskers that are turned and
reflected as well, so the map is exact.

All functions take the array module first (numpy or jax.numpy), so that acting and learning share them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rising_bandits._checks import Floats, Ints

FEATURES = 29
"""Goal, velocity, spin and up direction from the body (3 each), height, 8 joint angles and 8 joint speeds."""
_ANKLE_SIGNS = (1.0, -1.0, -1.0, 1.0)
"""An ankle bends outwards with this sign: the joints' axes differ from leg to leg."""
_SCALES = np.array([0.5] * 3 + [1.0] * 3 + [0.5] * 3 + [1.0] * 3 + [2.0] + [1.0] * 8 + [0.2] * 8)
"""What each feature is multiplied by, to bring it near 1."""


def _tables() -> tuple[Ints, Floats]:
    """For each of the eight maps: which joint stands where, and with which sign."""
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


def _gather(xp: Any, values: Any, order: Any) -> Any:
    """Values of the last axis in another order, row by row."""
    # For a single row plain indexing does the same ten times faster, and acting asks for single rows.
    return values[order] if values.ndim == 1 else xp.take_along_axis(values, order, axis=-1)


def _from_body(w: Any, x: Any, y: Any, z: Any, a: Any, b: Any, c: Any) -> tuple[Any, Any, Any]:
    """The vector (a, b, c) of the world in the frame of a body with orientation (w, x, y, z)."""
    return (
        (1 - 2 * (y * y + z * z)) * a + 2 * (x * y + w * z) * b + 2 * (x * z - w * y) * c,
        2 * (x * y - w * z) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z + w * x) * c,
        2 * (x * z + w * y) * a + 2 * (y * z - w * x) * b + (1 - 2 * (x * x + y * y)) * c,
    )


def see(xp: Any, observation: Any, goal: Any, reach: float) -> tuple[Any, Any]:
    """What the networks see of observations (.., 29) with goals (.., 2), and the map that was used (..).

    The goal is pulled to at most ``reach`` away.
    """
    part = [observation[..., i] for i in range(29)]
    w, x, y, z = part[3:7]
    dx, dy = goal[..., 0] - part[0], goal[..., 1] - part[1]
    pull = xp.minimum(1.0, reach / xp.sqrt(dx * dx + dy * dy + 1e-12))
    gx, gy, gz = _from_body(w, x, y, z, dx * pull, dy * pull, 0.0)
    vx, vy, vz = _from_body(w, x, y, z, part[15], part[16], part[17])
    ux, uy, uz = _from_body(w, x, y, z, 0.0, 0.0, 1.0)
    sx, sy, sz = part[18:21]
    # The quarter turn that brings the goal ahead: the larger of |gx|, |gy| and its sign.
    along = xp.abs(gx) >= xp.abs(gy)
    turn = xp.where(along, xp.where(gx >= 0, 0, 2), xp.where(gy >= 0, 1, 3))
    cosine = xp.where(along, xp.where(gx >= 0, 1.0, -1.0), 0.0)
    sine = xp.where(along, 0.0, xp.where(gy >= 0, 1.0, -1.0))
    ahead, aside = cosine * gx + sine * gy, cosine * gy - sine * gx
    mirror = aside < 0
    flip = xp.where(mirror, -1.0, 1.0)
    group = turn + 4 * mirror
    order, sign = xp.asarray(INDEX)[group], xp.asarray(SIGN)[group]
    angles = _gather(xp, observation[..., 7:15], order) * sign
    speeds = _gather(xp, observation[..., 21:29], order) * sign
    # A spin is an axial vector: reflected, its part along the mirror's normal stays and the others turn round.
    vectors = xp.stack(
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
    """Whether a map is one of the four with a reflection."""
    return group >= 4


def to_body(xp: Any, action: Any, group: Any) -> Any:
    """Torques (.., 8) of the real joints as the networks see them under the map ``group``."""
    return _gather(xp, action, xp.asarray(INDEX)[group]) * xp.asarray(SIGN, dtype=action.dtype)[group]


def to_world(xp: Any, action: Any, group: Any) -> Any:
    """What the networks answer under the map ``group`` as torques of the real joints: `to_body` undone."""
    signed = action * xp.asarray(SIGN, dtype=action.dtype)[group]
    return _gather(xp, signed, xp.asarray(BACK)[group])
