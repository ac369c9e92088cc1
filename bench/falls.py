"""How soon a policy leaves an arm that fell, with and without a reset, as a study with ``falls="reset"`` makes it.

    python bench/falls.py [--seeds 5] [--first 1000]

Plays of fallen arms and reward per round, means over seeds. Last table: false alarms on tasks whose arms never fall.

    python bench/falls.py --alarms [--seeds 5] [--first 1000]

How many plays after its fall an arm is noticed by a study of ten arms, by the size of the fall and of the noise. Then
how many arms that do not fall are accused within 2000 plays; there are 40 of each kind for every seed.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import rising_bandits as rb
from rising_bandits._checks import Floats
from rising_bandits.errors import SigmaWarning
from rising_bandits.experiments.metrics import FALLEN
from rising_bandits.simulation.environment import draw, make_environment
from rising_bandits.studies.log.entries import Entry
from rising_bandits.studies.log.watch import Watch

DROPS = ("drop-once", "drop-slowly", "drop-rising")
STEADY = ("two-arms", "imdb-like@3000")
ARMS = 10
MOST = 3000
"""After how many plays a fall counts as not noticed."""
DROPS_BY = (0.02, 0.03, 0.1, 0.4)
NOISES = (0.001, 0.01, 0.05, 0.2)


def noticed(outcomes: Floats) -> int | None:
    """The play at which a study has noticed that an arm fell; None if it never does."""
    watch = Watch()
    for play, outcome in enumerate(np.clip(outcomes, 0.0, 1.0).tolist(), start=1):
        watch.take(Entry(play, values={0: outcome}), {}, ARMS, None)
        if play % 16 == 0:
            watch.count()
            if watch.fallen:
                return play
    return None


def alike(rng: np.random.Generator, plays: int, memory: float, noise: float) -> Floats:
    """Noise in which neighbours are alike: each is ``memory`` times the one before, and something new."""
    steps = rng.normal(size=plays) * noise * np.sqrt(1.0 - memory**2)
    made = np.zeros(plays)
    for play in range(1, plays):
        made[play] = memory * made[play - 1] + steps[play]
    return made


def steady(rng: np.random.Generator, plays: int) -> dict[str, Floats]:
    """Outcomes of arms that do not fall, and of two kinds that do in a way."""
    t, normal, even = np.arange(plays), rng.normal(size=plays), rng.random(plays)
    rise = rng.uniform(0.1, 0.5) + rng.uniform(0.0, 0.4) * (1.0 - np.exp(-t / rng.uniform(5, 600)))
    late = t >= rng.integers(100, plays - 100)
    return {
        "0 or 1, flat": (even < rng.random()) * 1.0,
        "0 or 1, rising": (even < rise) * 1.0,
        "1, rarely 0": (even > 10 ** rng.uniform(-4, -1)) * 1.0,
        "rising, normal noise of any size": rise + 10 ** rng.uniform(-4, -0.7) * normal,
        "rising, beta noise": rng.beta(20 * rise, 20 * (1 - rise)),
        "flat, noise of 0.005 that becomes 0.2": 0.5 + np.where(late, 0.2, 0.005) * normal,
        "flat, noise of 0.2 that becomes 0.005": 0.5 + np.where(late, 0.005, 0.2) * normal,
        "precise, rare losses": rise + 0.01 * normal - 0.3 * (even < 0.01),
        "rising mean, falling median": np.where(late, np.where(even < 0.2, 1.0, 0.4), 0.5 + 0.001 * normal),
        "neighbours alike, correlation 0.9": rise + alike(rng, plays, 0.9, 0.05),
        "neighbours alike, correlation 0.98": rise + alike(rng, plays, 0.98, 0.05),
        "a wave of 0.04": 0.6 + 0.02 * np.sin(t / 48.0) + 0.01 * normal,
    }


def alarms(seeds: range) -> None:
    """Print how soon falls are noticed, and how often arms that do not fall are accused."""
    for before, shape in ((64, "flat"), (200, "flat"), (1000, "flat"), (1000, "rising")):
        print(f"\nplays until a fall after {before} {shape} plays is noticed\n")
        print("| noise | " + " | ".join(f"by {drop}" for drop in DROPS_BY) + " |\n|---|" + "---|" * len(DROPS_BY))
        for noise in NOISES:
            cells = []
            for drop in DROPS_BY:
                found = []
                for seed in seeds:
                    normal = np.random.default_rng(seed).normal(size=before + MOST)
                    plays = np.arange(before + MOST)
                    means = 0.8 - drop * (plays >= before)
                    means -= 0.7 * np.exp(-plays / 200) * (shape == "rising")
                    play = noticed(means + noise * normal)
                    found.append(MOST if play is None else play - before)
                middle = int(np.median(found))
                cells.append("never" if middle >= MOST else str(middle))
            print(f"| {noise} | " + " | ".join(cells) + " |", flush=True)
    accused: dict[str, int] = {}
    arms = 40 * len(seeds)
    for seed in range(seeds.start, seeds.start + arms):
        for kind, outcomes in steady(np.random.default_rng(seed), 2000).items():
            accused[kind] = accused.get(kind, 0) + (noticed(outcomes) is not None)
    print(f"\n| arms that do not fall | accused of {arms} |\n|---|---|")
    for kind, count in accused.items():
        print(f"| {kind} | {count} |")


def play(task: rb.Task, policy: rb.Policy, seed: int, *, reset: bool) -> tuple[float, float, int]:
    """Plays of fallen arms, reward per round and number of resets of one live run with one arm per round."""
    environment = make_environment(task, task.horizon, seed)
    policy.start(task.problem, task.horizon, np.random.default_rng([seed, 1]))
    tables: list[Floats] = [curve(np.arange(task.horizon)) for curve in task.curves]
    fallen = [table < np.maximum.accumulate(table) - FALLEN for table in tables]
    watch = Watch()
    plays, late, reward, resets = [0] * len(tables), 0, 0.0, 0
    for number in range(task.horizon):
        arms = policy.select()
        arm = int(arms[0])
        draw(environment, arms)
        reward += float(environment.means[0])
        late += bool(fallen[arm][plays[arm]])
        plays[arm] += 1
        outcome = float(environment.outcomes[0])
        policy.observe(arms, [outcome])
        if reset:
            watch.take(Entry(number, values={arm: outcome}), {}, len(tables), None)
            for gone in list(watch.fallen):
                origin = [-1 if other == gone else other for other in range(len(tables))]
                policy, resets = policy.rebase(task.problem, origin), resets + 1
                watch.restart(gone)
    return late, reward / task.horizon, resets


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how soon policies leave an arm that fell.")
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds")
    parser.add_argument("--first", type=int, default=1_000, help="the first seed")
    parser.add_argument("--alarms", action="store_true", help="how soon falls are noticed, and how often none is one")
    options = parser.parse_args()
    if options.alarms:
        alarms(range(options.first, options.first + options.seeds))
        return
    warnings.simplefilter("ignore", SigmaWarning)
    kinds = rb.policies.classes()
    rows = (("recommended", False), ("recommended", True), ("sw-cucb", False), ("glr-cucb", False))
    for names in (DROPS, STEADY):
        for name in names:
            task = rb.tasks.get(name)
            print(
                f"\n{name}\n\n| policy | plays of the fallen arm | reward a round | resets a run |\n|---|---|---|---|"
            )
            for policy, reset in rows:
                runs = []
                for seed in range(options.first, options.first + options.seeds):
                    made = rb.policies.recommended(task.problem, task.horizon)
                    made = made if policy == "recommended" else kinds[policy]()
                    runs.append(play(task, made, seed, reset=reset))
                late, reward, resets = np.mean(runs, axis=0)
                print(f"| {policy}{' + reset' * reset} | {late:.0f} | {reward:.3f} | {resets:.1f} |", flush=True)


if __name__ == "__main__":
    main()
