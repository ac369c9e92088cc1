"""The programs of `rising_bandits.examples`: what they are given is checked before anything is run."""

from __future__ import annotations

import pytest

import rising_bandits as rb
from rising_bandits.examples import compare, crowdsourcing, planning, routing


@pytest.mark.parametrize(("worlds", "horizons"), [(0, [100]), (-1, [100]), (1.5, [100]), (1, [20]), (1, [100, 0])])
def test_too_few_worlds_or_rounds_are_refused(worlds, horizons):
    with pytest.raises(rb.InputError, match="must be an integer of at least"):
        compare.compare(planning.task, horizons, worlds)


@pytest.mark.parametrize("example", [crowdsourcing, routing])
def test_a_world_is_a_seed(example):
    with pytest.raises(rb.InputError, match="world must be an integer of at least 0, got -1"):
        example.task(-1)


def test_the_shortest_comparison_names_a_best_policy(monkeypatch):
    monkeypatch.setattr(compare, "NAMES", ("SW-CUCB", "round robin"))
    results = compare.compare(planning.task, [21], worlds=1)
    assert all(result.along.size == 1 for result in results)
    assert "*" in compare.table(results)
