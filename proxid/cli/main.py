"""Entry point of the `proxid` command: a group that imports a subcommand only when it is used.

Exit status: 0 done, 1 a check failed (an audit violation, say), 2 could not be done; 141, as for any tool, when whoever
read its output went away, 143 and 130 after SIGTERM and Ctrl-C (129 when its terminal goes).
"""

import errno
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

from proxid import __version__
from proxid.cli.failing import say, tell, wants_json
from proxid.errors import Code, ProxidError
from proxid.runtime.process.ended import EndedError, ended_by_signals

# Before a subcommand imports gRPC: its C core reads this once, and writes lines of its own, addresses and all.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

_PIPE_CLOSED: Final = 128 + signal.SIGPIPE

COMMANDS: dict[str, str] = {
    "admit": "proxid.cli.joining:admit",
    "agent": "proxid.clients.agent.command:command",
    "audit": "auditor.commands.audit:command",
    "bench": "bench:command",
    "classify": "proxid.cli.classify:command",
    "demo": "proxid.cli.demo:command",
    "device": "device_sim.commands:command",
    "doctor": "proxid.cli.doctor:command",
    "explain": "auditor.commands.explain:command",
    "init": "proxid.cli.init:command",
    "invite": "proxid.cli.joining:invite",
    "join": "proxid.cli.joining:join",
    "mend": "proxid.cli.mend:command",
    "policy": "proxid.cli.policy:command",
    "profile": "proxid.cli.profile:command",
    "report": "proxid.cli.report:command",
    "serve": "proxid.cli.serve:command",
    "subscribe": "proxid.clients.subscriber.command:command",
    "witness": "auditor.commands.witness:command",
}
"""Name of each subcommand and `module:attribute` that holds its click command."""

LABORATORY: dict[str, str] = {
    "attack": "proxid.lab.commands.attack:command",
    "budget": "proxid.lab.commands.budget:command",
    "evaluate": "proxid.lab.commands.evaluate:command",
    "import": "proxid.lab.commands.imports:command",
    "release": "proxid.lab.commands.release:command",
    "study": "proxid.lab.commands.study:command",
    "synth": "proxid.lab.commands.synth:command",
}
"""Those of the query-log laboratory: without its packages each says that it needs them."""

_AS_IT_IS: Final = "\b\n"
"""Before a paragraph that click is not to wrap."""
_PACKAGES: Final = ("numba", "pyarrow", "opendp", "matplotlib", "scipy", "duckdb", "ibis", "snowballstemmer", "ijson")
NEEDED: Final = "needs the laboratory: make lab"
_RIGHTS: Final = "see that it is there, what it is to be, and its owner's to read and write"
_CHECKOUT: Final = Path(__file__).resolve().parents[2]
"""Benchmarks are not installed: they lie beside the packages in a checkout."""


class _ReaderGoneError(Exception):
    """Whoever read the output went away."""


def _drop_output() -> None:
    """What is flushed at the end goes nowhere: it would fail once more, and change the status."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _keep_examples_whole(command: click.Command) -> None:
    """An example is copied from the help: wrapped at the terminal's width it would be two commands."""
    if command.epilog and not command.epilog.startswith(_AS_IT_IS):
        command.epilog = _AS_IT_IS + command.epilog
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            _keep_examples_whole(inner)


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
        return sorted(name for name in COMMANDS | LABORATORY if name != "bench" or (_CHECKOUT / "bench").is_dir())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in LABORATORY and not has_laboratory():
            return _missing(cmd_name)
        target = (COMMANDS | LABORATORY).get(cmd_name)
        if target is None or cmd_name not in self.list_commands(ctx):
            return None
        if cmd_name == "bench" and str(_CHECKOUT) not in sys.path:
            sys.path.insert(0, str(_CHECKOUT))
        module, attribute = target.split(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        _keep_examples_whole(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        wings = {"Commands": COMMANDS, "Laboratory": LABORATORY}
        for heading, names in wings.items():
            commands = [(n, self.get_command(ctx, n)) for n in self.list_commands(ctx) if n in names]
            rows = [(name, command.get_short_help_str(80)) for name, command in commands if command is not None]
            with formatter.section(heading):
                formatter.write_dl(rows)


def has_laboratory() -> bool:
    """Whether the laboratory's packages are installed."""
    return all(find_spec(package) is not None for package in _PACKAGES)


def _missing(name: str) -> click.Command:
    """What stands for a command whose packages are not installed: whatever it is asked, it says so."""

    def say(**_: object) -> int:
        click.echo(f"proxid: {name} {NEEDED}", err=True)
        return 2

    return click.Command(
        name,
        callback=say,
        help=NEEDED,
        params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)],
        add_help_option=False,
        context_settings={"ignore_unknown_options": True},
    )


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
            return EndedError(ending.number).status if ending.number else _unforeseen(error, argv or sys.argv[1:])


def _status(argv: Sequence[str] | None) -> int:
    words = sys.argv[1:] if argv is None else argv
    try:
        result = proxid.main(args=argv, prog_name="proxid", standalone_mode=False)
    except ProxidError as error:
        tell(error, words)
        return 2
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        step = f"{context.command_path} --help" if context is not None else None
        named = isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter)
        if named or wants_json(words):
            # A folder for a file, a file that is not there, a word for a number: the line says which and why.
            say(Code.INPUT_INVALID, error.format_message(), words, step=step)
        else:
            error.show()
        return 2
    except _ReaderGoneError:
        return _PIPE_CLOSED
    return result if isinstance(result, int) else 0


def _is_text(word: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in word)


def _unforeseen(error: Exception, argv: Sequence[str]) -> int:
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        # Files that a command works with have errors of their own; what is left is its output.
        _drop_output()
        say(Code.OUTPUT_FAILED, "the output cannot be written, nothing more fits", argv)
        return 2
    if isinstance(error, OSError) and isinstance(error.filename, str):
        # Readers have errors of their own; what is left is a folder or a file that was looked for beside them.
        say(Code.INPUT_INVALID, f"{Path(error.filename).name}: {error.strerror}", argv, error.filename, _RIGHTS)
        return 2
    if isinstance(error, UnicodeEncodeError) and not all(map(_is_text, argv)):
        say(Code.INPUT_INVALID, "an argument holds bytes that are no UTF-8", argv)
        return 2
    # Its text and a traceback's lines may quote data; whoever looks for the fault asks for them.
    if os.environ.get("PROXID_TRACEBACK"):
        traceback.print_exc()
    say(Code.INTERNAL, type(error).__name__, argv)
    return 2


if __name__ == "__main__":
    sys.exit(main())
