"""Raises `MissingExtraError` on import if a package of the extra ``antmaze`` is not installed."""

from rising_bandits._extras import require

for _package in ("mujoco", "gymnasium", "jax", "optax"):
    require("antmaze", _package)
