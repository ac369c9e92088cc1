"""Replays: the decisions of a log made again by another policy.

An outcome depends on how often its arm was played before. So a log does not say in general what would have happened
under other decisions. Two comparisons are free of this bias:

- *agreement*: with exactly the knowledge that the study had at each decision, does the other policy choose the same
  super arm?
- *own way*: the other policy plays on its own. Its n-th play of an arm gets the n-th outcome of that arm in the log.
  This is exact if an arm changes only by its own plays (rested arms). It ends when the log has no further outcome of
  an arm.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np

from rising_bandits._text import shown_text
from rising_bandits.errors import InputError
from rising_bandits.policies.policy import Policy
from rising_bandits.studies.log.arms import Arms
from rising_bandits.studies.log.deciding import Decider
from rising_bandits.studies.log.events import Event
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.learned import Learned
from rising_bandits.studies.log.log import Log
from rising_bandits.studies.reports.history import in_order


@dataclass(frozen=True)
class Replay:
    """The result of `Study.replay`. Print it to read it; see `rising_bandits.studies.reports.replay` for the terms."""

    policy: str
    """The other policy with its parameters."""
    decisions: int
    """How many decisions were compared."""
    agreed: int
    """On how many of them both chose the same super arm."""
    rounds: int
    """How many rounds the other policy played its own way before an outcome was missing from the log."""
    logged_rounds: int
    """How many rounds the log has."""
    reward: float | None
    """The reward per round of the other policy, its own way, from values in [0, 1]; None without a round."""
    logged_reward: float | None
    """The reward per round of the log, over as many of its first rounds; None without a round."""
    same_plays: int
    """How many outcomes both saw in the same round and at the same number of plays of the arm."""
    outcomes: int
    """How many outcomes the log has."""
    partial: int
    """How many logged decisions have arms that were not played."""
    stopped_by: str | None
    """The arm whose next outcome is missing from the log; None if all rounds were played."""

    @property
    def agreement(self) -> float:
        """The share of decisions on which both agree; NaN if none was compared."""
        return self.agreed / self.decisions if self.decisions else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data that JSON can hold."""
        return {**asdict(self), "agreement": self.agreement if self.decisions else None}

    def __str__(self) -> str:
        same = f"{'all' if self.same_plays == self.outcomes else f'only {self.same_plays} of'} {self.outcomes}"
        stop = f"; then the log has no further play of {self.stopped_by}" if self.stopped_by else ""
        lines = [
            f"{self.policy} on {self.decisions} logged decisions",
            f"agreement: {self.agreed} of {self.decisions}, each judged with what was known when it was asked for",
            f"its own way: {self.rounds} of {self.logged_rounds} rounds could be played{stop}",
        ]
        if self.reward is not None and self.logged_reward is not None:
            earned = f"{self.reward:.4g}, and {self.logged_reward:.4g} in the log"
            lines.append(f"reward per round over these {self.rounds}: {earned}")
        lines += [
            "can be concluded: where both agree nothing would have changed at that moment; over the rounds that it "
            "played its own way, the reward is what it would have earned, if an arm changes only by its own plays",
            f"cannot be concluded: what comes after these {self.rounds} rounds, since nobody has seen those plays; nor "
            "anything from logged outcomes of arms that both chose, because an arm that was played less often before "
            f"would have been worse ({same} logged outcomes came at the same number of plays in both)",
        ]
        if self.partial:
            lines.append(
                f"note: {self.partial} logged decisions have arms that were not played; its own way plays all arms"
            )
        return shown_text("\n".join(lines), lines=True)


def replay(log: Log, policy: Policy) -> Replay:
    """Make the decisions of a log again with another policy, see `Study.replay`."""
    if not isinstance(cast(object, policy), Policy):
        raise InputError(f"policy must be a Policy such as SWCUCB(window=100), got {policy!r}")
    with log.look() as (now, reader):
        first, *events = reader.later(log.number, 0)
    moved = next((event.kind for event in events if event.kind in ("problem", "reset", "import")), None)
    if moved is not None:
        what = {"problem": "its problem changed", "reset": "an arm was reset", "import": "plays were imported"}[moved]
        raise InputError(f"a log can be replayed only if its arms stayed the same, but here {what}")
    problem = log.resolve(first.body)
    shadow = type(policy)(**policy.parameters())
    shadow.start(problem, now.settings.horizon, log.settings.rng(1)())
    shadow._give_up(first.body["unreachable"])
    own = shadow.copy()
    compared, agreed = _agreement(log, first, events, shadow, now)
    return Replay(repr(policy), compared, agreed, **_own_way(log, first, events, own, now))


def _agreement(log: Log, first: Event, events: list[Event], policy: Policy, now: Fold) -> tuple[int, int]:
    """Count the decisions compared, and those on which a policy with the knowledge of the log chooses the same."""
    settings = log.settings
    fold = Fold(Learned(policy, Arms(policy.problem, first.body)), policy.problem.labels, log.resolve, settings)
    fold.freeze(now.rescaled)
    compared = agreed = 0
    for event in events:
        if event.kind == "ask" and event.decision is not None:
            if "by" in event.body:
                # A rule of the user's decided, so there is nothing to agree with.
                fold.apply(event)
                continue
            asked = event.body
            decider = Decider(fold, settings, event.at, asked.get("off", ()), asked.get("among"))
            arms, _ = decider.choose(event.decision)
            compared += 1
            agreed += set(arms.tolist()) == {fold.arms.arm_of[key] for key in event.body["arms"]}
        elif event.kind == "set":
            settings = settings.changed(event.body)
            if "least" in event.body:
                fold.used = {key: fold.used.get(key, fold.own) for key, _ in settings.least}
        fold.apply(event)
    return compared, agreed


def _blocked(events: list[Event]) -> dict[int, list[int]]:
    """The arms that could not be used, by decision. Without a change of the problem, keys are arm numbers."""
    retired: set[int] = set()
    blocked = {}
    for event in events:
        if event.kind == "retire":
            retired.update(event.body["arms"])
        elif event.kind == "restore":
            retired.difference_update(event.body["arms"])
        elif event.kind == "ask" and event.decision is not None:
            blocked[event.decision] = sorted(retired.union(event.body.get("off", ())))
    return blocked


def _own_way(log: Log, first: Event, events: list[Event], policy: Policy, now: Fold) -> dict[str, Any]:
    """Let a policy play its own way, one round for each round of the log; return entries of `Replay`."""
    problem, blocked = policy.problem, _blocked(events)
    among = {event.decision: event.body["among"] for event in events if event.kind == "ask" and "among" in event.body}
    order = list(in_order(first, events, log.resolve, now))
    tapes: list[list[float]] = [[] for _ in range(problem.n_arms)]
    for entry in order:
        for arm, value in (entry.values or {}).items():
            tapes[arm].append(value)
    plays, logged = Counter[int](), Counter[int]()
    earned, there = [], []
    same = 0
    stopped: str | None = None
    learned = Learned(policy, Arms(problem, first.body))
    for entry in (entry for entry in order if entry.rounds):
        if entry.control is not None:
            learned.take(entry, log.resolve)
            continue
        number = entry.decision or entry.late
        mask = np.zeros(problem.n_arms, dtype=np.bool_)
        mask[blocked[number]] = True
        policy.rng = log.settings.rng(number)
        arms = (policy.among(among[number]) if number in among else policy).select(mask)
        short = [arm for arm in arms.tolist() if plays[arm] >= len(tapes[arm])]
        if short:
            stopped = str(problem.labels[short[0]])
            break
        told = entry.values or {}
        same += sum(arm in told and plays[arm] == logged[arm] for arm in arms.tolist())
        outcomes = np.array([tapes[arm][plays[arm]] for arm in arms.tolist()])
        policy._take_in(arms, outcomes, arms.size)
        earned.append(problem.reward.combine(outcomes))
        there.append(problem.reward.combine(np.array([told.get(arm, 0.0) for arm in entry.arms])))
        plays.update(arms.tolist())
        logged.update(list(told))
    return {
        "rounds": len(earned),
        "logged_rounds": sum(entry.rounds for entry in order if entry.control is None),
        "reward": float(np.mean(earned)) if earned else None,
        "logged_reward": float(np.mean(there)) if there else None,
        "same_plays": same,
        "outcomes": sum(map(len, tapes)),
        "partial": sum(len(entry.values or {}) < len(entry.arms) for entry in order),
        "stopped_by": stopped,
    }
