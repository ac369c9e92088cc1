"""The ant and its maze as a MuJoCo model, built with MuJoCo's `MjSpec`."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from rising_bandits._checks import Floats
from rising_bandits.antmaze.maze import Maze
from rising_bandits.errors import InputError

TORQUE = 30.0
"""The largest torque of a joint; an action of 1 means this torque."""
SUBSTEPS = 5
"""How many steps of the simulation an action is held."""
TIMESTEP = 0.02
"""The length of a step of the simulation in seconds."""
HEIGHT = 0.55
"""The height of the torso at the start, a little above the height at which it stands."""
_WALL_HEIGHT = 2.0
"""Half the height of the walls. With 0.75 an ant at full speed climbs them."""
_STANCE = (0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0)
"""The joint angles of an ant that stands: hip and ankle of each leg."""

# Each leg: its name, its direction from the torso, the axis of its ankle and the ankle's range in degrees. Ankles bend
# outwards; the sign of that depends on the axis.
_LEGS = (
    ("front_left", (1, 1), (-1, 1), (30, 70)),
    ("front_right", (-1, 1), (1, 1), (-70, -30)),
    ("back_left", (-1, -1), (-1, 1), (-70, -30)),
    ("back_right", (1, -1), (1, 1), (30, 70)),
)


def stance(x: float, y: float) -> Floats:
    """The 15 positions (MuJoCo's ``qpos``) of an ant that stands at (x, y)."""
    return np.array([x, y, HEIGHT, 1.0, 0.0, 0.0, 0.0, *_STANCE])


def build(maze: Maze, integrator: str = "RK4") -> mujoco.MjModel:
    """The MuJoCo model of a maze: the floor, the walls and the ant.

    >>> from rising_bandits.antmaze.mazes import EASY
    >>> model = build(EASY)
    >>> model.nq, model.nv, model.nu
    (15, 14, 8)
    """
    method = getattr(mujoco.mjtIntegrator, f"mjINT_{str(integrator).upper()}", None)
    if method is None:
        raise InputError(f"integrator must be one of MuJoCo's, as in RK4 or implicitfast, got {integrator!r}")
    spec = mujoco.MjSpec()
    spec.modelname = f"ant-{maze.name}"
    spec.compiler.degree = True
    spec.option.timestep = TIMESTEP
    spec.option.integrator = method
    # One ant is one island. To look for more takes a tenth of the time of a step and changes no bit of its result.
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 960, 720
    ground: dict[str, Any] = {"condim": 3, "friction": [1.0, 0.5, 0.5], "margin": 0.01}
    bounds = maze.bounds
    spec.worldbody.add_light(
        pos=[(bounds.left + bounds.right) / 2, (bounds.bottom + bounds.top) / 2, 30.0], dir=[0, 0, -1]
    )
    spec.worldbody.add_geom(
        name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[60, 60, 1], rgba=[0.93, 0.93, 0.9, 1], **ground
    )
    for number, wall in enumerate(maze.walls):
        spec.worldbody.add_geom(
            name=f"wall_{number}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=[(wall.left + wall.right) / 2, (wall.bottom + wall.top) / 2, _WALL_HEIGHT],
            size=[(wall.right - wall.left) / 2, (wall.top - wall.bottom) / 2, _WALL_HEIGHT],
            rgba=[0.45, 0.5, 0.58, 1],
            **ground,
        )
    _add_ant(spec, ground)
    return spec.compile()


def _add_ant(spec: Any, ground: dict[str, Any]) -> None:
    """Add the ant: a torso and four legs, each with a hip and an ankle."""
    # Parts of the ant collide with the floor and the walls but not with each other.
    skin = {**ground, "conaffinity": 0, "density": 5.0, "rgba": [0.85, 0.5, 0.2, 1]}
    hinge = {"limited": True, "armature": 1.0, "damping": 1.0}
    torso = spec.worldbody.add_body(name="torso", pos=[0, 0, HEIGHT])
    torso.add_freejoint(name="root")
    torso.add_geom(name="torso", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.25, 0, 0], **skin)
    for name, (sx, sy), axis, bend in _LEGS:
        part = {"type": mujoco.mjtGeom.mjGEOM_CAPSULE, "size": [0.08, 0, 0], **skin}
        torso.add_geom(fromto=[0, 0, 0, 0.2 * sx, 0.2 * sy, 0], **part)
        thigh = torso.add_body(name=f"{name}_leg", pos=[0.2 * sx, 0.2 * sy, 0])
        thigh.add_joint(name=f"{name}_hip", axis=[0, 0, 1], range=[-30, 30], **hinge)
        thigh.add_geom(fromto=[0, 0, 0, 0.2 * sx, 0.2 * sy, 0], **part)
        shin = thigh.add_body(name=f"{name}_foot", pos=[0.2 * sx, 0.2 * sy, 0])
        shin.add_joint(name=f"{name}_ankle", axis=[*axis, 0], range=list(bend), **hinge)
        shin.add_geom(fromto=[0, 0, 0, 0.4 * sx, 0.4 * sy, 0], **part)
        for joint in ("hip", "ankle"):
            spec.add_actuator(
                name=f"{name}_{joint}",
                target=f"{name}_{joint}",
                trntype=mujoco.mjtTrn.mjTRN_JOINT,
                ctrllimited=True,
                ctrlrange=[-TORQUE, TORQUE],
            )
