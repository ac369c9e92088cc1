"""A simple path through a given arc: hard in general, so a small integer programme (HiGHS) decides it."""

from __future__ import annotations

import numpy as np

from rising_bandits._checks import Bools, Ints
from rising_bandits.oracles.arcs import Arcs


def simple_path_through(arcs: Arcs, arm: int, blocked: Bools | None) -> Ints | None:
    """A simple path from source to target that uses ``arm``, ascending, or None where there is none.

    One unit flows from source to target, every node is entered at most once, and node
    potentials rise along the arcs that are used, which excludes cycles beside the path.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import lil_matrix

    flat = [
        (node, step, head)
        for node, out in enumerate(arcs.steps())
        for step, head in out
        if blocked is None or not blocked[step]
    ]
    count, nodes = len(flat), arcs.n_nodes
    variables = count + nodes
    rows = lil_matrix((3 * nodes + count + 1, variables))
    low = np.full(rows.shape[0], -np.inf)
    high = np.full(rows.shape[0], np.inf)
    for place, (tail, step, head) in enumerate(flat):
        rows[tail, place] += 1
        rows[head, place] -= 1
        rows[nodes + head, place] += 1
        rows[2 * nodes + tail, place] += 1
        order = 3 * nodes + place
        rows[order, count + head] = 1
        rows[order, count + tail] = -1
        rows[order, place] = -nodes
        low[order] = 1 - nodes
        if step == arm:
            rows[3 * nodes + count, place] = 1
    low[:nodes] = high[:nodes] = 0
    low[arcs.source] = high[arcs.source] = 1
    low[arcs.target] = high[arcs.target] = -1
    high[nodes : 3 * nodes] = 1
    high[nodes + arcs.source] = 0
    low[-1] = high[-1] = 1
    result = milp(
        c=np.concatenate([np.ones(count), np.zeros(nodes)]),
        constraints=LinearConstraint(rows.tocsr(), low, high),
        integrality=np.concatenate([np.ones(count), np.zeros(nodes)]),
        bounds=Bounds(np.zeros(variables), np.concatenate([np.ones(count), np.full(nodes, float(nodes))])),
    )
    if result.x is None:
        return None
    return np.sort(np.array([flat[place][1] for place in range(count) if result.x[place] > 0.5], dtype=np.int64))
