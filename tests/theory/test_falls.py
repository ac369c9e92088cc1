"""Falls of arms: against a plain loop, and how often arms that do not fall are accused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rising_bandits as rb
from rising_bandits.errors import InputError
from rising_bandits.theory.falls import FALSE_ALARM, fall


def _kl(p, q):
    p, q = (min(max(x, 1e-9), 1 - 1e-9) for x in (p, q))
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


def _plainly(outcomes, arms):
    """The first play after the fall, or None, as the definition says."""
    n, best, since = len(outcomes), 0.0, None
    for s in range(1, n):
        old, new, mean = (sum(part) / len(part) for part in (outcomes[:s], outcomes[s:], outcomes))
        if new < old and (ratio := s * _kl(old, mean) + (n - s) * _kl(new, mean)) > best:
            best, since = ratio, s + 1
    return since if (1 + best) * math.exp(-best) <= FALSE_ALARM / (arms * 2.62 * n**2.5) else None


def test_the_arrays_are_the_definition():
    rng, found = np.random.default_rng(2), []
    for _ in range(60):
        outcomes = (
            rng.random(90) < np.where(np.arange(90) < rng.integers(20, 70), 0.9, rng.choice([0.1, 0.5, 0.9]))
        ) * 1.0
        seen = fall(outcomes, arms=5)
        found.append(None if seen is None else seen.since)
        assert found[-1] == _plainly(outcomes.tolist(), 5)
    assert 10 < sum(since is not None for since in found) < 50


def test_a_fall_from_09_to_02_is_found_within_sixty_plays():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        outcomes = (rng.random(560) < np.where(np.arange(560) < 500, 0.9, 0.2)) * 1.0
        assert fall(outcomes[:500], arms=3) is None
        seen = fall(outcomes, arms=3)
        assert seen is not None
        assert abs(seen.since - 501) <= 10
        assert (seen.before, seen.after) == pytest.approx((0.9, 0.2), abs=0.15)
        assert seen.chance <= FALSE_ALARM


@pytest.mark.parametrize("kind", ["flat", "rising", "stepped", "certain"])
def test_arms_that_do_not_fall_are_not_accused(kind):
    # 60 arms, each tested after every fifth play. The bound allows 0.06 alarms on average.
    rng, plays = np.random.default_rng(4), np.arange(300)
    for _ in range(60):
        mean = {
            "flat": np.full(300, rng.random()),
            "rising": 0.9 * (1 - np.exp(-plays / rng.integers(5, 200))),
            "stepped": np.where(plays < 150, 0.2, 0.9),
            "certain": np.full(300, 1.0),
        }[kind]
        outcomes = (rng.random(300) < mean) * 1.0
        assert all(fall(outcomes[:n]) is None for n in range(2, 301, 5))


def test_bad_outcomes_are_refused():
    for wrong in ([0.5, 1.5], [math.nan], "ab", [[0.5]], None):
        with pytest.raises(InputError, match="outcomes must be"):
            fall(wrong)
    assert fall([]) is None


def test_a_study_lists_arms_that_fell_in_the_users_unit(tmp_path):
    problem, scale = rb.problems.TopK(["a", "b"], k=1), rb.studies.Range(0, 100, lower_is_better=True, unit="ms")
    study = rb.studies.create(
        "t", problem, rb.CRUCB(sigma=0.01), storage=f"sqlite:///{tmp_path}/t.db", scale=scale, seed=0
    )
    # Times of a grow, which is a fall, and those of b shrink, which is a rise.
    for arm, early, late in (("a", 10.0, 80.0), ("b", 80.0, 10.0)):
        study.import_plays([(arm, play, early if play <= 50 else late) for play in range(1, 101)])
    (change,) = study.changes()
    assert (change.label, change.since, change.plays, change.before, change.after) == ("a", 51, 100, 10.0, 80.0)
    assert str(change) == "a has fallen since play 51: from 10 ms to 80 ms (100 plays)"
    assert study.contradiction() is None
    study.reset([change.label])
    assert study.changes() == []
    study.import_plays([("a", play, 100.0 * (play % 2)) for play in range(1, 41)])
    assert study.contradiction() is None, "rises within pairs are no falls"
    study.import_plays([("b", play, 100.0 * (play % 2 == 0)) for play in range(1, 41)])
    assert study.contradiction().arm == "b"
    study.set_policy(rb.HorizonCRUCB())
    assert study.contradiction() is None
    study.close()


@pytest.mark.parametrize("size", [1, 3, 7])
def test_means_of_neighbours_try_only_the_cuts_between_them(size):
    rng = np.random.default_rng(size)
    outcomes = (rng.random(size * 40) < np.repeat([0.99, 0.02], size * 20)).astype(float)
    means, counts = outcomes.reshape(-1, size).mean(axis=1), [size] * 40
    found, whole = fall(means, counts=counts), fall(outcomes)
    assert found is not None
    assert whole is not None
    assert (found.since - 1) % size == 0
    assert found.before == pytest.approx(outcomes[: found.since - 1].mean())
    assert found.after == pytest.approx(outcomes[found.since - 1 :].mean())
    assert found.chance >= whole.chance * (1 - 1e-9)


@pytest.mark.parametrize("counts", [[1], [1, 0, 1], [1.0, 1.0, 1.0], [1, 1, -1]])
def test_counts_that_are_wrong_are_refused(counts):
    with pytest.raises(InputError, match="counts must be"):
        fall([0.5, 0.4, 0.3], counts=counts)
