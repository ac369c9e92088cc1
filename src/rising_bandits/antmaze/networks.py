"""Small multilayer networks as plain lists of weights, evaluated by numpy (acting) or JAX (learning)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from rising_bandits.antmaze import symmetry
from rising_bandits.antmaze.settings import Settings

ACTIONS = 8
_PLAIN_FEATURES = 31
_FAR = 1e9

Network = list[tuple[Any, Any]]
"""Weights and biases, layer by layer."""


def make_network(rng: np.random.Generator, sizes: Sequence[int]) -> Network:
    """Uniform weights of the usual size, 1 / sqrt(inputs)."""
    layers: Network = []
    for inputs, outputs in itertools.pairwise(sizes):
        bound = 1.0 / np.sqrt(inputs)
        weights = rng.uniform(-bound, bound, (inputs, outputs)).astype(np.float32)
        layers.append((weights, rng.uniform(-bound, bound, outputs).astype(np.float32)))
    return layers


def evaluate(xp: Any, network: Network, x: Any, *, normalise: bool = False) -> Any:
    """The outputs of a network with rectified hidden layers."""
    for weights, bias in network[:-1]:
        x = x @ weights + bias
        if normalise:
            x = x - x.mean(-1, keepdims=True)
            x = x / xp.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
        x = xp.maximum(x, 0.0)
    weights, bias = network[-1]
    return x @ weights + bias


def n_features(settings: Settings) -> int:
    """How many numbers the networks see of an observation and its goal."""
    return symmetry.FEATURES if settings.view == "symmetric" else _PLAIN_FEATURES


def see(xp: Any, settings: Settings, observation: Any, goal: Any, *, acting: bool) -> tuple[Any, Any]:
    """What the networks see, and the symmetry that was used (always the first in the plain view)."""
    reach = settings.reach if acting else _FAR
    if settings.view == "symmetric":
        return symmetry.see(xp, observation, goal, reach)
    away = goal - observation[..., :2]
    pull = xp.minimum(1.0, reach / xp.sqrt((away * away).sum(-1, keepdims=True) + 1e-12))
    return xp.concatenate([away * pull, observation], axis=-1), xp.zeros(observation.shape[:-1], dtype=int)


def to_body(xp: Any, settings: Settings, action: Any, group: Any) -> Any:
    """An action as the networks see it."""
    return symmetry.to_body(xp, action, group) if settings.view == "symmetric" else action


def to_world(xp: Any, settings: Settings, action: Any, group: Any) -> Any:
    """What the networks answer, as an action."""
    return symmetry.to_world(xp, action, group) if settings.view == "symmetric" else action
