"""What the gateway says of its feeds: honest ones are whole whatever happens, a group that vanished is found."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from auditor.checks.c7_completeness import Sets
from auditor.checks.c8_feeds import Feeds
from auditor.findings import ERASURE, Report
from proxid.errors import GroupMismatchError
from proxid.evidence.events import Event, EventType, encode_header

PARTIES = ("acme", "globex")
Place = tuple[int, int, str]


class Gateway:
    """A gateway's feeds and its log, beside MS's releases in their order."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.released: list[Place] = []
        self.handled = 0
        self.waiting: list[Place] = []
        self.log: list[tuple[str, Place | dict[str, object]]] = []

    def release(self) -> None:
        group = len(self.released) // 2
        self.released += [(7, group, party) for party in PARTIES]

    def handle(self) -> None:
        if self.handled < len(self.released):
            place, self.handled = self.released[self.handled], self.handled + 1
            if self.source.random() < 0.8:
                self.waiting.append(place)
            else:
                self.log.append(("dropped", place))

    def settle(self) -> None:
        if self.waiting:
            place = self.waiting.pop(self.source.randrange(len(self.waiting)))
            self.log.append((self.source.choice(("delivered", "dropped")), place))

    def vanish(self) -> None:
        self.waiting.pop(self.source.randrange(len(self.waiting)))

    def state(self) -> None:
        last = "/".join(map(str, self.released[self.handled - 1])) if self.handled else ""
        counts = [f"{p}:{sum(place[2] == p for place in self.waiting)}" for p in PARTIES]
        self.log.append(("stated", {"feeds": counts, "last": last}))

    def evening(self, steps: int) -> None:
        for _ in range(steps):
            self.source.choice((self.release, self.handle, self.handle, self.settle, self.state))()


@pytest.fixture
def sets() -> Iterator[Sets]:
    found = Sets()
    yield found
    found.close()


def audited(gateway: Gateway, sets: Sets, known: int | None = None) -> tuple[Feeds, Report]:
    """The gateway's log is read first, then MS's as far as it is shown."""
    feeds, report = Feeds(sets), Report()
    for number, (kind, what) in enumerate(gateway.log, 1):
        if kind == "stated":
            feeds.state(stated(number, what))
        elif kind == "delivered":
            sets.delivered(what, number)  # type: ignore[arg-type]
        else:
            sets.dropped(what, "erased", number)  # type: ignore[arg-type]
    for event, place in enumerate(gateway.released[:known], 1):
        sets.released(place, event)
    feeds.check(len(gateway.log) if known is None else 0, report)
    return feeds, report


def stated(number: int, fields: object) -> Event:
    header = encode_header(**fields)  # type: ignore[arg-type]
    return Event(number, EventType.ERASED, bytes(16), header, b"")


@pytest.mark.parametrize("seed", range(20))
def test_honest_feeds_are_whole(sets: Sets, seed: int) -> None:
    gateway = Gateway(random.Random(seed))
    gateway.evening(80)
    gateway.state()
    feeds, report = audited(gateway, sets)
    assert report.violations == [] and feeds.stated == [] and report.checked[ERASURE] > 5


@pytest.mark.parametrize("seed", range(20))
def test_a_group_that_vanished_is_found_by_the_next_statement(sets: Sets, seed: int) -> None:
    gateway = Gateway(random.Random(seed))
    gateway.evening(40)
    gateway.release(), gateway.handle(), gateway.handle()
    while not gateway.waiting:
        gateway.release(), gateway.handle()
    gateway.vanish()
    gateway.evening(10)
    gateway.state()
    _, report = audited(gateway, sets)
    assert {v.rule for v in report.violations} == {ERASURE}


@pytest.mark.parametrize("seed", range(20))
def test_what_the_main_service_does_not_show_yet_is_looked_at_again(sets: Sets, seed: int) -> None:
    gateway = Gateway(random.Random(seed))
    gateway.evening(60)
    for _ in range(4):
        gateway.release(), gateway.handle(), gateway.handle()
    gateway.state()
    known = gateway.handled - 3
    feeds, report = audited(gateway, sets, known)
    assert report.violations == [] and feeds.stated
    for event, place in enumerate(gateway.released[known:], known + 1):
        sets.released(place, event)
    feeds.check(len(gateway.log), report)
    assert report.violations == [] and feeds.stated == []


def test_a_last_release_from_before_what_was_settled_hides_nothing(sets: Sets) -> None:
    gateway = Gateway(random.Random(1))
    for _ in range(3):
        gateway.release(), gateway.handle(), gateway.handle()
    gateway.waiting.clear()  # all vanish but the last, which is delivered
    # By the count alone two of acme's releases that were handled would not have to be anywhere.
    gateway.log = [("delivered", gateway.released[-2]), ("stated", {"feeds": ["acme:0"], "last": "7/0/acme"})]
    _, report = audited(gateway, sets)
    assert len(report.violations) == 1


@pytest.mark.parametrize("kind", [EventType.ERASED, EventType.OBJECTED, EventType.EPOCH_OPENED])
@pytest.mark.parametrize(("last", "wrong"), [("7/1/acme", []), ("7/2/acme", [4])])
def test_a_release_behind_a_request_that_was_forwarded_later_had_not_come(
    sets: Sets, last: str, wrong: list[int], kind: EventType
) -> None:
    fields = {"epoch": 7, "feeds": [f"acme:{last[2]}"], "last": last}
    event = replace(stated(4, fields), type=kind)
    feeds, report = Feeds(sets), Report()
    feeds.had_come(event) if kind is EventType.OBJECTED else feeds.state(event)
    for number, (session, forwarded) in enumerate((("aa" * 32, 3), ("bb" * 32, 5), ("cc" * 32, 6)), 1):
        sets.forwarded(session, 1000, forwarded)
        if number < 3:
            sets.received(session, 1000, 2 * number)
            sets.released((7, number, "acme"), 2 * number + 1)
    feeds.check(9, report)
    assert [v.event for v in report.violations] == wrong


@pytest.mark.parametrize("last", ["x", "7/acme", "7/x/acme", "//"])
def test_what_names_no_release_is_refused(sets: Sets, last: str) -> None:
    with pytest.raises(ValueError):
        Feeds(sets).state(stated(1, {"feeds": ["acme:0"], "last": last}))


def test_a_last_release_that_never_was_is_named_once_the_main_service_would_show_it(sets: Sets) -> None:
    gateway = Gateway(random.Random(1))
    gateway.release(), gateway.handle(), gateway.handle()
    gateway.log = [("stated", {"feeds": ["acme:0", "globex:0"], "last": "99/1/acme"})]
    assert audited(gateway, sets, 0)[1].violations == []
    feeds, report = Feeds(sets), Report()
    feeds.state(stated(1, {"feeds": ["acme:0", "globex:0"], "last": "99/1/acme"}))
    feeds.check(1, report)
    assert [v.text for v in report.violations] == ["ERASED: names a release that there never was"]


@pytest.mark.parametrize(
    "fields", [{}, {"last": ""}, {"feeds": []}, {"feeds": [], "last": ""}, {"feeds": ["acme:0"], "last": ""}]
)
def test_a_statement_leaves_out_no_party(sets: Sets, fields: dict[str, object]) -> None:
    with pytest.raises(GroupMismatchError):
        Feeds(sets).state(stated(1, fields), PARTIES)


def test_a_gateway_that_was_brought_up_from_version_1_says_nothing_until_it_can(sets: Sets) -> None:
    sets.delivered((7, 0, "acme"), 1)
    sets.released((7, 0, "acme"), 1)
    feeds, report = Feeds(sets, follows=True), Report()
    feeds.state(stated(2, {"feeds": [], "last": ""}), PARTIES)
    feeds.check(2, report)
    assert report.violations == []
    assert [reason.rule for reason in report.missing] == [ERASURE]  # whoever stays silent for good is never clean
    report.missing.clear()
    feeds.state(stated(3, {"feeds": ["acme:0", "globex:0"], "last": "7/0/acme"}), PARTIES)
    feeds.check(3, report)
    assert report.violations == report.missing == []
    with pytest.raises(GroupMismatchError):
        feeds.state(stated(4, {"feeds": [], "last": ""}), PARTIES)


def test_a_successor_of_a_log_without_releases_has_nothing_to_say(sets: Sets) -> None:
    feeds, report = Feeds(sets, follows=True), Report()
    feeds.state(stated(2, {"feeds": [], "last": ""}), PARTIES)
    feeds.check(2, report)
    assert report.violations == report.missing == []
