"""What the commands about studies share: options, and how a study and its arms are found."""

from __future__ import annotations

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
