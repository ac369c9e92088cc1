"""Commands for the database of studies: is it whole, and a copy of it while it is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rising_bandits.cli.output import out, print_json
from rising_bandits.cli.studies import DEFAULT, JsonOption, StorageOption


def check(storage: StorageOption = DEFAULT, as_json: JsonOption = False) -> None:
    """Check that a database of studies is whole.

    Every event is compared with its checksum. Writes nothing. Exits with code 1 if something is wrong, and names the
    places.

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
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")] = False,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Copy a database of studies to a SQLite file, also while it is in use.

    The copy is as of one moment, and is checked before it appears under its name. Writes one file.

    Example: rising study backup copies/monday.db
    """
    from rising_bandits import studies

    written = studies.backup(file, storage=storage, overwrite=overwrite)
    if as_json:
        print_json({"file": str(written)})
        return
    out.print(f"backup: {written}", soft_wrap=True)
