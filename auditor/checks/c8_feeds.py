"""What the gateway says of its feeds, held against both logs (check 8 of DESIGN 10.4): no group vanishes.

EPOCH_OPENED and ERASED name the last release that the gateway had handled, and how many groups waited for each party
then: as many as had been released to it up to that one, less those that were delivered or dropped before. A gateway
that was brought up from version 1 does not know the last release until there is one, and says nothing until then;
what it says first covers all that was before, and while it is silent nothing is clean.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from auditor.checks.c7_completeness import Sets
from auditor.findings import COMPLETENESS, ERASURE, GATEWAY, MAIN_SERVICE, Report, Unchecked
from proxid.errors import GroupMismatchError
from proxid.evidence.events import Event, EventType

FEEDS, LAST = "feeds", "last"
"""Header fields: `PARTY:COUNT` of each party, and `EPOCH/GROUP/PARTY` or empty."""

Stated = tuple[int, str, str, dict[str, tuple[int, int]]]
"""Number and type of the event, last release, and by party how many groups wait, and how many do not any more."""


@dataclass(slots=True)
class Feeds:
    """Statements that were not confirmed yet; `stated` and `spoken` are what has to be stored.

    Attributes:
        follows: the log is a successor, so that its gateway may have been of version 1. spoken: there was a statement.
        silent: number of the first event that said nothing while nothing had been said; 0 if there is none.
        openings: of the last three EPOCH_OPENED the epoch, their number, and the last release handled by then.
        behind: what was found to be held back, in words.
    """

    sets: Sets
    stated: list[Stated] = field(default_factory=list)
    follows: bool = False
    spoken: bool = False
    silent: int = 0
    openings: list[tuple[int, int, str]] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)

    def state(self, event: Event, parties: Iterable[str] = ()) -> None:
        """An event that says what waits in feeds.

        Args:
            parties: those that must be named.

        Raises:
            GroupMismatchError: it says nothing, or nothing of one of these parties.
        """
        texts, last = event.fields.get(FEEDS), event.fields.get(LAST)
        if texts == [] and last == "" and self.follows and not self.spoken:
            self.silent = self.silent or event.number
            return
        if not isinstance(texts, list) or not isinstance(last, str):
            raise GroupMismatchError("event does not say what waits in the feeds")
        rows, self.spoken = {}, True
        for text in texts:
            party, _, waiting = str(text).rpartition(":")
            if party in rows:
                raise GroupMismatchError("event says twice what waits for a party")
            rows[party] = (int(waiting), self.sets.settled(party))
        if last:
            named(last)
        if not rows.keys() >= set(parties):
            raise GroupMismatchError("event does not say what waits for each party of the policy")
        self.stated.append((event.number, event.type.value, last, rows))
        if event.type is EventType.EPOCH_OPENED:
            self.openings = [*self.openings[-2:], (int(str(event.fields["epoch"])), event.number, last)]

    def had_come(self, event: Event) -> None:
        """OBJECTED names the last release that the gateway had handled when that took effect, well before it is
        recorded: what waited at which of the two, it does not say. Raises ValueError if it names none.
        """
        if last := str(event.fields.get(LAST, "")):
            named(last)
            self.stated.append((event.number, event.type.value, last, {}))

    def check(self, seen: int, report: Report) -> None:
        """At the end: what each party's feed should have held. What MS's log does not name yet is looked at again.

        What MS released behind a request that was forwarded after an event had not come by that event.

        Args:
            seen: the gateway's last event before MS's log was read: of these MS's log names all that they name.
        """
        report.checked[ERASURE] += len(self.stated)
        numbers, left = [number for number, *_ in self.stated], []
        settled, later = self.sets.order.last_settled(numbers), self.sets.order.first_received(numbers)
        for stated in self.stated:
            number, kind, last, rows = stated
            place = self.sets.place(named(last)) if last else 0
            if place is None:
                left.append(stated)
                if number <= seen:
                    report.add(ERASURE, GATEWAY, number, f"{kind}: names a release that there never was")
            elif last and (self.sets.released_at(named(last)) or 0) > later.get(number, sys.maxsize):
                report.add(ERASURE, GATEWAY, number, f"{kind}: names a release that had not come yet")
            elif kind != EventType.OBJECTED and (settled[number] > place or not self._is_whole(place, rows)):
                left.append(stated)
                report.add(ERASURE, GATEWAY, number, f"{kind}: groups vanished from a feed without being dropped")
        self.stated = left
        self._verify_handed_over(report)
        if self.silent and not self.spoken and self.sets.releases():
            text = f"what waits in the feeds is not said (leaf {self.silent}), although groups were released"
            report.missing.append(Unchecked(ERASURE, GATEWAY, text))

    def _verify_handed_over(self, report: Report) -> None:
        """What was released before two epochs began had been handed over when the third did."""
        if len(self.openings) < 3:
            return  # and nothing can have been behind
        (first, _, _), (_, number, last) = self.openings[0], self.openings[-1]
        place = self.sets.place(named(last)) if last else 0
        held = 0 if place is None else self.sets.order.held_back(place, first)
        if held:
            text = f"{held} releases have not come to the gateway since two epochs began (its leaf {number})"
            self.behind.append(f"{text}: they were not sent, or not taken")
        for said in dict.fromkeys(self.behind):
            report.once(COMPLETENESS, MAIN_SERVICE, said)

    def _is_whole(self, place: int, rows: dict[str, tuple[int, int]]) -> bool:
        return all(self.sets.order.releases_to(party, place) == sum(counts) for party, counts in rows.items())


def named(text: str) -> tuple[int, int, str]:
    """Epoch, group and party of a release; raises ValueError."""
    epoch, group, party = text.split("/", 2)
    return int(epoch), int(group), party
