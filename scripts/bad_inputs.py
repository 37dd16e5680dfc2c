"""What the commands make of the files of a folder, as a table: input, command, what it said, exit status.

Logs are released (and so read, counted and charged to a ledger of their own) and enrolled from, as a household's file
of utterances; other texts are classified, a line an utterance; `.args` holds lines of arguments, put before a small
log. Nothing is kept, nothing is asked of a network. Exit status 1 if a command failed in a way that nobody foresaw.

Example: python scripts/bad_inputs.py tests/inputs
"""

import argparse
import contextlib
import datetime
import io
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.table import Table

from proxid.cli.main import main as proxid
from proxid.runtime.provision import TrialOptions, init_trial

_LOGS: Final = (".tsv", ".jsonl", ".ndjson", ".parquet", ".json", ".csv")
_PROGRAMS: Final = (".py", ".sh", ".md")
_RELEASE: Final = ("release", "--method", "partition", "--m", "1", "--epsilon", "1", "--delta", "1e-3")
_SMALL: Final = "".join(f"u{n}\tweather\n" for n in range(9))
_WIDTH: Final = 160


@dataclass(frozen=True)
class Outcome:
    """What became of one input: the command's first word, its last line on stderr, its exit status."""

    input: str
    command: str
    said: str
    status: int

    @property
    def unforeseen(self) -> bool:
        """Whether nobody foresaw it."""
        return self.status not in (0, 1, 2) or "proxid: internal" in self.said


class Inputs:
    """Runs commands on inputs, in a folder that is deleted afterwards."""

    def __init__(self, scratch: Path) -> None:
        self._scratch, self._count = scratch, 0
        init_trial(scratch / "trial", TrialOptions((), ("one",)), datetime.datetime.now(datetime.UTC))
        (scratch / "small.tsv").write_text(_SMALL)

    def run(self, path: Path, name: str) -> Iterator[Outcome]:
        """The outcomes of one input."""
        ending = Path(path.name.removesuffix(".gz")).suffix.lower()
        if ending in _PROGRAMS:
            return
        if ending == ".args":
            for line in path.read_text("utf-8", "replace").splitlines():
                yield self._outcome(f"{name}: {line}", [*line.split(), str(self._scratch / "small.tsv"), *self._own()])
        elif ending in _LOGS or b"\t" in path.read_bytes()[:4096]:
            yield self._outcome(name, [*_RELEASE, str(path), *self._own()])
            yield self._outcome(name, ["device", "enrol", "--users-of", str(path), *self._household()])
        else:
            yield self._outcome(name, ["classify", "--file", str(path), "--json"])

    def _own(self) -> list[str]:
        """An output and a ledger that no other input has."""
        self._count += 1
        return ["-o", str(self._scratch / f"{self._count}.tsv"), "--ledger", str(self._scratch / f"{self._count}.json")]

    def _household(self) -> list[str]:
        trial = self._scratch / "trial"
        self._count += 1
        request = str(self._scratch / f"{self._count}.request")
        return ["--config", str(trial / "devices/one/device.toml"), "--request", request]

    def _outcome(self, name: str, words: Sequence[str]) -> Outcome:
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            try:
                status = proxid(words)
            except BaseException as error:  # whatever comes out of a command is what it did
                status = 70
                errors.write(type(error).__name__)
        said = " ".join(errors.getvalue().replace(str(self._scratch), "").split())
        return Outcome(name, words[0], said, status)


def outcomes_of(folder: Path) -> list[Outcome]:
    """What becomes of every file of a folder, by name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    with tempfile.TemporaryDirectory(prefix="proxid-inputs-") as scratch:
        inputs = Inputs(Path(scratch))
        return [found for path in files for found in inputs.run(path, str(path.relative_to(folder)))]


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true", help="print an object a line")
    asked = parser.parse_args(argv)
    found = outcomes_of(asked.folder)
    if asked.json:
        click.echo("\n".join(json.dumps(asdict(outcome)) for outcome in found))
    else:
        table = Table("input", "command", "what happens", "exit")
        for outcome in found:
            table.add_row(outcome.input, outcome.command, outcome.said or "done", str(outcome.status))
        Console(width=None if sys.stdout.isatty() else _WIDTH, markup=False).print(table)
    return 1 if any(outcome.unforeseen for outcome in found) else 0


if __name__ == "__main__":
    sys.exit(main())
