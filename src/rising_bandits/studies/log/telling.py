"""Checks of a tell, before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rising_bandits.errors import AlreadyToldError, ExpiredError, InputError
from rising_bandits.problems.base import Label
from rising_bandits.studies.log.entries import Entry
from rising_bandits.studies.log.events import outcomes_body
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.scales import Scale


def tell_body(
    fold: Fold,
    entry: Entry,
    outcomes: Mapping[Label, Any],
    scale: Scale,
    *,
    final: bool,
    late: float | None,
    moved: bool = False,
) -> dict[str, Any] | None:
    """The body of the event of a tell, or None if the same content was told before.

    Parameters
    ----------
    fold
        The state of the study.
    entry
        The decision.
    outcomes
        Outcomes by label, in the user's unit.
    scale
        How outcomes become values in [0, 1].
    final
        Whether this is the last tell of the decision.
    late
        The seconds after which the decision has expired, or None if it has not expired.
    moved
        Whether an earlier event of the same transaction may push the decision out of the reorder window.

    Raises
    ------
    AlreadyToldError
        Other content was told before.
    ExpiredError
        The decision has expired.
    InputError
        An outcome or a label is wrong.
    """
    raw, values = _outcomes(fold, entry, outcomes, scale)
    told: dict[int, float] = {}
    clash = False
    if entry.told:
        told = {key: value for part in entry.told for key, value in part.items()}
        # A repetition: of an earlier tell, or of all tells of a closed decision together.
        if (raw in entry.told and (entry.closed or not final)) or (entry.closed and raw == told):
            return None
        clash = any(key in told and told[key] != value for key, value in raw.items())
    if entry.closed or clash:
        shown = _said(fold, told) or "nothing was played"
        raise AlreadyToldError(
            f"decision {entry.decision} was told before with other content ({shown}); what was told first stands"
        )
    if late is not None:
        kept = "its arms do not count as played"
        if told:
            kept = f"what was told before that stands ({_said(fold, told)}), its other arms do not count as played"
        raise ExpiredError(f"decision {entry.decision} expired {late:g} s after it was asked for; {kept}")
    body = outcomes_body(raw, values)
    # A decision that is recorded with its outcomes is newer than the fold.
    if moved or (entry.decision not in fold.waiting and entry.decision <= fold.decisions):
        body |= _late_body(fold, entry, raw, told)
    return body


def _said(fold: Fold, told: dict[int, float]) -> str:
    """What was told before, for an error message."""
    return ", ".join(f"{fold.labels[key]!r}: {value:g}" for key, value in told.items())


def _late_body(fold: Fold, entry: Entry, raw: dict[int, float], told: dict[int, float]) -> dict[str, Any]:
    """The additional entries in the body of a late tell, which is learnt when it arrives.

    Nothing may count twice: neither the round (``again``), nor an outcome that an earlier piece told (``told``).
    Outcomes of arms that restarted or left the problem after the ask are not learnt (``past``). The remaining arms are
    ``of``.
    """
    again = entry.values is not None
    past = [key for key in entry.arms if fold.began.get(key, 0) > entry.seq or key not in fold.arms.arm_of]
    learnt = [key for key in (raw if again else entry.arms) if key not in past and not (again and key in told)]
    late: dict[str, Any] = {"of": learnt}
    if again:
        late["again"] = True
    if any(key in told for key in raw):
        late["told"] = [key for key in raw if key in told]
    if any(key in past for key in raw):
        late["past"] = [key for key in raw if key in past and key not in told]
    return late


def _outcomes(
    fold: Fold, entry: Entry, outcomes: Mapping[Label, Any], scale: Scale
) -> tuple[dict[int, float], dict[int, float]]:
    """The outcomes by key, checked: in the user's unit, and as values in [0, 1]."""
    if type(outcomes) is not dict and not isinstance(outcomes, Mapping):
        raise InputError(f"outcomes must be a mapping of labels to numbers, as in {{'a->b': 0.9}}, got {outcomes!r}")
    mine = dict(zip(map(fold.labels.__getitem__, entry.arms), entry.arms, strict=True))
    if outcomes.keys() <= mine.keys() and scale.unchanged(outcomes.values()):
        # What most tells are, without a detour.
        same = dict(zip(map(mine.__getitem__, outcomes), outcomes.values(), strict=True))
        return same, same
    raw: dict[int, float] = {}
    values: dict[int, float] = {}
    for label, outcome in outcomes.items():
        key = mine.get(label)
        if key is None:
            # The label may be another name of an arm, such as the ends of an edge, or of an arm outside the decision.
            key = fold.arms.keys[fold.arms.problem.index(label)]
            if key not in entry.arms:
                arms = ", ".join(repr(known) for known in mine)
                raise InputError(f"outcomes must be of the arms of decision {entry.decision} ({arms}), got {label!r}")
        if key in raw:
            raise InputError(f"outcomes must name each arm once, got {fold.labels[key]!r} twice")
        try:
            raw[key], values[key] = scale.value(outcome)
        except InputError:
            # Once more, for a message that names the arm.
            raw[key], values[key] = scale.value(outcome, f"outcome of {fold.labels[key]!r}")
    return raw, values
