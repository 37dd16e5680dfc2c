"""The demo's live view; plain lines where there is no terminal."""

import time
from typing import Final

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from device_sim.replay import Summary
from proxid.cli.demo.tally import Tally

_NODES: Final = 8
_LINE_SECONDS: Final = 5.0


class DemoView:
    """Draws what it is told.

    Args:
        console: where to. k: for how many people let records leave.
    """

    def __init__(self, console: Console, k: int) -> None:
        self._console = console
        self._need = k + 2
        self._begun = time.monotonic()
        self._printed = 0.0
        self._stage = ""
        self._expected = self._consents = 0
        self._summary = Summary()
        self._tally: Tally | None = None
        self._live = Live(console=console, refresh_per_second=4, transient=True) if console.is_terminal else None
        if self._live is not None:
            self._live.start()

    def say(self, stage: str) -> None:
        """A new stage."""
        if stage != self._stage:
            self._stage = stage
            if self._live is None:
                self._console.print(f"{self._seconds():5.1f} s  {stage}", highlight=False)
        self._draw()

    def expect(self, requests: int) -> None:
        """How many requests there will be."""
        self._expected = requests

    def consented(self) -> None:
        """One more person has chosen."""
        self._consents += 1
        self._draw()

    def replayed(self, summary: Summary) -> None:
        """How far the replay is."""
        self._summary = summary
        self._draw()

    def seen(self, tally: Tally) -> None:
        """What the services have recorded."""
        self._tally = tally
        self._draw()

    def close(self) -> None:
        """Give the terminal back."""
        if self._live is not None:
            self._live.stop()

    def _seconds(self) -> float:
        return time.monotonic() - self._begun

    def _draw(self) -> None:
        if self._live is not None:
            self._live.update(self._picture())
        elif self._seconds() - self._printed >= _LINE_SECONDS and self._tally is not None:
            self._printed = self._seconds()
            self._console.print(f"{self._seconds():5.1f} s  {self._line()}", highlight=False)

    def _line(self) -> str:
        assert self._tally is not None
        events = self._tally.events
        return (
            f"{self._summary.answered} requests, {events['LINKED']} pseudonyms, {events['RELEASED']} releases, "
            f"{sum(self._tally.delivered.values())} records delivered"
        )

    def _picture(self) -> Group:
        title = Text(f"{self._seconds():5.1f} s  {self._stage}", style="bold")
        if self._tally is None:
            return Group(title)
        return Group(title, self._counts(self._tally), self._nodes(self._tally))

    def _counts(self, tally: Tally) -> Table:
        table = Table.grid(padding=(0, 2))
        answered, events = self._summary.answered, tally.events
        bar = ProgressBar(total=max(1, self._expected), completed=answered, width=40)
        table.add_row("requests", f"{answered} of {self._expected}", bar)
        table.add_row("pseudonyms", str(events["LINKED"]), f"{self._consents} have chosen a consent")
        table.add_row("records waiting", str(sum(len(w) for w in tally.waiting.values())), "")
        table.add_row("releases", str(events["RELEASED"]), f"{tally.released} records")
        for party, count in sorted(tally.delivered.items()):
            table.add_row(f"delivered to {party}", str(count), "")
        withheld = ", ".join(f"{reason} {count}" for reason, count in tally.withheld.most_common())
        table.add_row("withheld", str(sum(tally.withheld.values())), withheld)
        return table

    def _nodes(self, tally: Tally) -> Table:
        table = Table(title=f"people waiting; from {self._need} on records may leave", title_justify="left", box=None)
        table.add_column("category")
        table.add_column("people", justify="right")
        table.add_column("")
        for node, people in tally.filling()[:_NODES]:
            bar = ProgressBar(total=self._need, completed=min(people, self._need), width=20)
            table.add_row(node or "(top)", str(people), bar)
        return table
