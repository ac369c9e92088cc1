"""``rising study``: make decisions on the command line that are kept in a database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rising_bandits.cli.output import out, print_json
from rising_bandits.cli.problems import numbers_by_name
from rising_bandits.cli.studies import DEFAULT, JsonOption, StorageOption, StudyName, label_of, open_study
from rising_bandits.cli.study_create import create
from rising_bandits.cli.study_show import show
from rising_bandits.errors import InputError

if TYPE_CHECKING:
    from rising_bandits.studies import Decision

_LATEST = datetime.max.replace(tzinfo=UTC).timestamp()
app = typer.Typer(
    no_args_is_help=True,
    help="Make decisions for a live system: ask for a decision, then tell its outcomes.\n\n"
    "Writes both to a database, by default the file studies.db in the current folder.\n\n"
    "Example: rising study create team --arms ann,bob,cy --k 2",
)
app.command()(create)


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
    said = _metadata(metadata or [])
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


app.command()(show)


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
    from rising_bandits.studies.storage.urls import shown

    study = studies.load(file, name, storage=storage)
    if as_json:
        print_json({"study": study.name, "storage": shown(storage), "round": study.policy.round})
        return
    out.print(f"study {study.name} in {shown(storage)}, round {study.policy.round}", soft_wrap=True)


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


def _metadata(texts: list[str]) -> dict[str, str]:
    """Metadata from texts such as ``flow=video``."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, said = text.partition("=")
        if not name or not equals:
            raise InputError(f"metadata must look like NAME=TEXT, as in 'flow=video', got {text!r}")
        if name in found:
            raise InputError(f"metadata must have each name once, got {name!r} twice")
        found[name] = said
    return found


def _as_dict(decision: Decision, explain: bool) -> dict[str, Any]:
    """A decision as plain data for JSON."""

    def time(seconds: float | None) -> str | None:
        # Beyond the year 9999 it is as good as never.
        return None if seconds is None or seconds >= _LATEST else datetime.fromtimestamp(seconds, UTC).isoformat()

    data: dict[str, Any] = {
        "id": decision.id,
        "super_arm": [str(label) for label in decision.super_arm],
        "asked_at": time(decision.asked_at),
        "expires_at": time(decision.expires_at),
        "source": decision.source,
        "metadata": decision.metadata,
    }
    return {**data, "explanation": decision.explain().to_dict()} if explain else data
