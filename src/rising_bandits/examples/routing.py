"""Choose routes in a real network whose links get faster with use: ``python -m rising_bandits.examples.routing``."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import networkx as nx
import numpy as np

from rising_bandits import _checks
from rising_bandits._extras import require
from rising_bandits.curves import Curve, Flat, Gaussian, Linear
from rising_bandits.examples.compare import main
from rising_bandits.problems import ShortestPath, Task

SOURCE, TARGET = "Norden", "Muenchen"
TITLE = "Routes from Norden to München"
HORIZONS = (10_000, 200_000)


def network() -> Any:
    """The network nobel-germany of SNDlib: 17 cities and 26 links, with lengths in kilometres.

    >>> network().number_of_edges()
    26
    """
    require("examples", "topohub")
    data = json.loads((files("topohub") / "data/sndlib/nobel-germany.json").read_text())
    city = {node["id"]: node["name"] for node in data["nodes"]}
    graph = nx.Graph()
    for edge in data["edges"]:
        graph.add_edge(city[edge["source"]], city[edge["target"]], km=edge["dist"])
    return graph


def problem() -> ShortestPath:
    """Paths from Norden to München. Every link leads closer to München, so that there are no loops.

    >>> problem()
    ShortestPath(23 base arms, super arms of up to 15, harmonic reward)
    """
    graph = network()
    left = nx.single_source_dijkstra_path_length(graph, TARGET, weight="km")
    nearer = nx.DiGraph()
    for one, other, data in graph.edges(data=True):
        tail, head = (one, other) if left[one] > left[other] else (other, one)
        nearer.add_edge(tail, head, **data)
    reached = {SOURCE, *nx.descendants(nearer, SOURCE)}
    kept = nx.DiGraph(nearer.subgraph([node for node in nearer if node in reached]))
    return ShortestPath(kept, SOURCE, TARGET, reward="harmonic")


def task(world: int = 0) -> Task:
    """Links whose speed depends on their length. Some of them are new and get faster with use.

    About two in five links are new. A new link starts at 0.4 times the speed of an old link of the same length and
    reaches up to 1.6 times that speed after 2000 uses. An outcome is the speed of a link, in [0, 1]. The reward of a
    path is one over its total time.

    Parameters
    ----------
    world
        The seed that decides which links are new.
    """
    world = _checks.integer("world", world, low=0)
    paths = problem()
    graph, rng = network(), np.random.default_rng(world)
    curves: list[Curve] = []
    for tail, head in paths.edges:
        speed = 0.6 * min(1.0, 60.0 / graph[tail][head]["km"] + 0.3)
        new = rng.random() < 0.4
        curves.append(Linear(duration=2_000, start=0.4 * speed, end=min(1.0, 1.6 * speed)) if new else Flat(speed))
    return Task("routing", paths, tuple(curves), HORIZONS[-1], Gaussian(0.02))


if __name__ == "__main__":
    main(task, HORIZONS, TITLE, __doc__ or "")
