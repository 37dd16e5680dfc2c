"""How many requests a service carries at once, and who gets the next place (DESIGN 5.7).

Two measures keep what is answered from falling while more is asked than can be done:

- The queue is bounded by time. While it empties now and then, a request may wait for LONGEST; once it has not for so
  long (CoDel, Nichols and Jacobson 2012), or somebody was just refused, places go to the newest of those that wait
  (adaptive LIFO, Maurer 2015), and who comes finds one at once or is refused: then somebody comes sooner than a place
  could, and a refusal that comes late, or after its message was read, has cost both sides and brought nobody a place.
  Only one peer that asks alone, and not much, waits for as long as it has time.
- Places follow what they cause: a request says at its end how long it has taken, here and at the service behind. Up to
  CALM they become more, as TCP's window does, and as with that only while they are used: what was never carried may be
  too much. Above SLOW they become as many as are answered in between. What a request takes while few are under way
  (a disk, a way to a service far away) is no want of a processor: then both are more. What waits for somebody else's
  answer costs no processor and is not counted, so a slow responder takes no place from anybody.

While there is much to do, whose caller gives up before an answer is due has no place, though there be one: it would
take the processor from others and be answered to nobody.

The next place goes to the peer that has fewest, of it to the person that has fewest. Nothing here reads a clock.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 0.1
"""Seconds that a request may wait for a place."""
SLOW: Final = 0.8
"""Seconds that an answer takes when a service carries too much."""
CALM: Final = 0.55
"""Seconds that it takes when a service carries what it can."""
FEWEST: Final = 8
FIRST: Final = 64
MOST: Final = 256
"""Places at least, at first, and at most."""
WAITING: Final = 256
"""Requests that wait at most."""
LATELY: Final = 16
"""Requests by which it is known how long one takes."""
MEMORY: Final = 1.0
"""Seconds after which what was answered or refused counts half, and a queue that was refused is no more expected."""
ALONE: Final = 32
"""Requests of one peer that wait for as long as they have time, if nobody else asks: it delays itself alone."""
PUSHBACK: Final = (0.5, 8.0)
"""Seconds, the least and the most, after which who was refused may come back."""


@dataclass(eq=False, slots=True)
class Ticket:
    """One request; told: called once with True when it has a place, with False when it waits no longer.

    Attributes:
        left: seconds until its caller gives up. among: places that were held when it had its own, that included.
    """

    peer: Hashable
    person: Hashable
    since: float
    told: Callable[[bool], None]
    left: float = math.inf
    placed: bool = False
    among: int = 0


class Places:
    """The policy. Times are seconds of any one clock that does not go back."""

    def __init__(self, most: int = MOST, fewest: int = FEWEST, first: int = FIRST) -> None:
        self._most, self._fewest = most, fewest
        self.limit = float(min(most, first))
        self.held = self.waiting = 0
        """Places that are taken; requests that wait."""
        self._peers: Counter[Hashable] = Counter()
        self._people: Counter[Hashable] = Counter()
        self._lines: dict[tuple[Hashable, Hashable], dict[Ticket, None]] = {}
        """Who waits, by person; within a line the oldest first."""
        self._emptied = float("-inf")
        """When the queue last began."""
        self._was_too_much = False
        self._over = float("-inf")
        """When somebody was last refused."""
        self._served = self._refused = self._counted = 0.0
        self._took, self._ended = 0.0, float("-inf")
        """Seconds that a request has taken of late, and when the last one ended."""
        self._usual, self._few = 0.0, 0
        """Seconds that one takes when few are under way, and of how many that is known."""

    def is_over(self, now: float) -> bool:
        """Whether the queue has not emptied for so long that it will not by itself, or was just now refused."""
        if self._is_alone():
            return False
        return now - self._over < MEMORY or (bool(self._lines) and now - self._emptied > LONGEST)

    def enter(self, ticket: Ticket) -> None:
        """A request comes; it, or another one, is told at once if that is decided."""
        if not self._lines:
            self._emptied = ticket.since
        self._lines.setdefault((ticket.peer, ticket.person), {})[ticket] = None
        self.waiting += 1
        if self._is_in_vain(ticket):
            self._refuse(ticket)
            return
        self._fill(ticket.since)
        if ticket.placed:
            return
        if self.is_over(ticket.since):
            self._refuse(ticket)
            self._note_over(ticket.peer, ticket.since)
        elif self.waiting > WAITING:
            waiting = (t for line in self._lines.values() for t in line)
            self._refuse(max(waiting, key=lambda t: (*self._burden(t), -t.since)))
            self._over = ticket.since

    def turns_away(self, peer: Hashable, now: float) -> bool:
        """Whether whatever this peer asks is refused now, which counts as one that was."""
        if self._peers[peer] < int(self.limit) - self.held or not self.is_over(now):
            return False
        self._refused += 1
        self._note_over(peer, now)
        return True

    def leave(self, ticket: Ticket, now: float, took: float | None = 0.0) -> None:
        """A request has ended, or its caller gave it up while it waited.

        Args:
            took: seconds, without those for which it waited for somebody else; None: nobody knows.
        """
        if not ticket.placed:
            self._drop(ticket)
            return
        ticket.placed = False
        self.held -= 1
        for held, key in ((self._peers, ticket.peer), (self._people, (ticket.peer, ticket.person))):
            held[key] -= 1
            if not held[key]:
                del held[key]
        if took is not None:
            self._adapt(now, took, max(ticket.among, self.held))
        self._fill(now)

    def look(self, now: float) -> None:
        """Refuse who has waited for too long; to be called when `due` says."""
        late = [t for line in self._lines.values() for t in line if now - t.since >= LONGEST]
        for ticket in late:
            if self._is_alone():
                return
            self._refuse(ticket)
            self._over = now

    def due(self, now: float) -> float | None:
        """Seconds until somebody may have waited for too long; None while nobody waits, or only who may."""
        if not self._lines or self._is_alone():
            return None
        oldest = min(next(iter(line)).since for line in self._lines.values())
        return max(0.0, oldest + LONGEST - now)

    def pushback(self, now: float) -> float:
        """Seconds after which who is refused now finds room: as long as it takes to serve those who were refused."""
        self._forget(now)
        least, most = PUSHBACK
        return min(most, max(least, self._refused / max(self._served, 1.0)))

    def _is_in_vain(self, ticket: Ticket) -> bool:
        """Whether there is much to do, and its caller gives up before an answer is due."""
        busy = 2 * self.held >= self.limit or self.is_over(ticket.since)
        return busy and not self._is_alone() and ticket.left < self._expected(ticket.since)

    def _is_alone(self) -> bool:
        """Whether all that is asked is one peer's, and not much."""
        if self.held + self.waiting > ALONE:
            return False
        return len({*self._peers, *(peer for peer, _ in self._lines)}) <= 1

    def _note_over(self, peer: Hashable, now: float) -> None:
        """Somebody was refused; of who has more than others, who find a place, that says nothing of them."""
        if self.held >= int(self.limit) or self._peers[peer] * len(self._peers) <= self.held:
            self._over = now

    def _expected(self, now: float) -> float:
        """Seconds that an answer takes at least; the less is known of it the longer none has come."""
        return min(SLOW, self._took * math.exp2((self._ended - now) / MEMORY))

    def _burden(self, ticket: Ticket) -> tuple[int, int]:
        return self._peers[ticket.peer], self._people[ticket.peer, ticket.person]

    def _fill(self, now: float) -> None:
        while self._lines and self.held < int(self.limit):
            over = self.is_over(now)
            firsts = (next(reversed(line) if over else iter(line)) for line in self._lines.values())
            ticket = min(firsts, key=lambda t: (*self._burden(t), -t.since if over else t.since))
            # Nobody has more than what is free, so that however few they are, they leave room for one more (dynamic
            # thresholds, Choudhury and Hahne 1998): one peer takes half of the places, two a third each.
            if self._peers[ticket.peer] >= int(self.limit) - self.held:
                return
            self._drop(ticket)
            self._peers[ticket.peer] += 1
            self._people[ticket.peer, ticket.person] += 1
            self.held += 1
            ticket.placed, ticket.among = True, self.held
            ticket.told(True)

    def _drop(self, ticket: Ticket) -> None:
        key = (ticket.peer, ticket.person)
        line = self._lines.get(key)
        if line is not None and ticket in line:
            del line[ticket]
            self.waiting -= 1
            if not line:
                del self._lines[key]

    def _refuse(self, ticket: Ticket) -> None:
        self._drop(ticket)
        self._refused += 1
        ticket.told(False)

    def _adapt(self, now: float, took: float, among: int) -> None:
        self._forget(now)
        self._served += 1
        kept = math.exp2((self._ended - now) / MEMORY)
        self._took += (min(took, 2 * SLOW) - self._took) * (1 - kept * (1 - 1 / LATELY))  # one that hung is one
        self._ended = now
        if among <= self._fewest:
            self._few = min(self._few + 1, LATELY)
            self._usual += (min(took, 2 * SLOW) - self._usual) / self._few
        calm, slow = max(CALM, 1.1 * self._usual), max(SLOW, 1.5 * self._usual)
        if self._took <= calm:
            # Only what is carried says that more could be, and half of the whole places is what one peer may have. At
            # first one more for each, until that takes a while.
            if 2 * (self.held + 1) >= int(self.limit):
                begins = not self._was_too_much and self._took <= CALM / 4
                more = 1.0 if begins else 8 / self.limit
                self.limit = min(float(self._most), self.limit + more)
        elif took > slow:
            self._was_too_much = True
            # As many as are answered in a time between the two (Little 1961).
            self.limit = max(float(self._fewest), min(self.limit, self._rate() * (calm + slow) / 2))

    def _rate(self) -> float:
        """Requests that are answered in a second."""
        return self._served * math.log(2) / MEMORY

    def _forget(self, now: float) -> None:
        kept = 0.5 ** ((now - self._counted) / MEMORY)
        self._served, self._refused, self._counted = self._served * kept, self._refused * kept, now
