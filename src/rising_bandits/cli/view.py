"""``rising view``: results of runs in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rising_bandits.cli.output import console
from rising_bandits.errors import InputError


def view(
    folder: Annotated[Path, typer.Argument(help="A folder of results, of rising run or rising reproduce.")],
    host: Annotated[
        str, typer.Option(help="The address to listen at; only loopback addresses are allowed.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen at; 0 for any free one.", min=0, max=65535)] = 0,
    browse: Annotated[bool, typer.Option("--browse/--no-browse", help="Open the page in the browser.")] = True,
) -> None:
    """Show results as a web page: regret with bands, comparisons, the report and its figures.

    Serves the page on this machine until Ctrl-C. Writes nothing. Needs the extra serve.

    Example: rising view results/first
    """
    from rising_bandits._extras import require

    for package in ("starlette", "uvicorn", "msgspec"):
        require("serve", package)
    from rising_bandits.serve.results import make_view
    from rising_bandits.serve.run import is_loopback, listen_and_serve

    if not is_loopback(host):
        raise InputError(f"--host must be a loopback address, such as 127.0.0.1, got {host!r}")
    say = console(stderr=True, soft_wrap=True)

    def said(address: str) -> None:
        say.print(f"rising view: {address} (Ctrl-C ends it)")
        if browse:
            typer.launch(address)

    listen_and_serve(make_view(folder), host, port, said)
