"""``rising serve``: the HTTP service and its tokens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from rising_bandits.cli.output import console, out, print_json, print_table
from rising_bandits.errors import InputError

app = typer.Typer(invoke_without_command=True)
token = typer.Typer(
    no_args_is_help=True,
    help="Create, list and revoke tokens. A token allows some operations on some studies.\n\n"
    "Writes the file --tokens.\n\nExample: rising serve token list",
)
app.add_typer(token, name="token")
_Tokens = Annotated[
    Path | None,
    typer.Option(
        "--tokens",
        envvar="RISING_TOKENS",
        help="The file of tokens; by default rising-bandits/tokens.json in the user's configuration folder.",
    ),
]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def _path(given: Path | None) -> Path:
    """The file of tokens."""
    from rising_bandits.serve.tokens import default_path

    return default_path() if given is None else given


@app.callback()
def serve(
    context: typer.Context,
    storage: Annotated[
        str,
        typer.Option(
            help="The database: a SQLite file, such as sqlite:///routes.db, or postgresql://user@host/database.",
            envvar="RISING_STORAGE",
        ),
    ] = "sqlite:///studies.db",
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen at; 0 for any free one.", min=0, max=65535)] = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="A host name under which the service is reached; requests to other names are refused. Can be given "
            "several times. By default the loopback names if there are no tokens, otherwise any name."
        ),
    ] = None,
    power_safe: Annotated[
        bool,
        typer.Option(
            "--power-safe", help="Answer only once the data is on disk. Otherwise SQLite may write it a moment later."
        ),
    ] = False,
    rate: Annotated[
        float, typer.Option(help="The most requests a second with one token; 0 for no limit.", min=0)
    ] = 2_000.0,
    body: Annotated[int, typer.Option(help="The largest body of a request, in bytes.", min=1)] = 1_000_000,
    seconds: Annotated[float, typer.Option(help="How long a request may take, in seconds.")] = 30.0,
    tokens: _Tokens = None,
) -> None:
    """Serve the studies of a database over HTTP, with a web page.

    A token with all rights is read from the environment variable RISING_TOKEN, and other tokens from the file --tokens.
    Without tokens the service listens on this machine only. Writes to the database --storage. SIGTERM and Ctrl-C end
    the service; requests that are underway finish first. Needs the extra serve.

    Example: rising serve --storage sqlite:///studies.db --port 8765
    """
    if context.invoked_subcommand is not None:
        return
    from rising_bandits.serve.limits import Limits
    from rising_bandits.serve.run import run
    from rising_bandits.serve.tokens import Tokens

    known = Tokens(os.environ.get("RISING_TOKEN") or None, _path(tokens))
    limits = Limits(rate=rate, body=body, seconds=seconds)
    hosts = tuple(allow_host) if allow_host else None
    say = console(stderr=True, soft_wrap=True)
    run(storage, host, port, known, limits, hosts, power_safe=power_safe, say=lambda text: say.print(text))


@token.command("create")
def create_token(
    study: Annotated[
        list[str], typer.Option(help="A study that the token is for; '*' for all. Can be given several times.")
    ],
    can: Annotated[
        str,
        typer.Option(
            help="What the token allows, separated by commas: read, ask, tell, change, create, delete, storage."
        ),
    ],
    name: Annotated[
        str | None, typer.Option(help="The name of the token, for lists and logs; by default a random one.")
    ] = None,
    tokens: _Tokens = None,
    as_json: _Json = False,
) -> None:
    """Create a token and print it.

    Writes its hash to the file --tokens. The token itself is not stored, so note it now.

    Example: rising serve token create --study team --can read,ask,tell --name shop
    """
    import secrets

    from rising_bandits.serve import tokens as kept

    rights = [right.strip() for right in can.split(",") if right.strip()]
    name = f"token-{secrets.token_hex(3)}" if name is None else name
    path = _path(tokens)
    made = kept.create(path, name, study, rights)
    if as_json:
        print_json({"name": name, "token": made, "studies": sorted(set(study)), "rights": sorted(set(rights))})
        return
    console(stderr=True, soft_wrap=True).print(f"{name} in {path}; the token is not shown again:")
    out.print(made, soft_wrap=True)


@token.command("list")
def list_tokens(tokens: _Tokens = None, as_json: _Json = False) -> None:
    """List the tokens by name, with what they allow.

    Writes nothing.

    Example: rising serve token list
    """
    from rising_bandits.serve import tokens as kept

    found = kept.listed(_path(tokens))
    if as_json:
        print_json(
            {
                "tokens": [
                    {"name": grant.name, "studies": sorted(grant.studies), "rights": sorted(grant.rights)}
                    for grant in found
                ]
            }
        )
        return
    rows = [[grant.name, ", ".join(sorted(grant.studies)), ", ".join(sorted(grant.rights))] for grant in found]
    print_table(("name", "studies", "rights"), rows, 0)


@token.command("revoke")
def revoke_token(name: Annotated[str, typer.Argument(help="The name of the token.")], tokens: _Tokens = None) -> None:
    """Revoke a token.

    Removes it from the file --tokens. A running service refuses it within a second. Writes nothing else.

    Example: rising serve token revoke shop
    """
    from rising_bandits.serve import tokens as kept

    if not name:
        raise InputError("name must be the name of a token, got ''; rising serve token list shows the names")
    kept.revoke(_path(tokens), name)
    out.print(f"{name}: revoked", soft_wrap=True)
