"""Small multilayer networks as lists of weights, evaluated by NumPy (to act) or by JAX (to learn)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

ACTIONS = 8
"""The number of joints, and so of numbers in an action."""

Network = list[tuple[Any, Any]]
"""The weights and biases of each layer."""


def make_network(rng: np.random.Generator, sizes: Sequence[int]) -> Network:
    """A network with layers of these sizes; weights are uniform between plus and minus 1 / sqrt(inputs)."""
    layers: Network = []
    for inputs, outputs in itertools.pairwise(sizes):
        bound = 1.0 / np.sqrt(inputs)
        weights = rng.uniform(-bound, bound, (inputs, outputs)).astype(np.float32)
        layers.append((weights, rng.uniform(-bound, bound, outputs).astype(np.float32)))
    return layers


def evaluate(xp: Any, network: Network, x: Any, *, normalise: bool = False) -> Any:
    """The outputs of a network with ReLU hidden layers, which are layer-normalised first if ``normalise`` is true.

    ``xp`` is the array module, numpy or jax.numpy.
    """
    for weights, bias in network[:-1]:
        x = x @ weights + bias
        if normalise:
            x = x - x.mean(-1, keepdims=True)
            x = x / xp.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
        x = xp.maximum(x, 0.0)
    weights, bias = network[-1]
    return x @ weights + bias
