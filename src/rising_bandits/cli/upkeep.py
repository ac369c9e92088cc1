"""``rising study check`` and ``rising study backup``: check a database of studies, and copy it while it is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rising_bandits.cli.output import out, print_json
from rising_bandits.cli.studies import DEFAULT, JsonOption, StorageOption


def check(storage: StorageOption = DEFAULT, as_json: JsonOption = False) -> None:
    """Check that a database of studies is whole.

    Compares every event with its checksum. Writes nothing. If something is wrong, prints where, and exits with code 1.

    Example: rising study check --storage sqlite:///studies.db
    """
    from rising_bandits import studies

    found = studies.check(storage=storage)
    if as_json:
        print_json(found.to_dict())
    else:
        out.print(str(found), soft_wrap=True)
    raise typer.Exit(0 if found.whole else 1)


def backup(
    file: Annotated[Path, typer.Argument(help="The SQLite file to write.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Copy a database of studies to a SQLite file. The database can be in use.

    The copy is a snapshot of one moment. It is checked before it gets its name. Writes one file.

    Example: rising study backup copies/monday.db
    """
    from rising_bandits import studies

    written = studies.backup(file, storage=storage, overwrite=overwrite)
    if as_json:
        print_json({"file": str(written)})
        return
    out.print(f"backup: {written}", soft_wrap=True)
