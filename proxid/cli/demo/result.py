"""What the demo ends with: the auditor's verdict, the first rows of a feed, one last line."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from proxid.cli.demo.knowledge import Told
from proxid.clients.subscriber.command import contents_table, table_of
from proxid.clients.subscriber.rows import RUNGS

_FIRST_ROWS: Final = 4
"""Rows shown of each rung and of each other kind."""
_FIRST_CONTENTS: Final = 12
"""Rows shown of each of the two feeds of form `split`."""


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The auditor's report, each party's groups as it kept them, and what each knew of one request."""

    people: int
    report: dict[str, Any]
    feeds: dict[str, list[dict[str, Any]]]
    told: Told | None = None

    @property
    def clean(self) -> bool:
        """Whether the audit found nothing."""
        return str(self.report["verdict"]) == "clean"

    @property
    def requests(self) -> int:
        """Requests that were answered, by the evidence."""
        return int(self.report["counts"].get("requests", 0))

    @property
    def released(self) -> int:
        """Records released in groups; each goes to every party of its audience."""
        return int(self.report["counts"].get("released", 0))

    @property
    def delivered(self) -> int:
        """Records that parties hold, verified and acknowledged, all parties together."""
        return sum(len(group["records"]) for groups in self.feeds.values() for group in groups)

    @property
    def withheld(self) -> int:
        """Requests of which nothing was released: suppressed, not logged, or still waiting at the end."""
        return self.requests - self.released

    @property
    def verdict(self) -> str:
        """In words."""
        return "clean" if self.clean else f"violated {len(self.report['violations'])} times"

    def last_line(self) -> str:
        """The whole demo in one line."""
        return (
            f"demo: {self.requests} requests, {self.released} released, {self.delivered} delivered, "
            f"{self.withheld} withheld, audit {self.verdict}"
        )

    def rows(self, party: str) -> list[dict[str, Any]]:
        """A party's records in the order of its feed."""
        return [row for group in self.feeds.get(party, []) for row in group["records"]]

    def contents(self, party: str) -> dict[str, Any] | None:
        """The first contents that a party got, of form `split`."""
        return next((group["contents"] for group in self.feeds.get(party, []) if "contents" in group), None)

    def rungs(self, party: str) -> dict[str, list[dict[str, Any]]]:
        """A party's general queries by rung of the ladder (8.7)."""
        rows = [row for row in self.rows(party) if row["kind"] == "general"]
        return {rung: [row for row in rows if row["rung"] == rung] for rung in RUNGS}

    def as_dict(self) -> dict[str, Any]:
        """The same as an object."""
        counts = self.report["counts"]
        return {
            "requests": self.requests,
            "released": self.released,
            "delivered": self.delivered,
            "withheld": self.withheld,
            "audit": "clean" if self.clean else "violated",
            "violations": self.report["violations"],
            "people": self.people,
            "groups": counts.get("groups", 0),
            "waiting": counts.get("waiting", 0),
            "pending": counts.get("pending", 0),
            "withheld_by_reason": _reasons(counts),
            "kinds": {party: Counter(row["kind"] for row in self.rows(party)) for party in self.feeds},
            "one_request": None if self.told is None else self.told.rows(),
            "rungs": {party: {rung: len(rows) for rung, rows in self.rungs(party).items()} for party in self.feeds},
        }


def _reasons(counts: dict[str, int]) -> dict[str, int]:
    prefix = "withheld."
    return {name.removeprefix(prefix): count for name, count in counts.items() if name.startswith(prefix)}


def show(result: DemoResult, console: Console) -> None:
    """Verdict, counts, and first rows of one party's feed: of form `split` its two sides, of pairs each rung."""
    console.print(_verdict(result))
    for violation in result.report["violations"]:
        console.print(f"  check {violation['rule']}, {violation['log']}: {violation['text']}", markup=False)
    party = next(iter(result.feeds), None)
    if party is None:
        return
    contents = result.contents(party)
    if contents is not None:
        console.print(_side_by_side(result, party, contents))
    others = (
        [] if contents is not None else [row for rows in result.rungs(party).values() for row in rows[:_FIRST_ROWS]]
    )
    for kind in ("location", "command"):
        others += [row for row in result.rows(party) if row["kind"] == kind][:_FIRST_ROWS]
    if others:
        console.print(table_of(others, f"first rows of {party}'s groups, by kind and by what is shown of a text"))
    if result.told is not None:
        console.print(result.told.table())


def _side_by_side(result: DemoResult, party: str, contents: dict[str, Any]) -> Table:
    """The two feeds of form `split`; neither says which of its rows belong to which of the other's."""
    people = Table(title=f"{party}'s entries: who asked about what", title_justify="left")
    people.add_column("user", no_wrap=True, min_width=11)
    people.add_column("about", no_wrap=True, min_width=7)
    people.add_column("from (UTC)", no_wrap=True, min_width=8)
    entries = [row for row in result.rows(party) if row["mode"] == "split"]
    for row in entries[:_FIRST_CONTENTS]:
        people.add_row(row["user"], row["category"], row["time"][11:19])
    asked = contents_table(contents, "and what was asked, by nobody, in one epoch", _FIRST_CONTENTS)
    both = Table.grid(padding=(0, 1))
    both.add_row(people, asked)
    return both


def _verdict(result: DemoResult) -> Table:
    table = Table(title=f"audit: {result.verdict}", title_justify="left", show_header=False)
    counts = result.report["counts"]
    table.add_row("requests answered", str(result.requests))
    table.add_row("releases", str(counts.get("groups", 0)))
    table.add_row("records released", str(result.released))
    for party, groups in result.feeds.items():
        table.add_row(f"records held by {party}", str(sum(len(group["records"]) for group in groups)))
    for reason, count in sorted(_reasons(counts).items()):
        table.add_row(f"withheld, {reason}", str(count))
    table.add_row("waiting for others", str(counts.get("waiting", 0)))
    table.add_row("groups not delivered yet", str(counts.get("pending", 0)))
    for check, count in result.report["checked"].items():
        table.add_row(f"looked at by check {check}", str(count))
    return table
