"""Imported first: AntMaze needs packages that the library itself does not."""

from rising_bandits._extras import require

require("antmaze", "mujoco", "gymnasium", "jax", "optax")
