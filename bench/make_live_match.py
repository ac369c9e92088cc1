"""Make src/rising_bandits/problems/data/live-match.json: real online training, recorded for the task live-match.

    pip install scikit-learn river
    python bench/make_live_match.py [--runs 3]

Eight models learn five streams online, each pair on its own. The streams come inside the wheels of scikit-learn and
river, so nothing is downloaded. One play of a pair trains the model on the next EXAMPLES examples of the stream. Its
outcome is the accuracy on BATCH held-out examples, drawn at random.

What is kept for a pair and some numbers of plays: the accuracy on all held-out examples, as a mean over the runs, and
the standard deviation of an outcome, which comes from the runs and from the draw of the batch. Every run has its own
order of the stream and its own seed. A stream that ends begins again, in another order.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

TARGET = Path(__file__).parents[1] / "src" / "rising_bandits" / "problems" / "data" / "live-match.json"
EXAMPLES = 8
BATCH = 25
HELD_OUT = 250
PLAYS = 600
POINTS = 28

Array = np.ndarray[Any, Any]
Data = tuple[Array, Array]


def streams() -> dict[str, Data]:
    """Features and classes of each stream."""
    datasets: Any = import_module("river.datasets")
    from sklearn.datasets import load_breast_cancer, load_digits

    found: dict[str, Data] = {}
    for name, load in (("digits", load_digits), ("breast-cancer", load_breast_cancer)):
        data = load()
        found[name] = np.asarray(data.data, dtype=np.float64), np.asarray(data.target, dtype=np.int64)
    for name, stream in (
        ("phishing", datasets.Phishing()),
        ("bananas", datasets.Bananas()),
        ("segments", datasets.ImageSegments()),
    ):
        rows = list(stream)
        keys = sorted(rows[0][0])
        classes = {label: place for place, label in enumerate(sorted({str(y) for _, y in rows}))}
        features = np.array([[float(x[key]) for key in keys] for x, _ in rows])
        found[name] = features, np.array([classes[str(y)] for _, y in rows])
    return found


class Batches:
    """A scikit-learn model behind a scaler, both learning online."""

    def __init__(self, model: Any, classes: Array) -> None:
        from sklearn.preprocessing import StandardScaler

        self.model, self.scaler, self.classes = model, StandardScaler(), classes

    def learn(self, features: Array, classes: Array) -> None:
        self.scaler.partial_fit(features)
        self.model.partial_fit(self.scaler.transform(features), classes, classes=self.classes)

    def right(self, features: Array, classes: Array) -> Array:
        return np.asarray(self.model.predict(self.scaler.transform(features)) == classes)


class OneByOne:
    """A river model behind a scaler, both learning online."""

    def __init__(self, model: Any) -> None:
        from river.preprocessing import StandardScaler

        self.model = StandardScaler() | model

    def learn(self, features: Array, classes: Array) -> None:
        for row, label in zip(features, classes, strict=True):
            self.model.learn_one(dict(enumerate(row.tolist())), int(label))

    def right(self, features: Array, classes: Array) -> Array:
        told = (self.model.predict_one(dict(enumerate(row.tolist()))) for row in features)
        return np.array([answer == label for answer, label in zip(told, classes.tolist(), strict=True)])


def models() -> dict[str, Callable[[Array, int], Batches | OneByOne]]:
    """How to make each model for some classes and a seed."""
    from river import linear_model, neighbors, tree
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPClassifier

    def mlp(units: int, rate: float) -> Callable[[Array, int], Batches]:
        return lambda classes, seed: Batches(
            MLPClassifier((units,), learning_rate_init=rate, random_state=seed), classes
        )

    return {
        "sgd": lambda classes, seed: Batches(SGDClassifier(loss="log_loss", random_state=seed), classes),
        "perceptron": lambda classes, seed: Batches(SGDClassifier(loss="perceptron", random_state=seed), classes),
        "bayes": lambda classes, seed: Batches(GaussianNB(), classes),
        "mlp-small": mlp(16, 0.003),
        "mlp-slow": mlp(128, 0.0003),
        "softmax": lambda classes, seed: OneByOne(linear_model.SoftmaxRegression()),
        "hoeffding-tree": lambda classes, seed: OneByOne(tree.HoeffdingTreeClassifier(grace_period=50)),
        "neighbours": lambda classes, seed: OneByOne(
            neighbors.KNNClassifier(n_neighbors=5, engine=neighbors.LazySearch(window_size=300))
        ),
    }


def points() -> list[int]:
    """The numbers of previous plays at which outcomes are measured; 0 is the first play, after EXAMPLES examples."""
    return sorted({round(place) for place in np.geomspace(1, PLAYS, POINTS)} | {1, 2, 3, PLAYS})


def record(data: Data, make: Callable[[Array, int], Batches | OneByOne], runs: int) -> dict[str, list[float]]:
    """The mean and the deviation of an outcome at each of `points`."""
    features, classes = data
    hits = np.zeros((runs, len(points())))
    for run in range(runs):
        rng = np.random.default_rng([run, classes.size])
        order = rng.permutation(classes.size)
        held, train = order[:HELD_OUT], order[HELD_OUT:]
        if classes.size < 3 * HELD_OUT:
            held, train = order[: classes.size // 3], order[classes.size // 3 :]
        model = make(np.unique(classes), run)
        queue = train.copy()
        at = queue.size
        column = 0
        for play in range(1, PLAYS + 1):
            if at + EXAMPLES > queue.size:
                rng.shuffle(queue)
                at = 0
            rows = queue[at : at + EXAMPLES]
            at += EXAMPLES
            model.learn(features[rows], classes[rows])
            if play == points()[column]:
                hits[run, column] = model.right(features[held], classes[held]).mean()
                column += 1
    mean = hits.mean(axis=0)
    # The variance of a batch around its run, and that of the runs.
    inside = (hits * (1.0 - hits)).mean(axis=0) / BATCH
    spread = np.sqrt(inside + (hits.var(axis=0, ddof=1) if runs > 1 else 0.0))
    return {"mean": np.round(mean, 4).tolist(), "spread": np.round(spread, 4).tolist()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Record the online training behind the task live-match.")
    parser.add_argument("--runs", type=int, default=3, help="how many runs of each pair")
    parser.add_argument("--out", type=Path, default=TARGET, help="the file to write")
    options = parser.parse_args()
    pairs = []
    for stream, data in streams().items():
        for model, make in models().items():
            began = time.perf_counter()
            found = record(data, make, options.runs)
            pairs.append({"stream": stream, "model": model, **found})
            seconds = time.perf_counter() - began
            print(
                f"{stream:14s} {model:15s} {found['mean'][0]:.3f} -> {found['mean'][-1]:.3f}  {seconds:.0f} s",
                flush=True,
            )
    content = {
        "format": 1,
        "made": {
            "by": "bench/make_live_match.py",
            "runs": options.runs,
            "packages": {name: version(name) for name in ("scikit-learn", "river")},
            "examples": EXAMPLES,
            "batch": BATCH,
            "licence": "the streams come with scikit-learn and river, both BSD-3-Clause",
        },
        "plays": [play - 1 for play in points()],
        "pairs": pairs,
    }
    text = json.dumps(content, indent=None, separators=(", ", ": "))
    options.out.write_text(text.replace('{"stream"', '\n{"stream"') + "\n", encoding="utf-8")
    print(f"{options.out}: {len(pairs)} pairs, {math.ceil(options.out.stat().st_size / 1024)} KB")


if __name__ == "__main__":
    main()
