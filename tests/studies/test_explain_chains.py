"""Explanations of chains: scores of products and harmonic rewards are sensible numbers."""

from __future__ import annotations

import numpy as np
import pytest

import rising_bandits as rb


@pytest.mark.parametrize("reward", ["product", "harmonic"])
@pytest.mark.parametrize("policy", [rb.CRUCB(sigma=0.01), rb.CRUCB(sigma=0.5), rb.SWCUCB(window=20), None])
def test_margins_of_chains_are_not_negative_and_products_are_at_most_1(tmp_path, reward, policy):
    edges = [("a", "b", name) for name in "xyz"] + [("b", "c", name) for name in "uvw"]
    problem = rb.problems.ShortestPath(edges, "a", "c", reward=reward)
    assert problem.exact
    study = rb.studies.create("chain", problem, policy, storage=f"sqlite:///{tmp_path}/chain.db", seed=1)
    rng, compared = np.random.default_rng(0), 0
    for _ in range(40):
        decision = study.ask()
        found = study.explain(decision)
        if found.margin is not None and not found.notes:
            compared += 1
            assert found.margin >= -1e-9
        for choice in (found.chosen, found.runner_up):
            assert choice.score is None or choice.score >= 0.0
            assert reward == "harmonic" or choice.score is None or choice.score <= 1.0
        outcomes = {}
        for label in decision.super_arm:
            outcomes[label] = float(rng.random() < 0.8)
            if outcomes[label] == 0.0:
                break
        study.tell(decision, outcomes)
    assert compared > 10
    study.close()
