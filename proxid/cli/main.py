"""Entry point of the `proxid` command: a group that imports a subcommand only when it is used.

Exit status: 0 done, 1 a check failed (an audit violation, say), 2 could not be done; 141, as for any tool, when whoever
read its output went away, 143 and 130 after SIGTERM and Ctrl-C.
"""

import errno
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import Final

import click

from cli.ended import EndedError, ended_by_signals
from proxid import __version__
from proxid.errors import Code, ProxidError

# Before a subcommand imports gRPC: its C core reads this once, and writes lines of its own, addresses and all.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

_PIPE_CLOSED: Final = 128 + signal.SIGPIPE

COMMANDS: dict[str, str] = {
    "attack": "cli.attack:command",
    "audit": "cli.audit:command",
    "bench": "cli.bench:command",
    "budget": "cli.budget:command",
    "classify": "cli.classify:command",
    "evaluate": "cli.evaluate:command",
    "explain": "cli.explain:command",
    "demo": "cli.demo:command",
    "init": "cli.init:command",
    "subscribe": "cli.subscribe:command",
    "device": "cli.device:command",
    "release": "cli.release:command",
    "serve": "cli.serve:command",
    "mend": "cli.mend:command",
    "profile": "cli.profile:command",
    "synth": "cli.synth:command",
    "study": "cli.study:command",
    "witness": "cli.witness:command",
}
"""Name of each subcommand and `module:attribute` that holds its click command."""


class _ReaderGoneError(Exception):
    """Whoever read the output went away."""


def _drop_output() -> None:
    """What is flushed at the end goes nowhere: it would fail once more, and change the status."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class LazyGroup(click.Group):
    """Loads a subcommand's module on first use, so that `proxid --help` stays quick."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (BrokenPipeError, SystemExit) as error:
            # rich ends the process with status 1, click would too.
            cause = error if isinstance(error, BrokenPipeError) else error.__context__
            if not isinstance(cause, BrokenPipeError):
                raise
            _drop_output()
            raise _ReaderGoneError from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, attribute = target.split(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="proxid")
def proxid() -> None:
    """A privacy gateway for personal assistants.

    Example: proxid demo
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status (this module's docstring has them)."""
    with ended_by_signals() as ending:
        try:
            return _status(argv)
        except (EndedError, click.Abort) as error:
            click.echo("proxid: interrupted", err=True)
            return error.status if isinstance(error, EndedError) else 2
        except Exception as error:
            # An engine in C may have made an error of its own of a signal.
            return EndedError(ending.number).status if ending.number else _unforeseen(error)


def _status(argv: Sequence[str] | None) -> int:
    try:
        result = proxid.main(args=argv, prog_name="proxid", standalone_mode=False)
    except ProxidError as error:
        click.echo(f"proxid: {error.code}: {error.rule}", err=True)
        return 2
    except click.ClickException as error:
        if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
            # A folder for a file, a file that is not there, a word for a number: the line says which and why.
            click.echo(f"proxid: {Code.INPUT_INVALID}: {error.format_message()}", err=True)
        else:
            error.show()
        return 2
    except _ReaderGoneError:
        return _PIPE_CLOSED
    return result if isinstance(result, int) else 0


def _unforeseen(error: Exception) -> int:
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        # Files that a command works with have errors of their own; what is left is its output.
        _drop_output()
        click.echo(f"proxid: {Code.OUTPUT_FAILED}: the output cannot be written, nothing more fits", err=True)
        return 2
    # Its text and a traceback's lines may quote data; whoever looks for the fault asks for them.
    if os.environ.get("PROXID_TRACEBACK"):
        traceback.print_exc()
    click.echo(f"proxid: {Code.INTERNAL}: {type(error).__name__} (PROXID_TRACEBACK=1 shows where)", err=True)
    return 2


if __name__ == "__main__":
    sys.exit(main())
