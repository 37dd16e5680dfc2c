"""The count that chaos is judged by reads what the product writes, and sees what is missing and what is there twice."""

from pathlib import Path

from proxid.evidence.events import EventType, encode_header
from proxid.evidence.leaf import Leaf, LeafHeader
from proxid.runtime.evidence_log.segments import SegmentWriter
from tests.support.own_count import count, doubled, entries, lost, rows_under, twice, unacknowledged

KINDS = ("FORWARDED", "ANSWERED", "RECEIVED")
ASKED = [bytes([n]) * 8 for n in range(3)]


def write(folder: Path, service: str, events: list[tuple[EventType, dict[str, str | int]]], first: int = 1) -> None:
    log = SegmentWriter(folder / service / "data/evidence/segments", limit=200)
    for number, (kind, fields) in enumerate(events, first):
        header = LeafHeader(number, kind, encode_header(**fields), ((b"t" * 16, bytes(32)),)).encode()
        log.append([Leaf(bytes(16), header, (b"part",))])
        log.rotate_if_due()
    log.close()


def house(folder: Path, twice_received: bool = False, gap: int = 0) -> Path:
    both = [
        (kind, {"session": session.hex()}) for session in ASKED for kind in (EventType.FORWARDED, EventType.ANSWERED)
    ]
    write(folder, "gateway", [*both, (EventType.RELEASED, {"epoch": 1, "group": 2})])
    received = [(EventType.RECEIVED, {"session": session.hex()}) for session in ASKED]
    write(folder, "main-service", received + received[:1] if twice_received else received, 1 + gap)
    return folder


def test_what_both_logs_hold_once_is_neither_lost_nor_doubled(tmp_path: Path) -> None:
    found = count(house(tmp_path))
    assert lost(found, ASKED) == doubled(found) == {} and found.gaps == []
    assert [entry.number for entry in entries(tmp_path / "gateway/data/evidence")] == list(range(1, 8))


def test_what_is_missing_is_lost_and_what_is_there_twice_doubled(tmp_path: Path) -> None:
    found = count(house(tmp_path, twice_received=True))
    other = b"another!"
    assert lost(found, [*ASKED[1:], other]) == {kind: [other.hex()] for kind in KINDS}
    assert doubled(found) == {"RECEIVED": [("main-service", ASKED[0].hex())]}


def test_numbers_have_no_gap_and_a_last_entry_may_be_on_its_way(tmp_path: Path) -> None:
    folder = house(tmp_path, gap=1)
    assert len(count(folder).gaps) == 1
    last = sorted((folder / "gateway/data/evidence/segments").iterdir())[-1] / "leaves"
    before = len(list(entries(folder / "gateway/data/evidence")))
    last.write_bytes(last.read_bytes() + b"\0\0\0\x10torn")
    assert len(list(entries(folder / "gateway/data/evidence"))) == before


def test_a_group_that_is_held_twice_is_seen_and_one_that_came_again_is_not(
    tmp_path: Path,
) -> None:
    feed = tmp_path / "feed.jsonl"
    line = '{"epoch": 1, "group": %d, "records": [{"user": "ann"}]}\n'
    back = '{"epoch": 1, "group": 5, "retracted": true}\n'
    feed.write_text(line % 4 + back + line % 5 + '{"notice": "x"}\n{"epoch')
    assert twice(feed) == [] and rows_under(feed, "ann") == {(1, 4): 1, (1, 5): 1}
    feed.write_text(line % 4 + line % 4)
    assert twice(feed) == [(1, 4)] and twice(tmp_path / "none") == []


def test_what_a_party_holds_without_an_acknowledgement_in_the_log_is_seen(tmp_path: Path) -> None:
    told: dict[str, str | int] = {"ack": "00", "epoch": 1, "group": 2, "party": "acme"}
    write(tmp_path, "gateway", [(EventType.DELIVERED, told)])
    for party in ("acme", "globex"):
        feed = tmp_path / f"parties/{party}/data/feed.jsonl"
        feed.parent.mkdir(parents=True)
        feed.write_text('{"epoch": 1, "group": 2}\n{"epoch": 1, "group": 2, "retracted": true}\n')
    assert unacknowledged(tmp_path, ["acme", "nobody"]) == {}
    assert unacknowledged(tmp_path, ["acme", "globex"]) == {"globex": [(1, 2)]}
