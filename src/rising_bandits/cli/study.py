"""``rising study``: decisions from the shell, kept in a database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rising_bandits.cli.output import console, out, print_json, print_table
from rising_bandits.cli.problems import favours_long_paths, make_problem
from rising_bandits.errors import InputError
from rising_bandits.experiments.plan import make_policy, parse_call, parse_policy

if TYPE_CHECKING:
    from rising_bandits.studies import Decision, Scale, Study

app = typer.Typer(no_args_is_help=True, help="Decisions that are kept on disk: create, ask, tell, show, export.")
_Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
_Name = Annotated[str, typer.Argument(help="The name of the study.")]
_Storage = Annotated[
    str,
    typer.Option(
        help="A SQLite file, as in sqlite:///routes.db, or postgresql://user@host/database.",
        envvar="RISING_STORAGE",
    ),
]
_DEFAULT = "sqlite:///studies.db"


def _scale(text: str | None, given: dict[str, Any]) -> Scale:
    """The scale that options describe: a text, or a half, or a range; ``given`` are those that were set."""
    from rising_bandits.studies.scales import scale_by_name

    if text is not None:
        name, parameters = parse_call(text, "scale must look like reciprocal(best=2) or 'log(low=1, high=1000)'")
        # A unit beside it is fine, but not a second one.
        extra, leading = set(given) - ({"unit"} - set(parameters)), "--scale"
        parameters = {**given, **parameters}
    elif "half" in given:
        # Lower is better there anyway.
        extra, leading = set(given) & {"low", "high"}, "--half"
        name, parameters = "decay", {part: given[part] for part in ("half", "unit") if part in given}
    else:
        name, parameters, extra, leading = "range", given, set(), ""
    if extra:
        options = " and ".join(f"--{option.replace('_', '-')}" for option in given if option in extra)
        raise InputError(f"{leading} says how outcomes are scaled; leave out {options}")
    return scale_by_name(name, parameters)


@app.command()
def create(
    name: _Name,
    policy: Annotated[
        str, typer.Option(help="A policy, as in 'crucb(sigma=0.05)'.")
    ] = "crucb(sigma=0.05, resolution=32)",
    edges: Annotated[Path | None, typer.Option(help="A CSV file of edges: node,node or node,node,name.")] = None,
    source: Annotated[str | None, typer.Option(help="Where paths begin; without it, spanning trees.")] = None,
    target: Annotated[str | None, typer.Option(help="Where paths end.")] = None,
    workers: Annotated[str | None, typer.Option(help="Workers to be matched, as in ann,bob.")] = None,
    jobs: Annotated[str | None, typer.Option(help="Jobs for them, as in cats,cars,maps.")] = None,
    arms: Annotated[str | None, typer.Option(help="Arms of which --k are chosen, as in ann,bob,cy.")] = None,
    k: Annotated[int | None, typer.Option("--k", help="How many of --arms are chosen.")] = None,
    problem: Annotated[Path | None, typer.Option(help="A JSON file with what problem.spec() returns.")] = None,
    reward: Annotated[str | None, typer.Option(help="sum, max, harmonic or product; by default what fits.")] = None,
    scale: Annotated[
        str | None, typer.Option(help="How outcomes are scaled, as in 'reciprocal(best=2)'; or by the options below.")
    ] = None,
    low: Annotated[float | None, typer.Option(help="The lowest outcome, 0 by default.")] = None,
    high: Annotated[float | None, typer.Option(help="The highest outcome, 1 by default.")] = None,
    lower_is_better: Annotated[bool, typer.Option("--lower-is-better", help="Low outcomes are good.")] = False,
    half: Annotated[
        float | None, typer.Option(help="Outcomes from 0 up without end, lower is better; this one counts one half.")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="The unit of outcomes, as in ms.")] = None,
    expires: Annotated[
        float | None, typer.Option(help="Seconds after which a decision cannot be told any more.")
    ] = None,
    horizon: Annotated[
        int | None, typer.Option(help="Rounds that are planned, for policies that want to know.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of random decisions.")] = None,
    storage: _Storage = _DEFAULT,
    as_json: _Json = False,
) -> None:
    """A new study."""
    from rising_bandits import studies

    described = make_problem(
        problem=problem,
        edges=edges,
        source=source,
        target=target,
        workers=workers,
        jobs=jobs,
        arms=arms,
        k=k,
        reward=reward,
    )
    options = {"low": low, "high": high, "lower_is_better": lower_is_better or None, "half": half, "unit": unit}
    study = studies.create(
        name,
        described,
        make_policy(*parse_policy(policy)),
        storage=storage,
        scale=_scale(scale, {option: value for option, value in options.items() if value is not None}),
        expires=expires,
        horizon=horizon,
        seed=seed,
    )
    if as_json:
        print_json({"study": name, "storage": storage, "arms": [str(label) for label in study.problem.labels]})
        return
    out.print(f"study {name} in {storage}: {study.problem!r}, {study.policy!r}", soft_wrap=True)
    if study.scale.lower_is_better and favours_long_paths(described):
        # Beside the answer, not in it: programs read that.
        console(stderr=True, soft_wrap=True).print(
            "note: these paths have different numbers of edges, and a sum of values favours those with many; to have "
            "the least total instead, add --reward harmonic and --scale 'reciprocal(best=...)'"
        )


@app.command()
def ask(
    name: _Name,
    n: Annotated[int | None, typer.Option("--n", help="How many decisions.")] = None,
    unavailable: Annotated[list[str] | None, typer.Option(help="An arm that may not be used now.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Also say why.")] = False,
    storage: _Storage = _DEFAULT,
    as_json: _Json = False,
) -> None:
    """The next decision, or several."""
    study = _open(name, storage)
    decisions = study.ask(1 if n is None else n, unavailable=[_label(study, text) for text in unavailable or []])
    if as_json:
        print_json({"decisions": [_as_dict(decision, explain) for decision in decisions]})
        return
    for decision in decisions:
        if explain:
            out.print(str(decision.explain()), soft_wrap=True)
        else:
            arms = ", ".join(str(label) for label in decision.super_arm)
            out.print(f"{decision.id}: {arms}", soft_wrap=True)


@app.command()
def tell(
    name: _Name,
    decision: Annotated[int, typer.Argument(help="The number of the decision.")],
    outcomes: Annotated[
        list[str] | None,
        typer.Argument(help="'ARM=OUTCOME' in quotes, one for each arm that was played; none if none was."),
    ] = None,
    more: Annotated[bool, typer.Option("--more", help="Outcomes of other arms will follow.")] = False,
    storage: _Storage = _DEFAULT,
    as_json: _Json = False,
) -> None:
    """What came of a decision."""
    study = _open(name, storage)
    told: dict[Any, float] = {}
    for text in outcomes or []:
        arm, equals, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError(f"outcomes must look like ARM=NUMBER, as in 'a->b=0.9', got {text!r}")
        label = _label(study, arm)
        if label in told:
            raise InputError(f"outcomes must name each arm once, got {arm!r} twice")
        told[label] = value
    news = study.tell(decision, told, final=not more)
    if as_json:
        print_json({"decision": decision, "new": news, "round": study.policy.round})
        return
    out.print(f"decision {decision}: {'noted' if news else 'was told before, nothing changed'}")


@app.command()
def show(
    name: _Name,
    decision: Annotated[int | None, typer.Option(help="Why this decision was made.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Where to draw it, as PNG and SVG.")] = None,
    storage: _Storage = _DEFAULT,
    as_json: _Json = False,
) -> None:
    """What a study has learnt, or why it decided as it did."""
    from rising_bandits.studies.reports.explain import HEADINGS

    study = _open(name, storage)
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
        if as_json:
            print_json({**facts, "arms": [dict(arm.__dict__) for arm in known], "figures": written})
        else:
            print_table(HEADINGS, [arm.cells(study.scale.unit) for arm in known], 5)
            out.print(f"{facts['problem']}, {facts['policy']}", soft_wrap=True)
            waiting = f"{len(facts['open'])} open decision{'' if len(facts['open']) == 1 else 's'}"
            # Of older ones it is not known which have expired.
            waiting = f"at least {waiting}" if facts["unlisted"] else waiting
            retired = f", retired: {', '.join(facts['retired'])}" if facts["retired"] else ""
            out.print(f"round {facts['round']}, {waiting}{retired}", soft_wrap=True)
    if not as_json:
        for path in written:
            out.print(f"figure: {path}", soft_wrap=True)


@app.command()
def export(
    name: _Name,
    file: Annotated[Path, typer.Argument(help="A .parquet or .jsonl file.")],
    history: Annotated[
        bool, typer.Option("--history", help="A row an outcome, for analysis; else the whole log.")
    ] = False,
    storage: _Storage = _DEFAULT,
    as_json: _Json = False,
) -> None:
    """Write a study to a file: the whole log, or with --history its outcomes."""
    study = _open(name, storage)
    if history:
        study.export_history(file)
    else:
        study.export(file)
    if as_json:
        print_json({"study": name, "file": str(file), "history": history})
        return
    out.print(f"{name}: {file}", soft_wrap=True)


@app.command("import")
def import_study(
    file: Annotated[Path, typer.Argument(help="A file that rising study export wrote.")],
    name: Annotated[str | None, typer.Option(help="The name here, by default the one it had.")] = None,
    storage: _Storage = _DEFAULT,
    as_json: _Json = False,
) -> None:
    """A study from a file that was exported."""
    from rising_bandits import studies

    study = studies.load(file, name, storage=storage)
    if as_json:
        print_json({"study": study.name, "storage": storage, "round": study.policy.round})
        return
    out.print(f"study {study.name} in {storage}, round {study.policy.round}", soft_wrap=True)


@app.command("list")
def list_studies(storage: _Storage = _DEFAULT, as_json: _Json = False) -> None:
    """The studies of a storage."""
    from rising_bandits import studies

    found = studies.names(storage=storage)
    if as_json:
        print_json({"studies": found})
        return
    for name in found:
        out.print(name, soft_wrap=True)


def _open(name: str, storage: str) -> Study:
    from rising_bandits import studies

    return studies.open(name, storage=storage)


def _label(study: Study, text: str) -> Any:
    """The arm that a word on the command line means, also where its label is not a text."""
    return next((label for label in study.problem.labels if str(label) == text), text)


def _as_dict(decision: Decision, explain: bool) -> dict[str, Any]:
    def time(seconds: float | None) -> str | None:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()

    data: dict[str, Any] = {
        "id": decision.id,
        "super_arm": [str(label) for label in decision.super_arm],
        "asked_at": time(decision.asked_at),
        "expires_at": time(decision.expires_at),
    }
    return {**data, "explanation": decision.explain().to_dict()} if explain else data
