"""``rising study set-...``: commands that change the problem and the settings of a study."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from rising_bandits.cli.problems import make_problem, numbers_by_name
from rising_bandits.cli.studies import (
    DEFAULT,
    AuthorOption,
    JsonOption,
    StorageOption,
    StudyName,
    label_of,
    open_study,
    say_done,
)
from rising_bandits.cli.study_create import read_scale
from rising_bandits.errors import InputError
from rising_bandits.experiments.plan import make_policy, parse_policy


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
    say_done(as_json, name, repr(described), arms=[str(label) for label in described.labels])


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
    say_done(as_json, name, shown, policy=shown)


def set_scale(
    name: StudyName,
    scale: Annotated[str, typer.Argument(help="The scale, such as 'range(low=0, high=200, clip=True)'.")],
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Use another scale from now on. All values are computed again from the outcomes.

    The unit and the direction (lower_is_better) stay as they are, unless the scale names them.

    Writes the change to the database.

    Example: rising study set-scale team 'range(low=0, high=200, clip=True)'
    """
    with open_study(name, storage, author) as study:
        study.set_scale(read_scale(scale, {}, like=study.scale))
        shown = study.scale
    say_done(as_json, name, repr(shown), scale=shown.spec())


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
    say_done(as_json, name, f"horizon {horizon}", horizon=rounds)


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
    say_done(
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
    say_done(as_json, name, f"falls: {falls}", falls=falls)


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
    say_done(as_json, name, said or "no arm has a least share", least=shown)


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
    say_done(as_json, name, f"spread {spread}", spread=spread == "on")


COMMANDS: dict[str, Callable[..., None]] = {
    "set-problem": set_problem,
    "set-policy": set_policy,
    "set-scale": set_scale,
    "set-horizon": set_horizon,
    "set-expiry": set_expiry,
    "set-falls": set_falls,
    "set-least": set_least,
    "set-spread": set_spread,
}
"""The commands of this module by name."""
