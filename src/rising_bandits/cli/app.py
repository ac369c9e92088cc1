"""The command ``rising``: its sub-commands, and how errors are printed."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import typer

from rising_bandits import __version__
from rising_bandits.cli import (
    antmaze,
    bench,
    changes,
    demo,
    identify,
    policies,
    reproduce,
    run,
    serve,
    study,
    study_set,
    sweeps,
    tasks,
    theory,
    upkeep,
    view,
)
from rising_bandits.cli.output import console, out
from rising_bandits.cli.stopping import ResumableStop
from rising_bandits.errors import RisingBanditsError

_STOPPED = 130
"""The exit code of a command that was ended by Ctrl-C."""

app = typer.Typer(
    name="rising",
    help="Combinatorial rising bandits: choose sets of parts that get better with practice.",
    epilog="\n".join(
        [
            "[bold]Try[/bold]",
            "rising demo                            # the idea in seconds, as a page",
            "rising tasks                           # what can be run",
            "rising run path-easy --plot            # compare policies on a task",
            "rising study create t --arms a,b --k 1 # decide for a live system",
            "rising study ask t                     # then rising study tell",
            "rising serve                           # the same over HTTP, with a page",
            "",
            "rising COMMAND --help shows an example, the defaults and what is written.",
        ]
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("tasks")(tasks.tasks)
app.command("policies")(policies.policies)
app.command("run")(run.run)
app.command("identify")(identify.identify_command)
app.command("collect")(sweeps.collect)
app.command("compare")(sweeps.compare)
app.command("reproduce")(reproduce.reproduce)
app.add_typer(theory.app, name="theory")
app.add_typer(antmaze.app, name="antmaze")
for _name, _command in {**changes.COMMANDS, **study_set.COMMANDS}.items():
    study.app.command(_name)(_command)
study.app.command("check")(upkeep.check)
study.app.command("backup")(upkeep.backup)
app.add_typer(study.app, name="study")
app.add_typer(bench.app, name="bench")
app.add_typer(serve.app, name="serve")
app.command("view")(view.view)


def _version(show: bool) -> None:
    """Print the version and exit."""
    if show:
        out.print(f"rising {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    pass


def command() -> Any:
    """The command with all of its sub-commands, as the command-line library runs it.

    Paragraphs of help texts become single lines, which the terminal breaks where it ends.
    """
    found = typer.main.get_command(app)
    _join_lines(found)
    return found


def _join_lines(found: Any) -> None:
    """Join the lines of each paragraph in the help of a command, and of those below it."""
    paragraphs = inspect.cleandoc(found.help or "").split("\n\n")
    found.help = "\n\n".join(" ".join(part.split("\n")) for part in paragraphs)
    for part in getattr(found, "commands", {}).values():
        _join_lines(part)


def main(arguments: list[str] | None = None) -> None:
    """Run the command ``rising`` and exit.

    Wrong input prints one line to standard error and exits with code 2. Ctrl-C exits with code 130, and says so if the
    same command would continue where it stopped.

    Parameters
    ----------
    arguments
        The arguments of the command; by default those of this process.
    """
    say = console(stderr=True, soft_wrap=True)
    try:
        code = command().main(arguments, prog_name="rising", standalone_mode=False)
    except RisingBanditsError as error:
        say.print(f"rising: {error}")
        sys.exit(2)
    except OSError as error:
        say.print(f"rising: {error.strerror or error}: {error.filename}" if error.filename else f"rising: {error}")
        sys.exit(2)
    except ResumableStop:
        say.print("rising: stopped; the same command continues where it stopped")
        sys.exit(_STOPPED)
    except (typer.Abort, KeyboardInterrupt):
        code = _STOPPED
    except Exception as error:
        # Usage errors of the command-line library have a message of their own; other errors are bugs and are raised.
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        if text := message():
            say.print(f"rising: {' '.join(text.split())} (see rising --help)")
        sys.exit(2)
    if code == _STOPPED:
        say.print("rising: stopped")
    sys.exit(code if isinstance(code, int) else 0)
