"""``rising study``: commands that change a study, and that compare it with others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from rising_bandits.cli.output import out, print_json
from rising_bandits.cli.problems import make_problem, numbers_by_name
from rising_bandits.cli.studies import (
    DEFAULT,
    AuthorOption,
    JsonOption,
    StorageOption,
    StudyName,
    label_of,
    open_study,
)
from rising_bandits.cli.study_create import read_scale
from rising_bandits.cli.theory import read_table
from rising_bandits.errors import InputError
from rising_bandits.experiments.plan import make_policy, parse_policy

_Arms = Annotated[
    list[str], typer.Argument(help="Arms in quotes; or workers, jobs or nodes, which stand for all of their arms.")
]


def _done(as_json: bool, name: str, what: str, **facts: Any) -> None:
    """Say what was done."""
    if as_json:
        print_json({"study": name, **facts})
    else:
        out.print(f"{name}: {what}", soft_wrap=True)


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
    _done(as_json, name, "deleted", deleted=True)


def retire(
    name: StudyName,
    arms: _Arms,
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Stop using some arms until they are restored. What is known about them is kept.

    Writes the change to the database.

    Example: rising study retire team cy
    """
    _change(name, "retire", arms, author, storage, as_json)


def restore(
    name: StudyName,
    arms: _Arms,
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Use retired arms again.

    Writes the change to the database.

    Example: rising study restore team cy
    """
    _change(name, "restore", arms, author, storage, as_json)


def reset(
    name: StudyName,
    arms: _Arms,
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Forget the plays of some arms, because the things behind them were replaced.

    Writes the change to the database, where the old plays stay readable.

    Example: rising study reset team bob
    """
    _change(name, "reset", arms, author, storage, as_json)


def _change(name: str, what: str, arms: list[str], author: str | None, storage: str, as_json: bool) -> None:
    """Call a method of a study that takes labels."""
    with open_study(name, storage, author) as study:
        getattr(study, what)([label_of(study, arm) for arm in arms])
        retired = [str(label) for label in study.retired]
    shown = f"{what} {', '.join(arms)}" + (f"; retired now: {', '.join(retired)}" if retired else "")
    _done(as_json, name, shown, arms=arms, retired=retired)


def set_problem(
    name: StudyName,
    edges: Annotated[Path | None, typer.Option(help="A CSV file of edges, as in create; by default none.")] = None,
    source: Annotated[str | None, typer.Option(help="The node where paths begin; by default none.")] = None,
    target: Annotated[str | None, typer.Option(help="The node where paths end; by default none.")] = None,
    workers: Annotated[str | None, typer.Option(help="The workers, separated by commas; by default none.")] = None,
    jobs: Annotated[str | None, typer.Option(help="The jobs, separated by commas; by default none.")] = None,
    arms: Annotated[str | None, typer.Option(help="The arms, separated by commas; by default none.")] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", help="How many of --arms are chosen at a time; no default, give it with --arms."),
    ] = None,
    problem: Annotated[
        Path | None, typer.Option(help="A JSON file that holds what problem.spec() returns; by default none.")
    ] = None,
    reward: Annotated[
        str | None, typer.Option(help="How the values of the arms are combined, with the defaults of create.")
    ] = None,
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Decide about another problem from now on. Arms with the same name stay the same arms.

    Arms that the new problem lacks are forgotten. To keep what is known about them, use retire. Writes the change to
    the database.

    Example: rising study set-problem team --arms ann,bob,cy,dee --k 2
    """
    described = make_problem(
        problem=problem, edges=edges, source=source, target=target, workers=workers, jobs=jobs, arms=arms, k=k,
        reward=reward,
    )  # fmt: skip
    with open_study(name, storage, author) as study:
        study.set_problem(described)
    _done(as_json, name, repr(described), arms=[str(label) for label in described.labels])


def import_plays(
    name: StudyName,
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file with the columns arm, play and outcome.")],
    rounds: Annotated[
        int | None, typer.Option(help="How many rounds these plays took; by default as few as possible.")
    ] = None,
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Add plays that were made elsewhere. Plays that are imported twice count twice.

    Writes them to the database.

    Example: rising study import-plays team plays.csv --rounds 40
    """
    with open_study(name, storage, author) as study:
        count = study.import_plays(read_table(file), rounds=rounds)
    _done(as_json, name, f"{count} plays added", plays=count)


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


def set_policy(
    name: StudyName,
    policy: Annotated[
        str | None,
        typer.Argument(help="The policy, such as 'crucb(sigma=0.05)'; by default the one that the guide recommends."),
    ] = None,
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Let another policy decide from now on. It learns the whole log first.

    Writes the change to the database.

    Example: rising study set-policy team 'crucb(sigma=0.05)'
    """
    from rising_bandits import policies

    with open_study(name, storage, author) as study:
        settings = study.settings
        new = policies.recommended(study.problem, settings.horizon) if policy is None else None
        study.set_policy(new if new is not None else make_policy(*parse_policy(str(policy))))
        shown = repr(study.policy)
    _done(as_json, name, shown, policy=shown)


def set_scale(
    name: StudyName,
    scale: Annotated[str, typer.Argument(help="The scale, such as 'range(low=0, high=200, clip=True)'.")],
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Use another scale from now on. All values are computed again from the outcomes.

    Writes the change to the database.

    Example: rising study set-scale team 'range(low=0, high=200, clip=True)'
    """
    with open_study(name, storage, author) as study:
        study.set_scale(read_scale(scale, {}))
        shown = study.scale
    _done(as_json, name, repr(shown), scale=shown.spec())


def set_horizon(
    name: StudyName,
    horizon: Annotated[str, typer.Argument(help="How many rounds there will be, from the first one on; or 'none'.")],
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Set how many rounds there will be.

    Writes the change to the database.

    Example: rising study set-horizon team 5000
    """
    if horizon != "none" and not horizon.isdecimal():
        raise InputError(f"horizon must be a number of rounds or 'none', got {horizon!r}")
    rounds = None if horizon == "none" else int(horizon)
    with open_study(name, storage, author) as study:
        study.set_horizon(rounds)
    _done(as_json, name, f"horizon {horizon}", horizon=rounds)


def set_expiry(
    name: StudyName,
    seconds: Annotated[str, typer.Argument(help="Seconds after which a decision can no longer be told; or 'none'.")],
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Set how long a decision can be told. It holds for open decisions too.

    Writes the change to the database.

    Example: rising study set-expiry team 3600
    """
    try:
        expires = None if seconds == "none" else float(seconds)
    except ValueError:
        raise InputError(f"seconds must be a number or 'none', got {seconds!r}") from None
    with open_study(name, storage, author) as study:
        study.set_expiry(expires)
    _done(
        as_json, name, f"decisions expire after {seconds} s" if expires else "decisions never expire", expires=expires
    )


def set_falls(
    name: StudyName,
    falls: Annotated[str, typer.Argument(help="propose, reset or ignore.")],
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Set what happens when an arm has fallen: a reset is proposed by show, made by the next ask, or neither.

    Writes the change to the database.

    Example: rising study set-falls team reset
    """
    with open_study(name, storage, author) as study:
        study.set_falls(falls)
    _done(as_json, name, f"falls: {falls}", falls=falls)


def set_least(
    name: StudyName,
    least: Annotated[
        list[str],
        typer.Argument(help="'ARM=0.05' in quotes: the least share of decisions that use the arm; or 'none'."),
    ],
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Set the least shares of arms that must stay in use. They replace those that were set before.

    Writes the change to the database.

    Example: rising study set-least team cy=0.05
    """
    with open_study(name, storage, author) as study:
        given = {} if least == ["none"] else numbers_by_name("least", least)
        shares = {label_of(study, arm): share for arm, share in given.items()}
        study.set_least(shares)
    shown = {str(label): share for label, share in shares.items()}
    said = ", ".join(f"{label} in at least {share:g} of the decisions" for label, share in shown.items())
    _done(as_json, name, said or "no arm has a least share", least=shown)


def set_spread(
    name: StudyName,
    spread: Annotated[str, typer.Argument(help="on or off.")],
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Set whether decisions that are open at the same time should differ.

    Writes the change to the database.

    Example: rising study set-spread team on
    """
    if spread not in ("on", "off"):
        raise InputError(f"spread must be 'on' or 'off', got {spread!r}")
    with open_study(name, storage, author) as study:
        study.set_spread(spread == "on")
    _done(as_json, name, f"spread {spread}", spread=spread == "on")


def hand_over(
    name: StudyName,
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
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Hand a share of the asks to another rule, for example to the super arm that is used today.

    With --arm a fixed super arm, with --policy a policy of the library; without both, the rule of this name is kept.
    Which asks it gets is drawn at random, and 'rising study compare' says who earned more. Writes the change to the
    database.

    Example: rising study hand-over team today --share 0.1 --arm ann --arm cy
    """
    if arms and policy is not None:
        raise InputError("give --arm or --policy, not both")
    with open_study(name, storage, author) as study:
        given: Any = None if policy is None else make_policy(*parse_policy(policy))
        study.hand_over(rule, [label_of(study, arm) for arm in arms] if arms else given, share)
    _done(as_json, name, f"{rule} gets a share of {share:g}", rule=rule, share=share)


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
    _done(as_json, name, f"decision {made.id} of {source} noted", decision=made.id, source=source)


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
    "set-problem": set_problem,
    "set-policy": set_policy,
    "set-scale": set_scale,
    "set-horizon": set_horizon,
    "set-expiry": set_expiry,
    "set-falls": set_falls,
    "set-least": set_least,
    "set-spread": set_spread,
    "import-plays": import_plays,
    "delete": delete,
}
"""The commands of this module by name."""
