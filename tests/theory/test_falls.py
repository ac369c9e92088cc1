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
    return since if (1 + best) * math.exp(-best) <= FALSE_ALARM / (2 * arms * 2.62 * n**2.5) else None


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


@pytest.mark.parametrize(("noise", "drop"), [(0.001, 0.03), (0.01, 0.1), (0.05, 0.4)])
def test_small_falls_of_precise_outcomes_are_found_soon(noise, drop):
    # By levels alone none of the first two is found within 3000 plays.
    for seed in range(10):
        rng = np.random.default_rng(seed)
        outcomes = 0.8 - drop * (np.arange(280) >= 200) + noise * rng.uniform(-1.7, 1.7, size=280)
        assert fall(outcomes[:200], arms=10) is None
        seen = fall(outcomes, arms=10)
        assert seen is not None
        assert abs(seen.since - 201) <= 3
        assert seen.before - seen.after == pytest.approx(drop, rel=0.2)
        groups = outcomes.reshape(-1, 20)
        known = {"counts": [20] * 14, "squares": (groups**2).mean(axis=1), "ends": (outcomes.min(), outcomes.max())}
        assert fall(groups.mean(axis=1), arms=10, **known).since == 201


def test_a_fall_is_found_in_an_arm_that_has_risen_far_above_its_old_mean():
    for seed in range(10):
        rng, plays = np.random.default_rng(seed), np.arange(1120)
        outcomes = 0.8 - 0.7 * np.exp(-plays / 200) - 0.05 * (plays >= 1000) + 0.01 * rng.normal(size=1120)
        assert fall(outcomes[:1000], arms=10) is None
        seen = fall(outcomes, arms=10)
        assert seen is not None
        # The mean after the fall is above that of all plays before it, but not above that of the window.
        assert outcomes[1000:].mean() > outcomes[:1000].mean()
        assert abs(seen.since - 1001) <= 5
        assert seen.before > seen.after
        assert seen.before == pytest.approx(outcomes[seen.first - 1 : seen.since - 1].mean())


_NEVER = {
    "zeros and ones": lambda rng, plays: rng.random(plays.size) < rng.random(),
    "rare failures": lambda rng, plays: rng.random(plays.size) > 10 ** rng.uniform(-3, -1),
    "rising zeros and ones": lambda rng, plays: rng.random(plays.size) < 0.9 * (1 - np.exp(-plays / 100)),
    "precise": lambda rng, plays: 0.8 - 0.3 * np.exp(-plays / 50) + 0.001 * rng.normal(size=plays.size),
    "noise that grows": lambda rng, plays: 0.5 + np.where(plays < 300, 0.005, 0.15) * rng.normal(size=plays.size),
    "noise that shrinks": lambda rng, plays: 0.5 + np.where(plays < 300, 0.15, 0.005) * rng.normal(size=plays.size),
    "rare spikes": lambda rng, plays: 0.8 + 0.01 * rng.normal(size=plays.size) - 0.4 * (rng.random(plays.size) < 0.01),
    "a wave of 0.018": lambda rng, plays: 0.8 + 0.009 * np.sin(plays / 40) + 0.001 * rng.random(plays.size),
}


@pytest.mark.parametrize("kind", _NEVER)
def test_noise_of_any_kind_is_not_called_a_fall(kind):
    rng, plays = np.random.default_rng(5), np.arange(640)
    for _ in range(20):
        outcomes = np.clip(_NEVER[kind](rng, plays) * 1.0, 0.0, 1.0)
        assert all(fall(outcomes[:n]) is None for n in range(80, 641, 40))


def test_noise_that_is_alike_in_neighbouring_plays_is_not_called_a_fall():
    rng = np.random.default_rng(6)
    for _ in range(20):
        noise, steps = np.zeros(640), rng.normal(size=640)
        for play in range(1, 640):
            noise[play] = 0.9 * noise[play - 1] + 0.02 * steps[play]
        assert all(fall(np.clip(0.6 + noise[:n], 0.0, 1.0)) is None for n in range(80, 641, 40))


@pytest.mark.parametrize("given", [{"squares": [0.1]}, {"squares": [0.25, 0.16]}, {"squares": "no", "ends": (0, 1)}])
def test_squares_that_are_wrong_are_refused(given):
    with pytest.raises(InputError, match="squares must be"):
        fall([0.5, 0.4], counts=[3, 3], **given)


@pytest.mark.parametrize("counts", [[1], [1, 0, 1], [1.0, 1.0, 1.0], [1, 1, -1]])
def test_counts_that_are_wrong_are_refused(counts):
    with pytest.raises(InputError, match="counts must be"):
        fall([0.5, 0.4, 0.3], counts=counts)
