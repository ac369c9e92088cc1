"""The inputs of the networks, made from the ant, its goal and the walls, and the actions made from their outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from rising_bandits.antmaze import symmetry
from rising_bandits.antmaze.floor import Box
from rising_bandits.antmaze.settings import Settings
from rising_bandits.antmaze.whiskers import WHISKERS, feel

_FAR = 1e9
"""A reach that moves no goal."""
_PLAIN_FEATURES = 31
"""The number of features of the plain view, without whiskers."""


class View:
    """The features that the networks see, as the settings say.

    All methods take the array module first (numpy or jax.numpy), so that acting and learning share them.

    Parameters
    ----------
    settings
        The settings of the agent.
    walls
        The walls that the whiskers feel.

    >>> View(Settings(feel=0.0)).features, View(Settings()).features
    (29, 37)
    """

    def __init__(self, settings: Settings, walls: tuple[Box, ...] = ()) -> None:
        self.settings, self.walls = settings, walls
        self._sides = np.array(walls, dtype=np.float64).reshape(-1, 4)
        self._symmetric = settings.view == "symmetric"
        self.features = symmetry.FEATURES if self._symmetric else _PLAIN_FEATURES
        """The number of features."""
        if settings.feel > 0.0:
            self.features += WHISKERS

    def see(self, xp: Any, observation: Any, goal: Any, *, acting: bool) -> tuple[Any, Any]:
        """The features of observations (.., 29) with goals (.., 2), and the number of the symmetry that was used.

        The plain view uses no symmetry; the number is then 0. Goals are moved to within ``settings.reach`` only if
        ``acting`` is true.
        """
        reach = self.settings.reach if acting else _FAR
        place = observation[..., :2]
        if self._symmetric:
            seen, group = symmetry.see(xp, observation, goal, reach)
        else:
            away = goal - place
            pull = xp.minimum(1.0, reach / xp.sqrt((away * away).sum(-1, keepdims=True) + 1e-12))
            seen = xp.concatenate([away * pull, observation], axis=-1)
            group = xp.zeros(observation.shape[:-1], dtype=int)
        if self.settings.feel > 0.0:
            felt = feel(xp, self._sides, self.settings.feel, place, goal, symmetry.mirrored(group))
            seen = xp.concatenate([seen, felt.astype(seen.dtype)], axis=-1)
        return seen, group

    def to_body(self, xp: Any, action: Any, group: Any) -> Any:
        """The action as the networks see it, for torques of the real joints."""
        return symmetry.to_body(xp, action, group) if self._symmetric else action

    def to_world(self, xp: Any, action: Any, group: Any) -> Any:
        """The torques of the real joints, for an output of the networks."""
        return symmetry.to_world(xp, action, group) if self._symmetric else action
