"""How a command says on stderr that it could not be done: why, where, and what to try; with `--json` as an object."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from proxid.errors import STEPS, Code, ProxidError, RefusedError, next_of


def tell(error: ProxidError, argv: Sequence[str]) -> None:
    """Say it of an error; where is left out if the reason names it."""
    remote = error.remote if isinstance(error, RefusedError) else None
    say(error.code, error.rule, argv, error.where, next_of(remote or error.code, error.next), remote)


def say(
    code: Code, why: str, argv: Sequence[str], where: str = "", step: str | None = None, remote: Code | None = None
) -> None:  # fmt: skip
    """Say it in two or three lines, or as `{"error": {…}}` if the command was to print an object.

    Args:
        argv: of the command. step: what to try; the table's if None. remote: the code that the other side gave.
    """
    step = STEPS[code].next if step is None else step
    if wants_json(argv):
        said = {"code": code.value, "what": STEPS[remote or code].what, "why": why, "where": where, "next": step}
        if remote is not None:
            said["remote"] = remote.value
        click.echo(json.dumps({"error": said}), err=True)
        return
    click.echo(f"proxid: {code}: {why}", err=True)
    if where and where not in why:
        click.echo(f"  where: {where}", err=True)
    if step and step not in why:
        click.echo(f"  try: {step}", err=True)


@contextmanager
def about(path: Path) -> Iterator[None]:
    """Whatever fails within the block is about this file, unless it names another."""
    try:
        yield
    except ProxidError as error:
        error.at(str(path))
        raise


def wants_json(argv: Sequence[str]) -> bool:
    """Whether a command was to print an object."""
    words = list(argv)
    return "--json" in words[: words.index("--") if "--" in words else len(words)]
