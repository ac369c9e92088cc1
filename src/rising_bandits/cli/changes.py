"""``rising study``: commands that change the arms of a study and what it knows, and that compare it with others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rising_bandits.cli.output import out, print_json
from rising_bandits.cli.problems import numbers_by_name
from rising_bandits.cli.studies import (
    DEFAULT,
    Done,
    JsonOption,
    StorageOption,
    StudyName,
    changing,
    label_of,
    open_study,
    say_done,
)
from rising_bandits.cli.theory import read_table
from rising_bandits.errors import InputError
from rising_bandits.experiments.plan import make_policy, parse_policy

if TYPE_CHECKING:
    from rising_bandits.studies import Study

_Arms = Annotated[
    list[str], typer.Argument(help="Arms in quotes; or workers, jobs or nodes, which stand for all of their arms.")
]


def delete(
    name: StudyName,
    yes: Annotated[bool, typer.Option("--yes", help="Really delete it; without this, nothing is deleted.")] = False,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Delete a study with everything it was told. It cannot be brought back, so --yes is needed.

    Removes it from the database.

    Example: rising study delete team --yes
    """
    from rising_bandits import studies

    if not yes:
        raise InputError(f"--yes must be given to delete study {name!r} with everything it was told")
    studies.delete(name, storage=storage)
    say_done(as_json, name, "deleted", deleted=True)


@changing
def retire(
    study: Study,
    arms: _Arms,
) -> Done:
    """Stop using some arms until they are restored. What is known about them is kept.

    Writes the change to the database.

    Example: rising study retire team cy
    """
    return _of_arms(study, "retire", arms)


@changing
def restore(
    study: Study,
    arms: _Arms,
) -> Done:
    """Use retired arms again.

    Writes the change to the database.

    Example: rising study restore team cy
    """
    return _of_arms(study, "restore", arms)


@changing
def reset(
    study: Study,
    arms: _Arms,
) -> Done:
    """Forget the plays of some arms, because the things behind them were replaced.

    Writes the change to the database, where the old plays stay readable.

    Example: rising study reset team bob
    """
    return _of_arms(study, "reset", arms)


def _of_arms(study: Study, what: str, arms: list[str]) -> Done:
    """Call a method of a study that takes labels."""
    getattr(study, what)([label_of(study, arm) for arm in arms])
    retired = [str(label) for label in study.retired]
    shown = f"{what} {', '.join(arms)}" + (f"; retired now: {', '.join(retired)}" if retired else "")
    return shown, {"arms": arms, "retired": retired}


@changing
def import_plays(
    study: Study,
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file with the columns arm, play and outcome.")],
    rounds: Annotated[
        int | None, typer.Option(help="How many rounds these plays took; by default as few as possible.")
    ] = None,
) -> Done:
    """Add plays that were made elsewhere. Plays that are imported twice count twice.

    Writes them to the database.

    Example: rising study import-plays team plays.csv --rounds 40
    """
    count = study.import_plays(read_table(file), rounds=rounds)
    return f"{count} plays added", {"plays": count}


def replay(
    name: StudyName,
    policy: Annotated[str, typer.Argument(help="The other policy, such as 'sw-cucb(window=100)'.")],
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Make the decisions of a study again with another policy. Writes nothing.

    Example: rising study replay team 'sw-cucb(window=100)'
    """
    with open_study(name, storage) as study:
        found = study.replay(make_policy(*parse_policy(policy)))
    if as_json:
        print_json(found.to_dict())
    else:
        out.print(str(found), soft_wrap=True)


@changing
def hand_over(
    study: Study,
    rule: Annotated[str, typer.Argument(help="The name of the rule, such as today.")],
    share: Annotated[float, typer.Option(help="The share of the asks that it gets, from 0 to 1; 0 ends it.")],
    arms: Annotated[
        list[str] | None,
        typer.Option(
            "--arm", help="An arm of the super arm that the rule always chooses. Give all of them, one by one."
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(help="The policy that decides instead, such as 'sw-cucb(window=100)'; by default none."),
    ] = None,
) -> Done:
    """Hand a share of the asks to another rule, for example to the super arm that is used today.

    With --arm a fixed super arm, with --policy a policy of the library; without both, the rule of this name is kept.
    Which asks it gets is drawn at random, and 'rising study compare' says who earned more. Writes the change to the
    database.

    Example: rising study hand-over team today --share 0.1 --arm ann --arm cy
    """
    if arms and policy is not None:
        raise InputError("give --arm or --policy, not both")
    given: Any = None if policy is None else make_policy(*parse_policy(policy))
    study.hand_over(rule, [label_of(study, arm) for arm in arms] if arms else given, share)
    return f"{rule} gets a share of {share:g}", {"rule": rule, "share": share}


def record(
    name: StudyName,
    outcomes: Annotated[list[str], typer.Argument(help="'ARM=OUTCOME' in quotes, for each arm that was played.")],
    source: Annotated[str, typer.Option(help="The name of who decided, such as today.")],
    unplayed: Annotated[
        list[str] | None, typer.Option(help="An arm of the decision that was not played. Can be given several times.")
    ] = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Learn from a decision that was made elsewhere, for example by the rule that decides today.

    Writes the decision and its outcomes to the database.

    Example: rising study record team ann=0.6 cy=0.5 --source today
    """
    with open_study(name, storage) as study:
        told = {label_of(study, arm): value for arm, value in numbers_by_name("outcomes", outcomes).items()}
        super_arm = [*told, *(label_of(study, arm) for arm in unplayed or [])]
        made = study.record(super_arm, told, source=source)
    say_done(as_json, name, f"decision {made.id} of {source} noted", decision=made.id, source=source)


def compare(
    name: StudyName,
    source: Annotated[str, typer.Argument(help="The name of the rule or source to compare the study with.")],
    level: Annotated[float, typer.Option(help="The confidence level of the interval.")] = 0.95,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Say which earned more: the study, or a rule or source of your own. Writes nothing.

    Example: rising study compare team today
    """
    with open_study(name, storage) as study:
        found = study.compare(source, level=level)
    if as_json:
        print_json(found.to_dict())
    else:
        out.print(str(found), soft_wrap=True)


COMMANDS: dict[str, Callable[..., None]] = {
    "hand-over": hand_over,
    "record": record,
    "compare": compare,
    "replay": replay,
    "retire": retire,
    "restore": restore,
    "reset": reset,
    "import-plays": import_plays,
    "delete": delete,
}
"""The commands of this module by name."""
