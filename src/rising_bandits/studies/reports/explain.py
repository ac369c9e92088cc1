"""Why a policy chose a super arm: the parts of the arms' indices, and the super arm that came second."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.policies.levels import RulePolicy, SuperArmPolicy
from rising_bandits.policies.policy import Policy
from rising_bandits.policies.rules.terms import AVERAGE, BONUS, IMPROVEMENT
from rising_bandits.studies.reports.explanation import Choice, Explanation, Reason, joined, text_of
from rising_bandits.studies.reports.runner_up import by_averages, reward_of, runner_up
from rising_bandits.studies.reports.units import total
from rising_bandits.studies.scales import Scale


def explain_choice(
    policy: Policy,
    arms: Ints,
    mask: Bools | None,
    scale: Scale,
    *,
    study: str,
    decision: int,
    notes: Sequence[str] = (),
) -> Explanation:
    """Explain why a policy chose these arms.

    Parameters
    ----------
    policy
        The policy in the state in which it chose.
    arms
        The chosen super arm.
    mask
        The arms that could not be used; None if all could.
    scale
        The scale of the study.
    study, decision
        The name of the study and the id of the decision.
    notes
        Remarks for the reader.

    Returns
    -------
    Explanation
        The explanation.
    """
    problem, indices = policy.problem, policy.indices()
    plays, wanted = getattr(policy, "plays", None), getattr(policy, "first_plays", 0)
    notes = list(notes)
    learns = isinstance(policy, RulePolicy)
    if isinstance(policy, SuperArmPolicy):
        sets = problem.oracle.super_arms()
        number = {members.tobytes(): place for place, members in enumerate(sets)}
        # A smaller super arm, of a matching without one of its workers, is not in the list.
        units = [number[arms.tobytes()]] if arms.tobytes() in number else []
        free = [place for place, members in enumerate(sets) if mask is None or not mask[members].any()]
        second = max((place for place in free if place not in units), key=lambda place: indices[place], default=None)
        other = None if second is None else sets[second]
        scores = (float(indices[units[0]]) if units else None, None if second is None else float(indices[second]))
        names = [joined(problem.labels_of(problem.ordered(members))) for members in sets]
        others, exact = ([] if second is None else [second]), True
    else:
        units = problem.ordered(arms).tolist()
        other, exact = runner_up(problem, indices, arms, mask) if learns else (None, True)
        scores = (reward_of(problem, indices, arms), None if other is None else reward_of(problem, indices, other))
        names = [text_of(label) for label in problem.labels]
        others = [] if other is None else problem.ordered(other).tolist()
    if not learns:
        notes.append("this policy does not learn; it decides by a fixed rule")
    elif not notes and plays is not None and any(plays[unit] < wanted for unit in units):
        often = "once" if wanted == 1 else f"{wanted} times"
        notes.append(f"every arm is played {often} first; this decision was made for that, not by the indices")
    if not problem.exact and learns:
        notes.append(f"the solver is not exact for the reward {problem.reward.name!r}")

    reason = _reasons(policy, scale, names, indices)

    def choice(members: Ints, chosen: Sequence[int], score: float | None) -> Choice:
        labels = problem.labels_of(problem.ordered(members))
        found = [reason(unit) for unit in chosen]
        recent = [known.recent_outcome for known in found]
        whole = None
        if not isinstance(policy, SuperArmPolicy) and None not in recent:
            whole = total(problem.reward, scale, [outcome for outcome in recent if outcome is not None])
        return Choice(labels, found, _finite(score) if learns else None, whole)

    first = choice(arms, units, scores[0])
    last = None if other is None else choice(other, others, scores[1])
    best, next_best = first.score, None if last is None else last.score
    margin = None if best is None or next_best is None else best - next_best
    if margin is not None and margin < -1e-9 * max(1.0, abs(best or 0.0)) and not notes:
        notes.append("the runner-up has the larger index: the decision was not the best by its indices")
    return Explanation(
        study,
        decision,
        policy.round,
        repr(policy),
        scale.unit,
        first,
        last,
        margin,
        exact,
        tuple(notes),
        scale,
        by_averages(policy, arms, mask),
    )


def reasons(policy: Policy, scale: Scale) -> list[Reason]:
    """What a policy knows about each of its units: base arms or super arms."""
    problem = policy.problem
    names = [text_of(label) for label in problem.labels]
    if isinstance(policy, SuperArmPolicy):
        names = [joined(problem.labels_of(problem.ordered(arms))) for arms in problem.oracle.super_arms()]
    reason = _reasons(policy, scale, names, policy.indices())
    return [reason(unit) for unit in range(len(names))]


def _reasons(policy: Policy, scale: Scale, names: Sequence[str], indices: Floats) -> Callable[[int], Reason]:
    """A function that makes the reason of a unit."""
    learns = isinstance(policy, RulePolicy)
    terms = policy.terms() if isinstance(policy, RulePolicy) else None
    plays = getattr(policy, "plays", None)

    def reason(unit: int) -> Reason:
        part = {name: _finite(values[unit]) for name, values in (terms or {}).items()}
        average, better = part.get(AVERAGE), part.get(IMPROVEMENT)
        predicted = None if average is None or better is None else scale.outcome(average + better)
        return Reason(
            label=names[unit],
            plays=None if plays is None else int(plays[unit]),
            recent_average=average,
            predicted_improvement=better,
            bonus=part.get(BONUS),
            index=_finite(indices[unit]) if learns else None,
            recent_outcome=None if average is None else scale.outcome(average),
            predicted_outcome=predicted,
        )

    return reason


def _finite(value: Any) -> float | None:
    """The number, or None if it is missing or not finite."""
    return None if value is None or not math.isfinite(value) else float(value)
