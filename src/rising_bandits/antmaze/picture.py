"""Pictures of the ant: by MuJoCo's offscreen renderer if it works, otherwise drawn from above by matplotlib."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from rising_bandits.antmaze.body import build
from rising_bandits.antmaze.drawing import Segment, paint
from rising_bandits.antmaze.maze import Maze

Picture = npt.NDArray[np.uint8]
WIDTH, HEIGHT = 480, 360


@lru_cache(maxsize=1)
def can_render() -> bool:
    """Whether MuJoCo can draw in this process.

    On a machine without a screen, it often can if the environment variable MUJOCO_GL is set to egl before the import.
    """
    model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with mujoco.Renderer(model, 8, 8) as renderer:
                renderer.update_scene(mujoco.MjData(model))
                renderer.render()
    except Exception:
        # Which error a missing screen or graphics library raises differs from system to system.
        return False
    return True


class Camera:
    """A camera that looks at a maze from above, tilted a little to the south."""

    def __init__(self, model: mujoco.MjModel, maze: Maze, width: int = WIDTH, height: int = HEIGHT) -> None:
        self.model, self.maze, self.width, self.height = model, maze, width, height
        self._renderer: Any = mujoco.Renderer(model, height, width) if can_render() else None
        box = maze.bounds
        self._view = mujoco.MjvCamera()
        self._view.lookat[:] = [(box.left + box.right) / 2, (box.bottom + box.top) / 2, 0.0]
        self._view.distance = 1.2 * max(box.right - box.left, 1.33 * (box.top - box.bottom))
        self._view.azimuth, self._view.elevation = 90.0, -82.0

    def picture(self, data: mujoco.MjData) -> Picture:
        """A picture of the state of a simulation, an array of shape (height, width, 3)."""
        # After a reset the positions of the parts have not been computed yet.
        mujoco.mj_kinematics(self.model, data)
        if self._renderer is not None:
            self._renderer.update_scene(data, self._view)
            return np.asarray(self._renderer.render())
        return paint(self.maze, skeleton(self.model, data), self.width, self.height)

    def close(self) -> None:
        """Release the graphics context."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


def skeleton(model: mujoco.MjModel, data: mujoco.MjData) -> list[Segment]:
    """The parts of the ant as line segments seen from above."""
    segments = []
    for geom in range(model.ngeom):
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CAPSULE:
            middle = data.geom_xpos[geom]
            half = model.geom_size[geom][1] * data.geom_xmat[geom].reshape(3, 3)[:, 2]
            a, b = middle - half, middle + half
            segments.append(((float(a[0]), float(a[1])), (float(b[0]), float(b[1]))))
    return segments


def skeletons(maze: Maze, walk: npt.ArrayLike) -> list[list[Segment]]:
    """The parts of the ant seen from above, for each row of positions."""
    model = build(maze)
    data = mujoco.MjData(model)
    out = []
    for positions in np.asarray(walk):
        data.qpos[:] = positions
        mujoco.mj_kinematics(model, data)
        out.append(skeleton(model, data))
    return out


_PROBE = """
import mujoco
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
renderer = mujoco.Renderer(model, 8, 8)
renderer.update_scene(mujoco.MjData(model))
renderer.render()
"""


def _environment(backend: str) -> dict[str, str]:
    return {**os.environ, **({"MUJOCO_GL": backend} if backend else {})}


@lru_cache(maxsize=4)
def _backend(program: str, wanted: str) -> str | None:
    """The first graphics backend with which a process of its own can draw, or None.

    MuJoCo chooses its backend when it is imported, so each needs a process. First comes the user's choice, or else
    MuJoCo's default, which works with a screen and on macOS and Windows.
    """
    for backend in dict.fromkeys([wanted, "egl", "osmesa"]):
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                [program, "-c", _PROBE], env=_environment(backend), capture_output=True, timeout=60, check=True
            )
            return backend
    return None


def film(maze: Maze, walk: npt.ArrayLike) -> tuple[list[Picture], str]:
    """A picture for each row of positions, and a phrase that says what drew them.

    The pictures are made by a process with a graphics backend that works. If there is none, matplotlib draws them from
    above.
    """
    backend = _backend(sys.executable, os.environ.get("MUJOCO_GL", ""))
    if backend is not None:
        with tempfile.TemporaryDirectory() as folder, contextlib.suppress(OSError, subprocess.SubprocessError):
            given, made = Path(folder) / "walk.npy", Path(folder) / "film.npz"
            np.save(given, np.asarray(walk, dtype=np.float64))
            command = [sys.executable, "-m", __name__, json.dumps(maze.as_dict()), str(given), str(made)]
            subprocess.run(command, env=_environment(backend), capture_output=True, timeout=300, check=True)
            with np.load(made, allow_pickle=False) as data:
                return list(data["pictures"]), "MuJoCo's renderer"
    return [paint(maze, parts, WIDTH, HEIGHT) for parts in skeletons(maze, walk)], "drawn from above"


def _main(arguments: Sequence[str]) -> None:
    """Draw the pictures of a film in this process; exits with code 1 if MuJoCo cannot draw."""
    maze = Maze.from_dict(json.loads(arguments[0]))
    model = build(maze)
    data = mujoco.MjData(model)
    if not can_render():
        raise SystemExit(1)
    camera = Camera(model, maze)
    pictures = []
    for positions in np.load(arguments[1], allow_pickle=False):
        data.qpos[:] = positions
        mujoco.mj_forward(model, data)
        pictures.append(camera.picture(data))
    camera.close()
    np.savez(arguments[2], pictures=np.array(pictures, dtype=np.uint8))


if __name__ == "__main__":
    _main(sys.argv[1:])
