"""What the networks see of the ant, its goal and the walls, and how their answer becomes an action."""

from __future__ import annotations

from typing import Any

from rising_bandits.antmaze import symmetry
from rising_bandits.antmaze.mazes import Box
from rising_bandits.antmaze.settings import Settings
from rising_bandits.antmaze.whiskers import WHISKERS, feel

_FAR = 1e9
_PLAIN_FEATURES = 31


class View:
    """A way to see, as the settings have it, among some walls.

    All methods take the array module first (numpy or jax.numpy), so that acting and learning share them.

    >>> View(Settings(feel=0.0)).features, View(Settings()).features
    (29, 37)
    """

    def __init__(self, settings: Settings, walls: tuple[Box, ...] = ()) -> None:
        self.settings, self.walls = settings, walls
        self._symmetric = settings.view == "symmetric"
        self.features = symmetry.FEATURES if self._symmetric else _PLAIN_FEATURES
        """How many numbers the networks see."""
        if settings.feel > 0.0:
            self.features += WHISKERS

    def see(self, xp: Any, observation: Any, goal: Any, *, acting: bool) -> tuple[Any, Any]:
        """The features of observations (.., 29) with goals (.., 2), and the symmetry that was used.

        The plain view uses no symmetry, which is number 0.
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
            felt = feel(xp, self.walls, self.settings.feel, place, goal, symmetry.mirrored(group))
            seen = xp.concatenate([seen, felt.astype(seen.dtype)], axis=-1)
        return seen, group

    def to_body(self, xp: Any, action: Any, group: Any) -> Any:
        """An action as the networks see it."""
        return symmetry.to_body(xp, action, group) if self._symmetric else action

    def to_world(self, xp: Any, action: Any, group: Any) -> Any:
        """What the networks answer, as an action."""
        return symmetry.to_world(xp, action, group) if self._symmetric else action
