"""What the commands about studies share: options, and how a study and its arms are found."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rising_bandits.cli.output import out, print_json

if TYPE_CHECKING:
    from rising_bandits.studies import Study

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
Done = tuple[str, dict[str, Any]]
"""What a command did: in words, and as facts for --json."""


def open_study(name: str, storage: str, author: str | None = None) -> Study:
    """Open an existing study."""
    from rising_bandits import studies

    return studies.open(name, storage=storage, author=author)


def label_of(study: Study, text: str) -> Any:
    """The label of the arm that a text on the command line names; labels need not be strings."""
    return next((label for label in study.problem.labels if str(label) == text), text)


def say_done(as_json: bool, name: str, what: str, **facts: Any) -> None:
    """Print what was done."""
    if as_json:
        print_json({"study": name, **facts})
    else:
        out.print(f"{name}: {what}", soft_wrap=True)


def changing(change: Callable[..., Done]) -> Callable[..., None]:
    """Make a command of a function that changes a study.

    The function takes the study and the command's own parameters. The command takes the name of the study first, and
    ``--author``, ``--storage`` and ``--json`` last. It opens the study, calls the function and prints what was done.
    """

    @functools.wraps(change)
    def command(name: str, author: str | None, storage: str, as_json: bool, **own: Any) -> None:
        with open_study(name, storage, author) as study:
            words, facts = change(study, **own)
        say_done(as_json, name, words, **facts)

    # The command-line library reads the parameters of a command from its signature.
    hints = typing.get_type_hints(change, localns={"Study": Any}, include_extras=True)
    _, *own = inspect.signature(change).parameters.values()
    shared: list[tuple[str, Any, Any]] = [
        ("name", StudyName, inspect.Parameter.empty),
        *((parameter.name, hints[parameter.name], parameter.default) for parameter in own),
        ("author", AuthorOption, None),
        ("storage", StorageOption, DEFAULT),
        ("as_json", JsonOption, False),
    ]
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, kind, default=default, annotation=type_) for name, type_, default in shared]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {name: type_ for name, type_, _ in shared}
    return command
