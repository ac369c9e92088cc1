"""``rising study show``: what a study has learnt, and why it made a decision."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rising_bandits.cli.output import out, print_json, print_table
from rising_bandits.cli.studies import DEFAULT, JsonOption, StorageOption, StudyName, open_study


def show(
    name: StudyName,
    decision: Annotated[
        int | None, typer.Option(help="The number of a decision to explain; by default the arms are shown.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="A file to draw a figure to, as PNG and SVG; by default no figure.")
    ] = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Show what a study has learnt about its arms, or why it made a decision.

    Prints a table. Writes nothing, except a figure with --plot.

    Example: rising study show team --decision 1
    """
    from rising_bandits.studies.reports.explanation import HEADINGS

    study = open_study(name, storage)
    written: list[str] = []
    if decision is not None:
        found = study.explain(decision)
        if plot is not None:
            from rising_bandits.plots.studies import plot_explanation

            written = [str(path) for path in plot_explanation(found, plot)]
        if as_json:
            print_json({**found.to_dict(), "figures": written})
        else:
            out.print(str(found), soft_wrap=True)
    else:
        if plot is not None:
            from rising_bandits.plots.studies import plot_study

            written = [str(path) for path in plot_study(study, plot)]
        known = study.arms()
        facts: dict[str, Any] = {
            "study": name,
            "policy": repr(study.policy),
            "problem": repr(study.problem),
            "round": study.policy.round,
            "open": [waiting.id for waiting in study.open_decisions()],
            "unlisted": study.unlisted,
            "retired": [str(label) for label in study.retired],
        }
        settings = study.settings
        names = {key: str(label) for label, key in study.keys().items()}
        facts |= {
            "scale": settings.scale.spec(),
            "horizon": settings.horizon,
            "horizon_passed": settings.passed,
            "expires": settings.expires,
            "spread": settings.spread,
            "falls": settings.falls,
            "least": {names.get(key, str(key)): share for key, share in settings.least},
            "shares": dict(settings.shares),
            "clipped": {str(label): count for label, count in study.clipped().items()},
        }
        noticed, doubt = study.fallen(), study.contradiction()
        facts["fallen"] = [{**change.__dict__, "label": str(change.label)} for change in noticed]
        facts["contradiction"] = None if doubt is None else str(doubt)
        if as_json:
            print_json({**facts, "arms": [dict(arm.__dict__) for arm in known], "figures": written})
        else:
            print_table(HEADINGS, [arm.cells(study.scale) for arm in known], 5)
            out.print(f"{facts['problem']}, {facts['policy']}", soft_wrap=True)
            waiting = f"{len(facts['open'])} open decision{'' if len(facts['open']) == 1 else 's'}"
            # Some older decisions were never told in full; it is not known which of them are still open.
            waiting = f"at least {waiting}" if facts["unlisted"] else waiting
            retired = f", retired: {', '.join(facts['retired'])}" if facts["retired"] else ""
            out.print(f"round {facts['round']}, {waiting}{retired}", soft_wrap=True)
            horizon = "no horizon" if settings.horizon is None else f"horizon {settings.horizon}"
            expiry = "decisions never expire"
            if settings.expires is not None:
                expiry = f"decisions expire after {settings.expires:g} s"
            count = sum(facts["clipped"].values())
            clipped = f", {count} outcome{'' if count == 1 else 's'} clipped" if count else ""
            out.print(f"{settings.scale!r}, {horizon}, {expiry}{clipped}", soft_wrap=True)
            for said in [*noticed, *([] if doubt is None else [doubt])]:
                out.print(f"note: {said}", soft_wrap=True)
    if not as_json:
        for path in written:
            out.print(f"figure: {path}", soft_wrap=True)
