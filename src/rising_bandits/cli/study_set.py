"""``rising study set-...``: commands that change the problem and the settings of a study."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rising_bandits.cli.problems import make_problem, numbers_by_name
from rising_bandits.cli.studies import Done, changing, label_of
from rising_bandits.cli.study_create import read_scale
from rising_bandits.errors import InputError
from rising_bandits.experiments.plan import make_policy, parse_policy

if TYPE_CHECKING:
    from rising_bandits.studies import Study


@changing
def set_problem(
    study: Study,
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
) -> Done:
    """Decide about another problem from now on. Arms with the same name stay the same arms.

    Arms that the new problem lacks are forgotten. To keep what is known about them, use retire. Writes the change to
    the database.

    Example: rising study set-problem team --arms ann,bob,cy,dee --k 2
    """
    described = make_problem(
        problem=problem, edges=edges, source=source, target=target, workers=workers, jobs=jobs, arms=arms, k=k,
        reward=reward,
    )  # fmt: skip
    study.set_problem(described)
    return repr(described), {"arms": [str(label) for label in described.labels]}


@changing
def set_policy(
    study: Study,
    policy: Annotated[
        str | None,
        typer.Argument(help="The policy, such as 'crucb(sigma=0.05)'; by default the one that the guide recommends."),
    ] = None,
) -> Done:
    """Let another policy decide from now on. It learns the whole log first.

    Writes the change to the database.

    Example: rising study set-policy team 'crucb(sigma=0.05)'
    """
    from rising_bandits import policies

    if policy is None:
        study.set_policy(policies.recommended(study.problem, study.settings.horizon))
    else:
        study.set_policy(make_policy(*parse_policy(policy)))
    shown = repr(study.policy)
    return shown, {"policy": shown}


@changing
def set_scale(
    study: Study,
    scale: Annotated[str, typer.Argument(help="The scale, such as 'range(low=0, high=200, clip=True)'.")],
) -> Done:
    """Use another scale from now on. All values are computed again from the outcomes.

    The unit and the direction (lower_is_better) stay as they are, unless the scale names them.

    Writes the change to the database.

    Example: rising study set-scale team 'range(low=0, high=200, clip=True)'
    """
    study.set_scale(read_scale(scale, {}, like=study.scale))
    return repr(study.scale), {"scale": study.scale.spec()}


@changing
def set_horizon(
    study: Study,
    horizon: Annotated[str, typer.Argument(help="How many rounds there will be, from the first one on; or 'none'.")],
) -> Done:
    """Set how many rounds there will be.

    Writes the change to the database.

    Example: rising study set-horizon team 5000
    """
    if horizon != "none" and not horizon.isdecimal():
        raise InputError(f"horizon must be a number of rounds or 'none', got {horizon!r}")
    rounds = None if horizon == "none" else int(horizon)
    study.set_horizon(rounds)
    return f"horizon {horizon}", {"horizon": rounds}


@changing
def set_expiry(
    study: Study,
    seconds: Annotated[str, typer.Argument(help="Seconds after which a decision can no longer be told; or 'none'.")],
) -> Done:
    """Set how long a decision can be told. It holds for open decisions too.

    Writes the change to the database.

    Example: rising study set-expiry team 3600
    """
    try:
        expires = None if seconds == "none" else float(seconds)
    except ValueError:
        raise InputError(f"seconds must be a number or 'none', got {seconds!r}") from None
    study.set_expiry(expires)
    words = f"decisions expire after {seconds} s" if expires else "decisions never expire"
    return words, {"expires": expires}


@changing
def set_falls(
    study: Study,
    falls: Annotated[str, typer.Argument(help="propose, reset or ignore.")],
) -> Done:
    """Set what happens when an arm has fallen: a reset is proposed by show, made by the next ask, or neither.

    Writes the change to the database.

    Example: rising study set-falls team reset
    """
    study.set_falls(falls)
    return f"falls: {falls}", {"falls": falls}


@changing
def set_least(
    study: Study,
    least: Annotated[
        list[str],
        typer.Argument(help="'ARM=0.05' in quotes: the least share of decisions that use the arm; or 'none'."),
    ],
) -> Done:
    """Set the least shares of arms that must stay in use. They replace those that were set before.

    Writes the change to the database.

    Example: rising study set-least team cy=0.05
    """
    given = {} if least == ["none"] else numbers_by_name("least", least)
    shares = {label_of(study, arm): share for arm, share in given.items()}
    study.set_least(shares)
    shown = {str(label): share for label, share in shares.items()}
    said = ", ".join(f"{label} in at least {share:g} of the decisions" for label, share in shown.items())
    return said or "no arm has a least share", {"least": shown}


@changing
def set_spread(
    study: Study,
    spread: Annotated[str, typer.Argument(help="on or off.")],
) -> Done:
    """Set whether decisions that are open at the same time should differ.

    Writes the change to the database.

    Example: rising study set-spread team on
    """
    if spread not in ("on", "off"):
        raise InputError(f"spread must be 'on' or 'off', got {spread!r}")
    study.set_spread(spread == "on")
    return f"spread {spread}", {"spread": spread == "on"}


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
