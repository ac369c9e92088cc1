"""``rising study``: make decisions on the command line that are kept in a database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rising_bandits.cli.output import console, out, print_json, print_table
from rising_bandits.cli.problems import favours_long_paths, make_problem, named_column, numbers_by_name
from rising_bandits.errors import InputError
from rising_bandits.experiments.plan import make_policy, parse_call, parse_policy

if TYPE_CHECKING:
    from rising_bandits.problems import Problem
    from rising_bandits.studies import Decision, Scale, Study

app = typer.Typer(
    no_args_is_help=True,
    help="Make decisions for a live system: ask for a decision, then tell its outcomes.\n\n"
    "Writes both to a database, by default the file studies.db in the current folder.\n\n"
    "Example: rising study create team --arms ann,bob,cy --k 2",
)
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
StudyName = Annotated[str, typer.Argument(help="The name of the study.")]
StorageOption = Annotated[
    str,
    typer.Option(
        help="The database: a SQLite file, such as sqlite:///routes.db, or postgresql://user@host/database.",
        envvar="RISING_STORAGE",
    ),
]
AuthorOption = Annotated[
    str | None,
    typer.Option("--author", help="Who makes the change, for the log; by default nobody.", envvar="RISING_AUTHOR"),
]
DEFAULT = "sqlite:///studies.db"


def read_scale(text: str | None, given: dict[str, Any]) -> Scale:
    """The scale that the options describe.

    ``text`` is the value of --scale, and ``given`` are the values of the other options of the scale that were set.
    """
    from rising_bandits.studies.scales import scale_by_name

    if text is not None:
        name, parameters = parse_call(text, "scale must look like reciprocal(best=2) or 'log(low=1, high=1000)'")
        # --unit may be given beside --scale, unless the scale has a unit of its own.
        extra, leading = set(given) - ({"unit"} - set(parameters)), "--scale"
        parameters = {**given, **parameters}
    elif "half" in given:
        # --lower-is-better may be given too: with this scale lower is always better.
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
    name: StudyName,
    policy: Annotated[
        str | None,
        typer.Option(
            help="The policy, such as 'horizon-crucb(sigma=0.05)'; by default the one that the guide recommends."
        ),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            help="For paths or spanning trees: a CSV file with lines node,node or node,node,name; by default none."
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="The node where paths begin. By default none: without --source and --target, spanning trees."
        ),
    ] = None,
    target: Annotated[str | None, typer.Option(help="The node where paths end; by default none.")] = None,
    workers: Annotated[
        str | None,
        typer.Option(help="For matchings: the workers, separated by commas, such as ann,bob; by default none."),
    ] = None,
    jobs: Annotated[
        str | None,
        typer.Option(help="For matchings: the jobs, separated by commas, such as cats,cars,maps; by default none."),
    ] = None,
    arms: Annotated[
        str | None,
        typer.Option(
            help="For choosing --k of many: the arms, separated by commas, such as ann,bob,cy; by default none."
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", help="How many of --arms are chosen at a time; no default, give it with --arms."),
    ] = None,
    problem: Annotated[
        Path | None,
        typer.Option(help="For any problem: a JSON file that holds what problem.spec() returns; by default none."),
    ] = None,
    reward: Annotated[
        str | None,
        typer.Option(
            help="How the values of the arms are combined: sum, max, harmonic or product; not every problem allows all "
            "of them. By default sum, and harmonic for paths in a graph with cycles."
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            help="How outcomes become values from 0 to 1, such as 'reciprocal(best=2)'. By default linearly from --low "
            "to --high."
        ),
    ] = None,
    low: Annotated[float | None, typer.Option(help="The lowest possible outcome; 0 by default.")] = None,
    high: Annotated[float | None, typer.Option(help="The highest possible outcome; 1 by default.")] = None,
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Low outcomes are good; by default high ones are.")
    ] = False,
    half: Annotated[
        float | None,
        typer.Option(
            help="For outcomes from 0 on without an upper limit, where low ones are good: the outcome whose value is "
            "one half. Replaces --low and --high; by default not used."
        ),
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="The unit of outcomes in reports, such as ms; by default none.")
    ] = None,
    expires: Annotated[
        float | None,
        typer.Option(help="Seconds after which the outcomes of a decision are no longer accepted; by default never."),
    ] = None,
    horizon: Annotated[
        int | None, typer.Option(help="How many rounds are planned, for policies that need it; by default not known.")
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            help="What you expect of an arm, as 'ARM=OUTCOME'; it counts as 50 plays. Can be given several times."
        ),
    ] = None,
    least: Annotated[
        list[str] | None,
        typer.Option(help="The least share of decisions that use an arm, as 'ARM=0.05'. Can be given several times."),
    ] = None,
    spread: Annotated[
        bool, typer.Option("--spread", help="Decisions that are open at the same time should differ.")
    ] = False,
    falls: Annotated[
        str, typer.Option(help="What happens when an arm has fallen: propose a reset, reset, or ignore.")
    ] = "propose",
    seed: Annotated[int | None, typer.Option(help="The seed of random choices; by default a random one.")] = None,
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Create a study: a problem, a policy and the scale of its outcomes.

    Describe the problem by one of --edges, --workers, --arms and --problem. Writes the study to the database --storage,
    by default the file studies.db in the current folder.

    Example: rising study create team --arms ann,bob,cy --k 2
    """
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
        None if policy is None else make_policy(*parse_policy(policy)),
        author=author,
        storage=storage,
        scale=read_scale(scale, {option: value for option, value in options.items() if value is not None}),
        expires=expires,
        horizon=horizon,
        prior=_by_label(described, "prior", prior),
        least=_by_label(described, "least", least),
        spread=spread,
        falls=falls,
        seed=seed,
    )
    if as_json:
        print_json({"study": name, "storage": storage, "arms": [str(label) for label in study.problem.labels]})
        return
    out.print(f"study {name} in {storage}: {study.problem!r}, {study.policy!r}", soft_wrap=True)
    if edges is not None and (used := named_column(edges)):
        console(stderr=True, soft_wrap=True).print(f"note: {used}")
    if study.scale.lower_is_better and favours_long_paths(described):
        # On standard error, because programs may read standard output.
        console(stderr=True, soft_wrap=True).print(
            "note: these paths have different numbers of edges, and a sum of values favours paths with many edges; to "
            "minimise the total instead, use --reward harmonic and --scale 'reciprocal(best=...)'"
        )


@app.command()
def ask(
    name: StudyName,
    n: Annotated[int | None, typer.Option("--n", help="How many decisions; 1 by default.")] = None,
    unavailable: Annotated[
        list[str] | None,
        typer.Option(help="An arm, worker, job or node that may not be used this time. Can be given several times."),
    ] = None,
    among: Annotated[
        str | None,
        typer.Option(help="Of several families of super arms, the one to choose from, such as 'a->d'; by default all."),
    ] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(help="Something to find again beside the decision, as 'NAME=TEXT'. Can be given several times."),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Also explain each decision.")] = False,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Ask a study for its next decision.

    Prints the number of the decision and its arms, and writes the decision to the database.

    Example: rising study ask team --unavailable cy
    """
    study = open_study(name, storage)
    said = dict(text.partition("=")[::2] for text in metadata or [])
    off = [label_of(study, text) for text in unavailable or []]
    decisions = study.ask(1 if n is None else n, unavailable=off, among=among, metadata=said)
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
    name: StudyName,
    decision: Annotated[int, typer.Argument(help="The number of the decision, as ask printed it.")],
    outcomes: Annotated[
        list[str] | None,
        typer.Argument(
            help="'ARM=OUTCOME' in quotes, one for each arm that was played; see --nothing-played if none was."
        ),
    ] = None,
    nothing_played: Annotated[
        bool, typer.Option("--nothing-played", help="No arm of the decision was played.")
    ] = False,
    more: Annotated[
        bool, typer.Option("--more", help="Outcomes of other arms of this decision will be told later.")
    ] = False,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Tell a study the outcomes of a decision.

    Writes them to the database. Arms that are left out count as not played, unless --more is given. Telling the same
    again changes nothing.

    Example: rising study tell team 1 ann=0.7 bob=0.4
    """
    study = open_study(name, storage)
    told = {label_of(study, arm): value for arm, value in numbers_by_name("outcomes", outcomes or []).items()}
    if not told and not more and not nothing_played:
        raise InputError("outcomes must be given, as in 'a->b=0.9'; if no arm was played, say so with --nothing-played")
    if told and nothing_played:
        raise InputError("--nothing-played does not go with outcomes; leave out one of them")
    news = study.tell(decision, told, final=not more)
    if as_json:
        print_json({"decision": decision, "new": news, "round": study.policy.round})
        return
    out.print(f"decision {decision}: {'noted' if news else 'was told before, nothing changed'}")


@app.command()
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
    from rising_bandits.studies.reports.explain import HEADINGS

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
            clipped = f", {sum(facts['clipped'].values())} outcomes clipped" if facts["clipped"] else ""
            out.print(f"{settings.scale!r}, {horizon}, {expiry}{clipped}", soft_wrap=True)
            for said in [*noticed, *([] if doubt is None else [doubt])]:
                out.print(f"note: {said}", soft_wrap=True)
    if not as_json:
        for path in written:
            out.print(f"figure: {path}", soft_wrap=True)


@app.command()
def export(
    name: StudyName,
    file: Annotated[Path, typer.Argument(help="The file to write, with the suffix .parquet or .jsonl.")],
    history: Annotated[
        bool,
        typer.Option("--history", help="Write one row per outcome, for analysis; by default the whole log is written."),
    ] = False,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Write a study to a file: its whole log, which import reads again, or with --history its outcomes.

    Example: rising study export team team.jsonl
    """
    study = open_study(name, storage)
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
    name: Annotated[str | None, typer.Option(help="The name of the new study; by default the one it had.")] = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Create a study from an exported file.

    Writes it to the database.

    Example: rising study import team.jsonl --name copy
    """
    from rising_bandits import studies

    study = studies.load(file, name, storage=storage)
    if as_json:
        print_json({"study": study.name, "storage": storage, "round": study.policy.round})
        return
    out.print(f"study {study.name} in {storage}, round {study.policy.round}", soft_wrap=True)


@app.command("list")
def list_studies(storage: StorageOption = DEFAULT, as_json: JsonOption = False) -> None:
    """List the names of the studies in a database. Writes nothing.

    Example: rising study list
    """
    from rising_bandits import studies

    found = studies.names(storage=storage)
    if as_json:
        print_json({"studies": found})
        return
    for name in found:
        out.print(name, soft_wrap=True)


def open_study(name: str, storage: str, author: str | None = None) -> Study:
    """Open an existing study."""
    from rising_bandits import studies

    return studies.open(name, storage=storage, author=author)


def label_of(study: Study, text: str) -> Any:
    """The label of the arm that a text on the command line means; labels need not be texts."""
    return next((label for label in study.problem.labels if str(label) == text), text)


def _by_label(problem: Problem, name: str, texts: list[str] | None) -> dict[Any, float]:
    """Numbers by the label of an arm, from texts such as ``a->b=12``."""
    labels = {str(label): label for label in problem.labels}
    return {labels.get(arm, arm): value for arm, value in numbers_by_name(name, texts or []).items()}


def _as_dict(decision: Decision, explain: bool) -> dict[str, Any]:
    """A decision as plain data for JSON."""

    def time(seconds: float | None) -> str | None:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()

    data: dict[str, Any] = {
        "id": decision.id,
        "super_arm": [str(label) for label in decision.super_arm],
        "asked_at": time(decision.asked_at),
        "expires_at": time(decision.expires_at),
        "source": decision.source,
        "metadata": decision.metadata,
    }
    return {**data, "explanation": decision.explain().to_dict()} if explain else data
