"""Small multilayer networks as plain lists of weights, evaluated by numpy (acting) or JAX (learning)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

ACTIONS = 8

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
