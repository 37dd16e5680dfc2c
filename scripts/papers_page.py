"""What the papers describe, row by row, with the command that shows it and what that printed: docs/results/papers.md.

The rows are those of papers_rows.toml. Commands are run as a user would, on a small synthetic log, tests by pytest.
Some minutes of one core. Exit status 1 if one failed: the page is then not written.

Example: python scripts/papers_page.py docs/results/papers.md
"""

import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import click

from proxid.classify import corpora
from proxid.cli.main import main as proxid

ROOT: Final = Path(__file__).resolve().parents[1]
HEAD: Final = """# Results: what the papers describe, row by row

`python scripts/papers_page.py docs/results/papers.md` ran each row's command, one after another in one folder, and
wrote what stands beside it. Sizes are the smallest that show a mechanism at work; noise is fresh in every run. Figures
to compare with the papers' are those of [query-log-lab.md](query-log-lab.md) and [releases.md](releases.md); where one
differs from a paper's, and what is known of why, the studies say under their tables. 000 to 004:
[papers.md](../papers.md). `printed.tsv` holds the queries that the papers print, `worked.tsv` the thesis's example of a
profile, `groups.tsv` everybody who asked the log's most frequent query.

| paper | what | `proxid …` | printed |
|---|---|---|---|
"""
PROFILES: Final = """
Everybody's profile of the printed queries, as asked and as published (`proxid profile printed.tsv --top 4`, `proxid
profile printed.out.tsv --top 4`): a share of 2 to 4 % is one or two queries. The thesis prints no profile of its
queries; the one that it works out (§3.3.4.3) stands above, digit by digit.

| person | as asked | as published |
|---|---|---|
"""
WORKED: Final = {"Science": 5, "Business": 10, "Arts": 20, "Health": 5, "Computers": 10, "Sports": 1}
"""002 §3.3.4.3: a person's queries by category, the new one under Sports."""
SHOWN: Final = 5
"""Categories of a profile that are printed."""
TESTS: Final = """
What runs as services, or is a statement about all inputs, tests show:

| paper | what | `python -m pytest …` | passed |
|---|---|---|---|
"""
Told = Callable[[str], None]


class FailedError(Exception):
    """A row that did not do what it should."""


def prepare() -> None:
    """The queries that the papers print, as a log in which four people ask each; the thesis's example of a profile."""
    queries = [row["query"] for row in corpora.table("queries_printed.tsv")]
    rows = [f"{user}\t{query}\t2006-03-01 07:17:12\t\t\n" for query in queries for user in range(1, 5)]
    head = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"
    Path("printed.tsv").write_text(f"{head}\n" + "".join(rows))
    example = [f"1\t{name} {i}\t2006-03-01 07:17:12\t\t\t{name}\n" for name, n in WORKED.items() for i in range(n)]
    Path("worked.tsv").write_text(f"{head}\tCategory\n" + "".join(example))


def group() -> None:
    """Everybody who asked the log's most frequent query, as a group that is known."""
    askers: dict[str, set[str]] = {}
    for line in Path("log.tsv").read_text().splitlines()[1:]:
        user, query = line.split("\t")[:2]
        askers.setdefault(query, set()).add(user)
    most = max(askers.values(), key=len)
    Path("groups.tsv").write_text("".join(f"{user}\tknown\n" for user in sorted(most)))


def run(row: dict[str, str]) -> str:
    """What a row's command shows. Raises FailedError."""
    found = _with_sums(printed(row["run"]))
    try:
        return row["show"].format(f=found)
    except (LookupError, TypeError, ValueError) as error:
        raise FailedError(f"proxid {row['run']}: {type(error).__name__} {error}") from None


def printed(command: str) -> dict[str, Any]:
    """The object that a command of proxid prints. Raises FailedError."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = proxid(shlex.split(command))
    try:
        found: dict[str, Any] = json.loads(out.getvalue())
    except ValueError:
        raise FailedError(f"proxid {command}: status {status}: {err.getvalue().strip()[-300:]}") from None
    return found


def profiles_table() -> str:
    """A row a person of the printed queries' log and of its release. Raises FailedError."""
    asked, published = (
        _largest(printed(f"profile {log} --top 4 --json")["profiles"]) for log in ("printed.tsv", "printed.out.tsv")
    )
    return "".join(f"| {user} | {asked[user]} | {published.get(user, '')} |\n" for user in sorted(asked))


def _largest(profiles: dict[str, Any]) -> dict[str, str]:
    """The largest shares of every profile, in words."""
    found = {}
    for user, profile in profiles.items():
        shares = sorted(profile["percent"].items(), key=lambda item: (-item[1], item[0]))
        found[user] = ", ".join(f"{name} {share} %" for name, share in shares[:SHOWN])
    return found


def _with_sums(found: dict[str, Any]) -> dict[str, Any]:
    """What a command printed, and what is counted of it."""
    sums: dict[str, Any] = {}
    if isinstance(found.get("files"), list):
        sums["written"] = len(found["files"])
    if "mechanisms" in found:
        sums["rows_of_table"] = len(found["mechanisms"])
    for profile in list(found.get("profiles", {}).values())[:1]:
        shares = [f"{name} {share} %" for name, share in sorted(profile["percent"].items(), key=lambda item: -item[1])]
        sums |= {"top": ", ".join(shares[:3]), "every": ", ".join(shares)}
    return {**found, **sums}


def tested(place: str) -> str:
    """How many tests of a file passed. Raises FailedError if not all."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", place]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    last = (done.stdout.strip() or "nothing was said").splitlines()[-1]
    if done.returncode:
        raise FailedError(f"{place}: {last}")
    return last.split(" ", 1)[0]


def page(told: Told) -> str:
    """The page as Markdown. Raises FailedError."""
    rows = tomllib.loads((ROOT / "scripts/papers_rows.toml").read_text(encoding="utf-8"))
    text = HEAD
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        prepare()
        for row in rows["row"]:
            told(row["run"])
            text += f"| {row['paper']} | {row['what']} | `{row['run']}` | {run(row)} |\n"
            if row["run"].startswith("synth"):
                group()
        text += PROFILES + profiles_table()
    text += TESTS
    for row in rows["test"]:
        told(row["run"])
        text += f"| {row['paper']} | {row['what']} | `{row['run']}` | {tested(row['run'])} |\n"
    return text


def main(arguments: Sequence[str]) -> int:
    """Write the page to the file named."""
    target = Path(arguments[0]).resolve()
    os.environ.setdefault("COLUMNS", "200")
    try:
        text = page(lambda command: click.echo(command, err=True))
    except FailedError as error:
        click.echo(str(error), err=True)
        return 1
    target.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
