"""What rights oblige the services to, beyond what goes (check 8 of DESIGN 10.4).

    (1) whoever objects takes no grant, and is sent and delivered to nobody, until that is taken back
    (2) an erasure or objection tells each party that got records of the person (`c8_told`)
    (3) MS carries out its part of an erasure, and forgets nobody else
    (4) what an erasure says was dropped or removed was; and what then waits in feeds is all that was released and is
        neither delivered nor dropped: nothing vanishes

A version 1 gateway said less: its events are told by their headers, and held to nothing here.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

from auditor.checks.c2_expiry import may_be_gone
from auditor.checks.c3_links import People
from auditor.checks.c6_restricted import RestrictedState, Restrictions
from auditor.checks.c7_completeness import Sets
from auditor.checks.c8_feeds import Feeds, Stated, named
from auditor.checks.c8_told import Told, ToldState
from auditor.findings import ERASURE, MAIN_SERVICE, Report, Unchecked
from auditor.policies import Policies
from auditor.trust import Trust
from proxid.errors import ConsentError, GroupMismatchError, RecordMismatchError
from proxid.evidence.events import Event, Header
from proxid.protocol.rights import LIVE_SECONDS, Right, RightsRequest

_MINUTE_MS: Final = 60_000
_NEVER: Final = 2**63
"""An event of the gateway that never comes."""
_TOLD_MS: Final = 600_000
"""Milliseconds by which clocks and delays may move a request against the time at which an objection was taken back."""

FeedsState = tuple[list[Stated], bool, int, list[tuple[int, int, str]], list[str]]
"""What was said of feeds: not confirmed yet, whether, first silence; of the last openings, what is behind."""
ObligationsState = tuple[
    set[str], ToldState, dict[bytes, int], dict[bytes, int], FeedsState, dict[str, list[tuple[int, int, int]]],
    RestrictedState, dict[bytes, tuple[int, int]],
]  # fmt: skip
"""The attributes of `Obligations` after `sets`, objections and what MS was told of them last."""


@dataclass(slots=True)
class Obligations:
    """What follows from rights that were exercised; `state` and `restore` store everything but trust, people, sets.

    Attributes:
        objecting: users who object. objections: of each user, those that were made: number of the event that took one
            back, of its own, and time of the request that took it back (Unix milliseconds); 0 where none did.
        told: who is told of what. due: subject tags that MS must have forgotten → number of ERASED.
        forgotten: those it says it has → number of its own ERASED. unkeyed: those that ERASED says it was to forget,
            and does not cover, as links had expired → their epoch, number of ERASED.
        feeds: what the gateway says of its feeds. restrictions: what MS was told of who objects.
    """

    trust: Trust
    people: People
    sets: Sets
    objecting: set[str] = field(default_factory=set)
    objections: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict)
    due: dict[bytes, int] = field(default_factory=dict)
    forgotten: dict[bytes, int] = field(default_factory=dict)
    unkeyed: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    told: Told = field(init=False)
    feeds: Feeds = field(init=False)
    restrictions: Restrictions = field(init=False)

    def __post_init__(self) -> None:
        self.told, self.feeds = Told(self.trust), Feeds(self.sets)
        self.restrictions = Restrictions(self.trust, self.people)

    def objected(self, event: Event, request: RightsRequest | None) -> None:
        """OBJECTED, whose request is None if it cannot be read.

        Raises:
            RecordMismatchError: parties are told of an objection that is taken back.
        """
        fields = event.fields
        if "notices" not in fields:
            return
        self.told.made(event, notices := _texts(fields, "notices"))
        self.feeds.had_come(event)
        if request is not None and request.right is Right.OBJECT:
            self.objecting.add(request.user_id)
            made = self.objections.setdefault(request.user_id, [])
            if not made or made[-1][0]:
                made.append((0, event.number, 0))
                self.told.objected(event, request.user_id)
        elif request is not None:
            self.objecting.discard(request.user_id)
            made = self.objections.get(request.user_id, [])
            if made and not made[-1][0]:
                before = made[-2][2] if len(made) > 1 else 0  # the latest so far: whoever looks, looks at one
                made[-1] = (event.number, made[-1][1], max(before, request.time_ms))
        if notices and fields.get("right") == Right.RESUME:
            raise RecordMismatchError("parties are told of an objection that is taken back")

    def objects(self, user_id: str, event: int, until: float = math.inf) -> bool:
        """Whether a user objects at an event of the gateway, or later: it is carried out before it is recorded.

        Args:
            until: the event before which it is recorded.
        """
        made = self.objections.get(user_id, [])
        at = bisect_right(made, event, key=lambda one: one[0] or _NEVER)
        return at < len(made) and made[at][1] < until

    def has_objected(self, user_id: str, event: int) -> bool:
        """Whether an objection was recorded before an event of the gateway, and not taken back by then."""
        return self.objects(user_id, event, event)

    def has_objected_since(self, user_id: str, event: int, until: float = math.inf) -> bool:
        """Whether an objection was recorded between two events of the gateway."""
        made = self.objections.get(user_id, [])
        at = bisect_right(made, event, key=lambda one: one[1])
        return at < len(made) and made[at][1] < until

    def objects_to(self, user_id: str, session: str, time_ms: int) -> bool:
        """Whether MS surely knew that a user objects when a request of theirs came: the gateway forwarded it after it
        had recorded the objection, which it does once MS was told; its time (Unix milliseconds) is well before any
        that took it back.
        """
        ended, begun, until = self._before(user_id, session)
        return bool(begun) and (not ended or time_ms + _TOLD_MS <= until)

    def _before(self, user_id: str, session: str) -> tuple[int, int, int]:
        """Of `objections` the one that was recorded last before a request was forwarded; zeros if none was."""
        made = self.objections.get(user_id)
        forwarded = self.sets.forwarded_at(session) if made else None
        at = 0 if not made or forwarded is None else bisect_left(made, forwarded, key=itemgetter(1))
        return made[at - 1] if made and at else (0, 0, 0)

    def objected_after(
        self, user_id: str, session: str, time_ms: int, again: bool = False, until: float = math.inf
    ) -> bool:
        """Whether a user may have objected when a request of theirs came that says this time (Unix ms), or later.

        Args:
            again: something of theirs has waited since, so that MS had been told that the objection was taken back.
            until: the gateway's event before which it is recorded.

        A request says its minute alone, a right its second, each by the clock of the device that sent it. And MS may
        have been away when an objection was taken back: that is recorded once it was told, and what it withheld until
        then was forwarded before.
        """
        made, forwarded = self.objections.get(user_id, []), self.sets.forwarded_at(session)
        margin = _MINUTE_MS + int(2000 * self.trust.clock_skew)
        last = bisect_left(made, until, key=lambda one: one[1])
        for ended, _, over in reversed(made[max(0, last - 2) : last]):
            if not ended and not again:
                return True
            if ended:  # of those before each ended earlier, and says no later time
                return time_ms <= over + margin or (forwarded is not None and forwarded < ended)
        return False

    def verify_grants(self, user_id: str, grants: int) -> None:
        """A consent was taken; raises ConsentError if its user objects (1)."""
        if grants and user_id in self.objecting:
            raise ConsentError("a grant was taken of somebody who objects")

    def delivered(self, event: Event, prox_ids: Iterable[str], sent: int | None = None) -> None:
        """DELIVERED; raises ConsentError if a member objects, or did when it was sent (1).

        Args:
            sent: the event that says when that was, if one does.
        """
        users = {self.people.of_prox(prox).user_id for prox in prox_ids}
        if event.fields.get("v") == 2:
            self.told.delivered(str(event.fields["party"]), event.tags, users)
        if not users.isdisjoint(self.objecting):
            raise ConsentError("a group was delivered although a member objects")
        if sent is not None and any(self.has_objected(user, sent) for user in users):
            raise ConsentError("a party was sent what a member objected to")

    def erased(self, event: Event, tags: set[bytes], epochs: dict[bytes, int], request: RightsRequest | None) -> None:
        """ERASED of these person-epochs.

        Args:
            epochs: by subject tag. request: None if it cannot be read.

        Raises:
            RecordMismatchError: a party was not told (2). GroupMismatchError: what it says of groups is not so (4).
        """
        fields = event.fields
        if fields.get("v") != 2:
            return
        told = self.told.made(event, _texts(fields, "notices"), _texts(fields, "untold"))
        forgotten = {bytes.fromhex(tag) for tag in _texts(fields, "forgotten")}
        self.due.update(dict.fromkeys(forgotten, event.number))
        for tag in forgotten & epochs.keys() - tags:
            person = self.people.of_tag(tag)
            if person is None or request is None or person.user_id == request.user_id:
                self.unkeyed.setdefault(tag, (epochs[tag], event.number))
        if request is not None:
            self.objecting.discard(request.user_id)
            self.objections.pop(request.user_id, None)
            self._newest(event, tags, epochs, request)
        self.feeds.state(event)
        if not self.told.erased("" if request is None else request.user_id, tags) <= told:
            raise RecordMismatchError("a party that got records of an erased person was not told")
        if not all(self.sets.is_dropped(named(name), "erased") for name in _texts(fields, "dropped")):
            raise GroupMismatchError("a group is said to be dropped that was not")
        if not all(self.sets.is_delivered(named(name)) for name in _texts(fields, "removed")):
            raise GroupMismatchError("a group is said to be delivered and removed that was not delivered")

    def _newest(self, event: Event, tags: set[bytes], epochs: dict[bytes, int], request: RightsRequest) -> None:
        """Whatever the gateway says: MS may hold something of the epoch of the newest link until it has closed that."""
        newest = max((epochs.get(tag, -1) for tag in tags), default=-1)
        last = {tag for tag in tags if epochs.get(tag) == newest}  # two, if a key was lost in it
        if not last or request.time_ms / 1000 >= self.trust.epochs.end(newest) + LIVE_SECONDS:
            return
        self.due.update(dict.fromkeys(last, event.number))
        if not {tag.hex() for tag in last} <= {*_texts(event.fields, "forgotten")}:
            raise RecordMismatchError("an erasure does not say that the main service was to forget")

    def check(self, seen: int, erased: Container[bytes], policies: Policies, report: Report) -> None:
        """At the end: MS did its part (3) and no more, and no group vanished (4).

        Args:
            seen: the gateway's last event before MS's log was read. erased: subject tags of whom it says were erased.
        """
        unkeyed = {tag for tag, said in self.unkeyed.items() if may_be_gone(policies, *said, report)}
        if early := sum(tag not in erased and tag not in unkeyed for tag in self.forgotten):
            text = f"it says that it has forgotten {early} people whom the gateway's log has not erased yet"
            report.missing.append(Unchecked(ERASURE, MAIN_SERVICE, text))
        report.checked[ERASURE] += len(self.due)
        self.restrictions.finish(report)
        self.due = {tag: number for tag, number in self.due.items() if tag not in self.forgotten}
        for number in self.due.values():
            if number <= seen:
                text = f"no ERASED of a person whom it had to forget (ERASED at the gateway's leaf {number})"
                report.add(ERASURE, MAIN_SERVICE, 0, text)
        self.feeds.check(seen, report)

    def state(self) -> ObligationsState:
        """For storing."""
        return (
            self.objecting,
            self.told.state(),
            self.due,
            self.forgotten,
            (self.feeds.stated, self.feeds.spoken, self.feeds.silent, self.feeds.openings, self.feeds.behind),
            self.objections,
            self.restrictions.state(),
            self.unkeyed,
        )

    def restore(self, state: ObligationsState) -> None:
        """Go on from a state."""
        self.objecting, told, self.due, self.forgotten, feeds, self.objections, restrictions, self.unkeyed = state
        self.told.restore(told)
        self.restrictions.restore(restrictions)
        self.feeds.stated, self.feeds.spoken, self.feeds.silent, self.feeds.openings, self.feeds.behind = feeds


def _texts(fields: Header, name: str) -> list[str]:
    value = fields.get(name, [])
    if not isinstance(value, list):
        raise TypeError("a list is expected")
    return [str(item) for item in value]
