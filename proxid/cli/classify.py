"""`proxid classify`: type, topic, identifiers and slots of utterances (DESIGN 6, 15)."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from proxid.classify import Classification, Pipeline
from proxid.errors import InputError
from proxid.regular import open_stream
from proxid.runtime.process.threads import one_blas_thread

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
MANY = 2000
"""From that many utterances on, a progress bar is shown."""


@click.command(
    "classify", epilog='Example: proxid classify "call maria lopez at six one seven five five five oh one two three"'
)
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@click.option("--file", "path", type=FILE, help="One utterance a line; without TEXT and FILE, standard input.")
@click.option("--json", "as_json", is_flag=True, help="Print one object a line.")
@click.option("--explain", "why", is_flag=True, help="Say why: rules, words that mattered, runners-up.")
@click.option("--method", type=click.Choice(["network", "thesis"]), default="network", show_default=True,
              help="How queries are filed; `thesis` is Algorithm 1 of Pàmies-Estrems' thesis.")  # fmt: skip
@click.option("--ontology", type=FILE, help="Another ontology: id,parent,name, or an Open Directory dump.")
@click.option("--public-figures", type=click.Choice(["mask", "keep"]), default="mask", show_default=True,
              help="Whether names of public figures are left standing.")  # fmt: skip
def command(texts: tuple[str, ...], path: Path | None, as_json: bool, why: bool, **choice: Any) -> int:
    """Show of each TEXT its type, confidence, path in the ontology, masked text and slots.

    A type of `rejected` means: answer it, log nothing. Without a masked text it must be withheld altogether.
    """
    one_blas_thread()
    from proxid.classify import load_default

    if texts and path is not None:
        raise InputError("give TEXT or --file, not both")
    pipeline = load_default(choice["public_figures"], choice["method"], choice["ontology"])
    utterances = list(texts) if texts else list(_lines(path))
    shown = utterances if len(utterances) < MANY else track(utterances, console=Console(stderr=True), transient=True)
    for text in shown:
        found = pipeline.classify(text)
        if as_json:
            click.echo(json.dumps(as_object(found) | (_why(pipeline, text) if why else {}), ensure_ascii=False))
        else:
            _print(found, _why(pipeline, text)["why"] if why else {})
    return 0


def as_object(found: Classification) -> dict[str, Any]:
    """The fields of DESIGN 15."""
    return {
        "type": None if found.type is None else str(found.type),
        "confidence": round(found.confidence, 4),
        "path": list(found.path),
        "masked": found.masked,
        "slots": [{"kind": slot.kind, "value": slot.value} for slot in found.slots],
    }


def _why(pipeline: Pipeline, text: str) -> dict[str, Any]:
    from proxid.classify.explain import explain

    return {"why": explain(pipeline, text)}


def _lines(path: Path | None) -> Iterator[str]:
    try:
        # Whatever the locale: bytes that are no UTF-8 are marked, and the line is withheld.
        source = sys.stdin.buffer if path is None else open_stream(path)
        with io.TextIOWrapper(source, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                yield line.rstrip("\r\n")
    except OSError as error:
        rule = f"the file of utterances cannot be read: {error.strerror}"
        raise InputError(rule).at("standard input" if path is None else str(path)) from None


def _print(found: Classification, why: dict[str, Any]) -> None:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("type", f"{found.type or 'rejected'} ({found.confidence:.2f})")
    rows = {
        "masked": found.masked if found.masked is not None else "withheld",
        "path": " / ".join(found.path),
        "intent": found.intent or "",
        "shape": " / ".join(found.shape),
        "slots": ", ".join(f"{slot.kind}={slot.value}" for slot in found.slots),
        "units": ", ".join(found.units),
    }
    for name, value in (rows | {key: _text(value) for key, value in why.items()}).items():
        if value:
            table.add_row(name, value)
    console = Console(markup=False, highlight=False, emoji=False)
    console.print(table)
    console.print()


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    if isinstance(value, list):
        return "; ".join(" ".join(map(str, item.values())) for item in value)
    return str(value)
