"""What the person who runs a study should know."""

from __future__ import annotations

from rising_bandits.serve import schemas
from rising_bandits.studies import Study
from rising_bandits.studies.log.noticed import change_of, doubt

_FALLS = 5
"""How many falls are told in full."""


def warnings(study: Study, brief: schemas.Study, expired: int) -> list[str]:
    """The warnings about a study, as sentences.

    Parameters
    ----------
    study
        The study.
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
    return said + _noticed(study)


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


def _noticed(study: Study) -> list[str]:
    """What `Study.contradiction` and `Study.fallen` find, in all outcomes so far."""
    with study._log.look() as (fold, _):
        watch = fold.watched()
        watch.count()
        doubted = doubt(fold, watch)
        falls = [change_of(fold, key, found) for key, found in watch.fallen.items() if key in fold.arms.arm_of]
    falls.sort(key=lambda each: each.chance)
    said = [] if doubted is None else [str(doubted)]
    said += [str(each) for each in falls[:_FALLS]]
    more = falls[_FALLS:]
    if more:
        said.append(f"{len(more)} more arms have fallen: {_named([str(each.label) for each in more])}")
    return said
