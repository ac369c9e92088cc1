"""What the person who runs a study should know."""

from __future__ import annotations

from rising_bandits.problems.base import Label
from rising_bandits.serve import schemas
from rising_bandits.serve.chronicle import Chronicle
from rising_bandits.studies import Study
from rising_bandits.studies.log.noticed import Change
from rising_bandits.theory.falls import fall
from rising_bandits.theory.noise import contradiction

_FALLS = 5
"""How many falls are told in full."""


def warnings(study: Study, found: Chronicle, brief: schemas.Study, expired: int) -> list[str]:
    """The warnings about a study, as sentences.

    Parameters
    ----------
    study
        The study.
    found
        Its chronicle.
    brief
        The study in short.
    expired
        How many decisions expired without a tell.
    """
    said = _horizon(study, brief)
    if expired:
        said.append(f"{expired} decision{'s' * (expired != 1)} expired without a final tell")
    if brief.unlisted and brief.expires is None:
        who = "1 decision" if brief.unlisted == 1 else f"{brief.unlisted} decisions"
        said.append(f"{who} before the newest {study.settings.reorder} without a final tell")
    if brief.retired:
        said.append(f"retired: {_named(brief.retired)}")
    said += _doubts(study, found)
    falls = _falls(study, found)
    said += [str(change) for change in falls[:_FALLS]]
    if len(falls) > _FALLS:
        said.append(
            f"{len(falls) - _FALLS} more arms have fallen: {_named([str(each.label) for each in falls[_FALLS:]])}"
        )
    return said


def _horizon(study: Study, brief: schemas.Study) -> list[str]:
    """What is to be said of a horizon that has passed. The first ask after it lets the study go on without one."""
    passed = study.settings.passed
    if brief.horizon is None and passed is not None:
        since = f"the study goes on without one (round {brief.round})"
        return [f"the horizon of {passed} rounds has passed, and {since}; set another one to plan for more rounds"]
    if brief.horizon is not None and brief.round > brief.horizon:
        return [f"the horizon of {brief.horizon} rounds has passed (round {brief.round})"]
    return []


def _named(names: list[str]) -> str:
    """Some names in a sentence."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _falls(study: Study, found: Chronicle) -> list[Change]:
    """What `Study.changes` finds, from the buckets of a chronicle instead of the whole log."""
    keys, unit = study.keys(), study.scale.unit
    changes = []
    for label, key in keys.items():
        curve = found.curves.get(key)
        if curve is None or len(curve.buckets) < 2:
            continue
        counts = [int(bucket[0]) for bucket in curve.buckets]
        values = [min(1.0, max(0.0, bucket[3] / bucket[0])) for bucket in curve.buckets]
        seen = fall(values, counts=counts, arms=len(keys))
        if seen is not None:
            before, after = curve.parted(seen.since)
            changes.append(Change(label, seen.since, seen.plays, before, after, seen.chance, unit))
    return sorted(changes, key=lambda change: change.chance)


def _doubts(study: Study, found: Chronicle) -> list[str]:
    """What `Study.contradiction` finds, from the steps of a chronicle instead of the whole log."""
    sigma = study.policy._told_sigma()
    if sigma is None:
        return []
    names: dict[int, Label] = {key: label for label, key in study.keys().items()}
    steps = {names[key]: each for key, each in found.steps.items() if key in names}
    seen = contradiction(steps, sigma, study.problem.n_arms)
    return [] if seen is None else [str(seen)]
