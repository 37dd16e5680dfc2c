"""A party acknowledges only whole, genuine groups that name it, and keeps each once (DESIGN 9)."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from auditor.checks.c9_receipts import read_receipts
from proxid.clients.subscriber.acknowledgements import FILE, Acknowledgements
from proxid.clients.subscriber.group import OpenedRecord, Reader, feed_key, open_group
from proxid.clients.subscriber.kept import read_groups
from proxid.clients.subscriber.ledger import GroupId, Kept, Ledger
from proxid.clients.subscriber.rows import row_of, tsv_of
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey
from proxid.crypto.sansig import Message, SignedMessage, sign
from proxid.crypto.sansig.scheme import resign
from proxid.errors import InputError, ProxidError, RecordMismatchError
from proxid.protocol import record
from proxid.protocol.feedkey import FeedKey
from proxid.protocol.receipt import DeliveryAck
from proxid.protocol.record import Issuer, Mechanism, Place, Recipient, RecordBody

MS, IS = SigningKey(bytes(31) + b"\x01"), SigningKey(bytes(31) + b"\x02")
KEY = OpeningKey(bytes(range(96)))
READER = Reader("acme", "main-service", MS.public, IS.public, KEY)
SEED = bytes(range(32))
FEED = FeedKey.of(SEED, "main-service", 7, "acme")
FEED_SENT = FEED.seal(KEY.public, "main-service", 7, "acme")
BODY = RecordBody("aa" * 16, "general", Mechanism("mix", 3, 1, 2, 2), 7, 4, 900, 0, ("a", "b"), "hi")


def restored(signed: SignedMessage, user: str) -> SignedMessage:
    return resign(signed, user.encode(), IS, lambda _: None)


def group(
    users: tuple[str, ...] = ("ann", "bob", "cem"), body: RecordBody = BODY, to: str = "acme",
    fidelity: str = "user_id", number: int = 4,
) -> list[SignedMessage]:  # fmt: skip
    recipient, issuer = Recipient(to, fidelity, KEY.public), Issuer("main-service", MS, IS.public)
    return [
        restored(record.make(body, "px1" + "a" * 32, Place(number, i, len(users)), recipient, issuer)[0], user)
        for i, user in enumerate(users)
    ]


def test_group_opens() -> None:
    opened = open_group(group(), 7, 4, READER)
    assert [(o.user, o.fidelity, o.body) for o in opened] == [(u, "user_id", BODY) for u in ("ann", "bob", "cem")]


def keyed(key: FeedKey = FEED, time: int | None = None) -> list[SignedMessage]:
    to, issuer = Recipient("acme", "user_id", key), Issuer("main-service", MS, IS.public)
    return [
        restored(record.make(BODY, "px1" + "a" * 32, Place(4, i, 3), to, issuer, SEED, time)[0], user)
        for i, user in enumerate(("ann", "bob", "cem"))
    ]


def test_group_opens_under_the_feed_key_that_came_sealed() -> None:
    sent = FEED.seal(KEY.public, "main-service", 7, "acme").sign(MS).encode()
    key = feed_key(sent, 7, READER)
    assert [one.body for one in open_group(keyed(), 7, 4, READER, key)] == [BODY] * 3
    with pytest.raises(ProxidError):
        open_group(keyed(), 7, 4, READER)
    with pytest.raises(ProxidError):
        open_group(group(), 7, 4, READER, key)
    theirs = FeedKey.of(SEED, "main-service", 7, "globex")
    with pytest.raises(ProxidError):
        open_group(keyed(theirs), 7, 4, READER, key)
    for wrong in (theirs.seal(KEY.public, "main-service", 7, "globex"), replace(FEED_SENT, epoch=8)):
        with pytest.raises(ProxidError):
            feed_key(wrong.sign(MS).encode(), 7, READER)


def test_no_header_says_anything_of_its_own() -> None:
    with pytest.raises(RecordMismatchError):
        open_group(keyed(time=901), 7, 4, READER, FEED)
    first, *others = keyed()
    header = replace(first.header, nonce=bytes(16))
    named = restored(sign(Message(header, (b"px1" + b"a" * 32, *first.message.blocks[1:])), MS), "ann")
    with pytest.raises(RecordMismatchError):
        open_group([named, *others], 7, 4, READER, FEED)


def test_places_come_under_the_name_that_was_granted() -> None:
    place = replace(BODY, kind="location")
    for fidelity in ("user_id", "alias"):
        assert {one.fidelity for one in open_group(group(body=place, fidelity=fidelity), 7, 4, READER)} == {fidelity}


@pytest.mark.parametrize(
    "records",
    [
        [],
        group()[:2],
        group()[1:],
        [group()[0], group()[2], group()[1]],
        [group()[0]] * 3,
        group(("ann", "bob", "ann")),
        group(to="globex"),
        [*group()[:2], group(body=replace(BODY, audience="bb" * 16))[2]],
        group(body=replace(BODY, group=5)),
        group(body=replace(BODY, epoch=8)),
        group(number=5),
        [*group()[:2], group(body=replace(BODY, time_bucket=1800))[2]],
        [*group()[:2], group(body=replace(BODY, mechanism=Mechanism("mix", 2, 1, 2, 2)))[2]],
        [*group()[:2], group(fidelity="alias")[2]],
    ],
    ids=[
        "empty", "cut short", "first missing", "out of order", "one thrice", "person twice", "other party",
        "mixed audience", "body of other group", "other epoch", "other group", "other bucket",
        "other mechanism", "mixed fidelity",
    ],
)  # fmt: skip
def test_what_is_no_whole_group_for_this_party_is_refused(records: list[SignedMessage]) -> None:
    with pytest.raises(ProxidError):
        open_group(records, 7, 4, READER)


def test_record_that_the_screener_did_not_restore_is_refused() -> None:
    recipient, issuer = Recipient("acme", "user_id", KEY.public), Issuer("main-service", MS, IS.public)
    unrestored = record.make(BODY, "px1" + "a" * 32, Place(4, 0, 1), recipient, issuer)[0]
    with pytest.raises(ProxidError):
        open_group([unrestored], 7, 4, READER)


def test_every_changed_byte_is_refused() -> None:
    (good,) = group(("ann",))
    for at in range(0, len(good.signature), 7):
        signature = bytes(b ^ (i == at) for i, b in enumerate(good.signature))
        with pytest.raises(ProxidError):
            open_group([SignedMessage(good.message, signature)], 7, 4, READER)
    for block in range(len(good.message.blocks)):
        blocks = list(good.message.blocks)
        blocks[block] = bytes([blocks[block][0] ^ 1]) + blocks[block][1:]
        with pytest.raises(ProxidError):
            open_group([SignedMessage(replace(good.message, blocks=tuple(blocks)), good.signature)], 7, 4, READER)


def test_ledger_keeps_each_group_once_through_crashes(tmp_path: Path) -> None:
    path, opened = tmp_path / "f" / "feed.jsonl", open_group(group(), 7, 4, READER)
    with Ledger(path) as ledger:
        ledger.add(Kept(GroupId(7, 4), 11, bytes(32)), opened)
        assert ledger.has(GroupId(7, 4))
    with path.open("a") as file:
        file.write('{"epoch": 7, "group": 5, "cur')
    with Ledger(path) as ledger:
        assert (ledger.has(GroupId(7, 4)), ledger.has(GroupId(7, 5)), ledger.cursor) == (True, False, 11)
        ledger.add(Kept(GroupId(7, 5), 12, bytes(32)), opened)
        assert [found["group"] for found in read_groups(path)] == [4, 5]
        ledger.retract(GroupId(7, 4), 11)
    assert [found["group"] for found in read_groups(path)] == [5]
    with Ledger(path) as ledger:
        assert ledger.has(GroupId(7, 4))
        assert [kept.id.group for kept in ledger.kept.values()] == [5]
    assert path.stat().st_mode & 0o777 == 0o600


def test_acknowledgements_are_kept_once_for_the_auditor(tmp_path: Path) -> None:
    path = tmp_path / FILE
    acks = [DeliveryAck("acme", "main-service", 7, n, bytes(32)).sign(IS) for n in (4, 5)]
    with Acknowledgements(path) as taken:
        for ack in (acks[0], acks[0], acks[1]):
            taken.add(ack)
    with path.open("a") as file:
        file.write('{"kind": "ack')
    with Acknowledgements(path) as taken:
        assert taken.has(GroupId(7, 5)) and not taken.has(GroupId(7, 6))
        taken.add(acks[1])
    assert [DeliveryAck.decode(presented.message) for presented in read_receipts(path)] == acks
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text('{"kind": "acknowledgement", "message": "AAAA"}\n')
    with pytest.raises(InputError, match="line 1"), Acknowledgements(path):
        pass


def test_damaged_line_in_the_middle_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "feed.jsonl"
    path.write_text('{"epoch\n{}\n')
    with pytest.raises(InputError, match="line 1"), Ledger(path):
        pass


def test_rows() -> None:
    row = row_of(OpenedRecord("ann", "user_id", BODY))
    assert json.loads(json.dumps(row)) == row
    assert (row["rung"], row["category"], row["time"]) == ("text", "a/b", "1970-01-01T00:15:00Z")
    assert tsv_of(row) == "ann\thi\t1970-01-01 00:15:00\t\t\ta/b"
    hidden = row_of(OpenedRecord("a\tb", "user_id", replace(BODY, rung=2, text="")))
    assert tsv_of(hidden) == "a b\t-\t1970-01-01 00:15:00\t\t\ta/b"


def test_record_shows_nothing_of_its_text() -> None:
    assert "hi" not in repr(OpenedRecord("ann", "user_id", BODY))
    with pytest.raises(RecordMismatchError):
        open_group([], 7, 4, READER)
