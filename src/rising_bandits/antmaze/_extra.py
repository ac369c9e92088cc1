"""Refuses to go on where the packages of the extra are missing."""

from rising_bandits._extras import require

for _package in ("mujoco", "gymnasium", "jax", "optax"):
    require("antmaze", _package)
