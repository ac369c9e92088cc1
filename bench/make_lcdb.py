"""Make src/rising_bandits/problems/data/lcdb.npz, the learning curves behind the tasks lcdb-<id>.

    pip download --no-deps --no-binary :all: lcdb==0.1.0
    python bench/make_lcdb.py lcdb-0.1.0.tar.gz

The source is LCDB, the Learning Curve Database of Mohr, Viering, Loog and van Rijn (ECML PKDD 2022), MIT licence, as
the package ``lcdb`` on PyPI. It trained 20 scikit-learn classifiers with their default settings on 248 OpenML data
sets, at training sizes 16, 23, 32, 45, ... up to 90% of the data, on about 25 splits each.

What is kept for a data set, a learner and a training size: the mean validation accuracy over the splits, its standard
deviation over the splits, the mean training time in seconds and the number of splits. A learner that never finished at
the largest size of its data set has no whole curve and is left out. Nothing is smoothed, and curves that fall are kept.
"""

from __future__ import annotations

import argparse
import tarfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

TARGET = Path(__file__).parents[1] / "src" / "rising_bandits" / "problems" / "data" / "lcdb.npz"
SCALE = 10_000
"""Accuracies are stored as whole numbers of this fraction; LCDB itself gives four decimal places."""
KEY = ["openmlid", "learner", "size_train"]


def summary(table: IO[bytes]) -> pd.DataFrame:
    """One row per data set, learner and training size, without learners that stopped early."""
    rows = pd.read_csv(table, usecols=[*KEY, "traintime", "score_valid"])
    rows["learner"] = [str(name).rpartition(".")[2] for name in rows["learner"]]
    groups = rows.groupby(KEY, sort=True)
    found = groups.agg(mean=("score_valid", "mean"), splits=("score_valid", "size"), seconds=("traintime", "mean"))
    found["spread"] = groups["score_valid"].std(ddof=1).fillna(0.0)
    found = found.reset_index()
    reached = found.groupby(["openmlid", "learner"])["size_train"].transform("max")
    largest = found.groupby("openmlid")["size_train"].transform("max")
    return found[reached == largest]


def arrays(found: pd.DataFrame, names: dict[int, str]) -> dict[str, Any]:
    """The arrays of the data file; rising_bandits.problems.lcdb says what each holds."""
    learners = sorted(set(found["learner"]))
    number = {name: place for place, name in enumerate(learners)}
    curves = found.groupby(["openmlid", "learner"], sort=True)
    keys = [(int(data), str(learner)) for data, learner in curves.groups]
    return {
        "source": np.array("LCDB, package lcdb 0.1.0 on PyPI, MIT licence, Copyright (c) 2021 Felix Mohr"),
        "learners": np.array(learners),
        "dataset_ids": np.array(sorted(names), dtype=np.int32),
        "dataset_names": np.array([names[key] for key in sorted(names)]),
        "curve_dataset": np.array([data for data, _ in keys], dtype=np.int32),
        "curve_learner": np.array([number[learner] for _, learner in keys], dtype=np.uint8),
        "curve_first": np.concatenate([[0], np.cumsum(curves.size().to_numpy())]).astype(np.int32),
        "size": found["size_train"].to_numpy(dtype=np.int32),
        "mean": np.round(found["mean"] * SCALE).to_numpy(dtype=np.uint16),
        "spread": np.round(found["spread"] * SCALE).to_numpy(dtype=np.uint16),
        "seconds": found["seconds"].to_numpy(dtype=np.float16),
        "splits": np.minimum(found["splits"], 255).to_numpy(dtype=np.uint8),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the data file of the tasks lcdb-<id>.")
    parser.add_argument("archive", type=Path, help="the source package, lcdb-0.1.0.tar.gz")
    parser.add_argument("--out", type=Path, default=TARGET, help="the file to write")
    options = parser.parse_args()
    with tarfile.open(options.archive) as archive:
        parts = {Path(name).name: name for name in archive.getnames()}
        curves, about = (archive.extractfile(parts[name]) for name in ("database-accuracy.csv", "datasets.csv"))
        if curves is None or about is None:
            raise SystemExit(f"{options.archive} is not the source package of lcdb")
        found = summary(curves)
        known = pd.read_csv(about, usecols=["openmlid", "Name"])
    titles = dict(zip(known["openmlid"], known["Name"], strict=True))
    names = {int(key): str(titles.get(key, "")) for key in set(found["openmlid"])}
    np.savez_compressed(options.out, **arrays(found, names))
    print(f"{options.out}: {len(names)} data sets, {len(found):,} points, {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
