"""Records for tables that need more than a data file: ``{results} tables:name`` on a page calls the function ``name``.

Each function returns a list of records, which the directive shows like those of a file (`docs/_ext/results.py`).
`tests/test_docs_tables.py` checks the numbers that the text around these tables relies on.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
Records = list[dict[str, Any]]


def antmaze_parts() -> Records:
    """What each change of the agent is worth: a row a change, three seeds side by side."""
    rows = json.loads((DATA / "antmaze-parts.json").read_text(encoding="utf-8"))["rows"]

    def side_by_side(change: str, field: str, form: str, missing: str) -> str:
        found = [row[field] for row in rows if row["change"] == change]
        return ", ".join(missing if value is None else format(value, form) for value in found)

    return [
        {
            "change": change,
            "walks from episode": side_by_side(change, "walks from", "", "never"),
            "success at the bottleneck": side_by_side(change, "1->4", ".0%", "–"),
            "torques at their limits": side_by_side(change, "torques", ".0%", "–"),
        }
        for change in dict.fromkeys(row["change"] for row in rows)
    ]


def antmaze_given_up() -> Records:
    """Indices of CRUCB with seed 10 in the easy maze, when it left the good paths for good."""
    import rising_bandits as rb
    from rising_bandits.antmaze import read_result

    crucb = read_result(DATA / "antmaze" / "easy-crucb-10.npz")
    paths = crucb.record.paths
    left = max(episode for episode, path in enumerate(paths, 1) if path != paths[-1])
    met = []
    for edge in range(len(crucb.maze.labels)):
        episodes, outcomes = crucb.record.outcomes(edge)
        met.append(outcomes[episodes <= left])
    indices = {}
    for upward in (False, True):
        policy = rb.CRUCB(epsilon=0.25, sigma=1e-4, upward=upward)
        policy.start(crucb.maze.problem)
        policy.absorb(0, [], rounds=left)
        for edge, outcomes in enumerate(met):
            policy.absorb(edge, outcomes)
        indices[upward] = policy.indices()
    return [
        {
            "edge": label.replace("->", "→"),
            "episode": left,
            "successes": int((met[edge] > 0).sum()),
            "tries": len(met[edge]),
            "index": float(indices[False][edge]),
            "upward": float(indices[True][edge]),
        }
        for edge, label in enumerate(crucb.maze.labels)
    ]


def antmaze_borrowed() -> Records:
    """How many edges of the recorded mazes borrow the curve of all edges together."""
    from rising_bandits.antmaze import COMPLEX, EASY
    from rising_bandits.problems import recorded

    made = []
    for maze in (EASY, COMPLEX):
        borrowed = [edge["borrowed"] for edge in recorded.read(f"antmaze-{maze.name}")["edges"]]
        for kind in ("passable", "reachable"):
            among = [taken for taken, yes in zip(borrowed, getattr(maze, kind), strict=True) if yes]
            made.append({"maze": maze.name, "edges that are": kind, "number": len(among), "borrowed": sum(among)})
    return made


def proof_of_theorem_5() -> Records:
    """What two steps of the proof claim, and what is true, for several exponents."""
    from dataclasses import asdict

    from rising_bandits.theory.proofs import theorem_5

    return [{"c": c, **asdict(theorem_5(100_000, c))} for c in (1.2, 1.4, 1.6, 1.8)]


def concentration() -> Records:
    """How often some estimate is further from its mean than its bonus, for two bonuses."""
    from rising_bandits.theory import checks

    paper, program = checks.concentration(constant=30.0), checks.concentration(constant=4.0)
    return [
        {
            "round": int(program.rounds[place]),
            "allowed": float(program.allowed[place]),
            "paper": float(paper.frequency[place]),
            "program": float(program.frequency[place]),
        }
        for place in (0, 6, 12, 18, 23)
    ]


def _lost_everywhere() -> Records:
    """What every policy loses on every world of ``bench/decisions.py``."""
    return list(json.loads((DATA / "decisions.json").read_text(encoding="utf-8"))["worlds"])


def _lost(*worlds: str, by: str | None = None) -> Records:
    """What every policy loses on some worlds. The order of policies is that of the world ``by``, or of the first."""
    rows = _lost_everywhere()
    first = {row["policy"]: row["lost"] for row in rows if row["world"] == (by or worlds[0])}
    order = sorted(dict.fromkeys(row["policy"] for row in rows), key=lambda policy: first.get(policy, math.inf))
    found = {(row["world"], row["policy"]): row["lost"] for row in rows}
    return [
        {"policy": policy, "world": world, "lost": found.get((world, policy))}
        for policy in order
        for world in worlds
        if any((one, policy) in found for one in worlds)
    ]


def decisions_lcdb() -> Records:
    """What policies lose on real learning curves."""
    return _lost("lcdb, 200 rounds", "lcdb, 1000 rounds", "lcdb, 5000 rounds", by="lcdb, 1000 rounds")


def decisions_recorded() -> Records:
    """What policies lose on worlds that replay recorded runs."""
    return _lost("live-match", "antmaze-easy", "antmaze-complex")


def decisions_noisy() -> Records:
    """What policies lose on worlds with outcomes of 0 and 1."""
    return _lost("imdb-like@5000", "imdb-like@50000", "tool-chain", "tool-chain@30000")


def decisions_falls() -> Records:
    """What policies lose where arms fall, and on two flat arms."""
    return _lost("drop-once", "drop-slowly", "drop-rising", "drop-chain", "two-arms")


def variants_of_foresight() -> Records:
    """What variants of the recommended policy lose, world by world."""
    rows = json.loads((DATA / "foresight.json").read_text(encoding="utf-8"))["worlds"]
    return [{**row, "policy": _in_words(row["policy"])} for row in rows if not row["world"].startswith("drop-")]


def _in_words(variant: str) -> str:
    """A variant as a heading: ``budget=0.0`` becomes ``budget 0``."""
    return ", ".join(part.replace("=", " ").removesuffix(".0") for part in variant.split(", "))


def _targets(file: str) -> Records:
    return list(json.loads((DATA / file).read_text(encoding="utf-8"))["targets"])


def fractions_of_crucb() -> Records:
    """The regret of the recommended policy on the paper's tasks, as a fraction of CRUCB's."""
    return [
        {"task": target["text"].partition(":")[0], "fraction": f"1 / {1 / target['value']:.0f}"}
        for target in _targets("tasks.json")
    ]


def beside_best_rivals() -> Records:
    """The recommended policy beside the best rival, for each family of random curves and at each horizon alone."""
    return _beside("random.json")


def beside_best_rivals_5000() -> Records:
    """The same over 5 000 rounds, with more seeds."""
    return [row for row in _beside("random-5000.json") if "rounds" in row["where"]]


def _beside(file: str) -> Records:
    """The share of the recommended policy over that of the best rival, from the targets of a file."""
    made = []
    for target in _targets(file):
        where, _, words = target["text"].partition(":")
        made.append(
            {
                "where": where,
                "rival": words.rpartition("(")[2].rstrip(")"),
                "ratio": f"{target['value']:.2f}",
                "interval": "–" if target["low"] is None else f"{target['low']:.2f} to {target['high']:.2f}",
                "wanted": f"at most {target['limit']:g}",
            }
        )
    return made
