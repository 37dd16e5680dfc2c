"""What the gateway says of its feeds, held against both logs (check 8 of DESIGN 10.4): no group vanishes.

EPOCH_OPENED and ERASED name the last release that the gateway had handled, and how many groups waited for each party
then: as many as had been released to it up to that one, less those that were delivered or dropped before.
"""

from dataclasses import dataclass, field

from auditor.checks.c7_completeness import Sets
from auditor.findings import ERASURE, GATEWAY, Report
from proxid.evidence.events import Event

FEEDS, LAST = "feeds", "last"
"""Header fields: `PARTY:COUNT` of each party, and `EPOCH/GROUP/PARTY` or empty."""

Stated = tuple[int, str, str, dict[str, tuple[int, int]]]
"""Number and type of the event, last release, and by party how many groups wait, and how many do not any more."""


@dataclass(slots=True)
class Feeds:
    """Statements that were not confirmed yet; `stated` is what has to be stored."""

    sets: Sets
    stated: list[Stated] = field(default_factory=list)

    def state(self, event: Event) -> None:
        """An event that may say what waits in feeds."""
        texts, last = event.fields.get(FEEDS), event.fields.get(LAST)
        if not isinstance(texts, list) or not isinstance(last, str):
            return
        rows = {}
        for text in texts:
            party, _, waiting = str(text).rpartition(":")
            rows[party] = (int(waiting), self.sets.settled(party))
        if last:
            named(last)
        self.stated.append((event.number, event.type.value, last, rows))

    def check(self, report: Report) -> None:
        """At the end: what each party's feed should have held. What MS's log does not name yet is looked at again."""
        report.checked[ERASURE] += len(self.stated)
        left = []
        for stated in self.stated:
            number, kind, last, rows = stated
            place = self.sets.place(named(last)) if last else 0
            if place is None:
                left.append(stated)
            elif not self._is_whole(number, place, rows):
                left.append(stated)
                report.add(ERASURE, GATEWAY, number, f"{kind}: groups vanished from a feed without being dropped")
        self.stated = left

    def _is_whole(self, number: int, place: int, rows: dict[str, tuple[int, int]]) -> bool:
        if self.sets.last_settled(number) > place:
            return False
        return all(self.sets.releases(place, party) == sum(counts) for party, counts in rows.items())


def named(text: str) -> tuple[int, int, str]:
    """Epoch, group and party of a release; raises ValueError."""
    epoch, group, party = text.split("/", 2)
    return int(epoch), int(group), party
