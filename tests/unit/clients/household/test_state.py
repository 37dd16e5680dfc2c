"""Keys, enrolments, consents and receipts survive a restart of the device (DESIGN 4.3, 7)."""

import json
import stat
from pathlib import Path

import pytest

from proxid.clients.household import enrolment
from proxid.clients.household.receipts import Receipt, ReceiptBook, read_receipts
from proxid.clients.household.state import ConsentState, HouseholdState
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.identity import Enrolment
from proxid.crypto.sansig import Direction, Header, Limit, Message, sign
from proxid.errors import InputError, OutputError, ProxidError, SignatureInvalidError

AUTHORITY = SigningKey(bytes(32))


def household(folder: Path, *users: str) -> HouseholdState:
    state = HouseholdState(folder)
    for user in users:
        enrolled = Enrolment.issue(user, state.new_user(user).public, 0, AUTHORITY)
        state.add_enrolment(enrolled, AUTHORITY.public)
    return state


def test_users_and_epoch_keys_are_found_again(tmp_path: Path) -> None:
    names = ["ann", "../../etc/passwd", "π" * 60, "a/b"]
    before = household(tmp_path, *names).users()
    keys = {name: user.epoch_key(20_000).public for name, user in before.items()}
    after = HouseholdState(tmp_path).users()
    assert set(after) == set(names)
    assert {name: user.key.public for name, user in after.items()} == {n: u.key.public for n, u in before.items()}
    assert {name: user.epoch_key(20_000).public for name, user in after.items()} == keys
    assert all(path.resolve().is_relative_to(tmp_path) for path in tmp_path.rglob("*"))


def test_secrets_are_private_and_old_epoch_keys_are_deleted(tmp_path: Path) -> None:
    user = household(tmp_path, "ann").users()["ann"]
    first = user.epoch_key(100).public
    user.epoch_key(101)
    assert user.epoch_key(100).public == first
    user.epoch_key(102)
    assert sorted(path.name for path in tmp_path.rglob("epoch-*")) == ["epoch-101.key", "epoch-102.key"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*.key")} == {0o600}


def test_consent_is_on_disk_before_it_is_sent(tmp_path: Path) -> None:
    user = household(tmp_path, "ann").users()["ann"]
    assert user.consent(1) == ConsentState()
    user.save_consent(1, ConsentState(3, "everything", (b"\x00vector", b"\xffmessage")))
    again = HouseholdState(tmp_path).users()["ann"]
    assert again.consent(1) == ConsentState(3, "everything", (b"\x00vector", b"\xffmessage"))
    assert again.consent(2) == ConsentState()


def test_a_history_that_cannot_be_deleted_leaves_an_erasure_to_be_asked_again(tmp_path: Path) -> None:
    user = household(tmp_path, "ann").users()["ann"]
    asked = next(tmp_path.rglob("user.key")).with_name("asked")
    asked.mkdir()
    with pytest.raises(OutputError):
        user.mark_erased()
    assert not user.erased
    asked.rmdir()
    user.mark_erased()
    assert user.erased


def test_a_line_that_a_power_cut_tore_is_lost_alone(tmp_path: Path) -> None:
    history = household(tmp_path, "ann").users()["ann"].history
    history.start()
    for text in ("first", "torn"):
        history.add(1.0, text)
    asked = next(tmp_path.rglob("asked"))
    asked.write_bytes(asked.read_bytes()[:-9])
    history.add(2.0, "next")
    assert [one.text for one in history.asked()] == ["next", "first"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1}', '{"version": 1, "bundle": "b", "pending": ["x"]}'])
def test_damaged_consent_is_an_error(tmp_path: Path, text: str) -> None:
    user = household(tmp_path, "ann").users()["ann"]
    user.save_consent(1, ConsentState(1, "b"))
    next(tmp_path.rglob("epoch-1.json")).write_text(text)
    with pytest.raises(InputError, match="damaged"):
        user.consent(1)


def test_enrolment_is_the_authoritys_and_for_a_key_made_here(tmp_path: Path) -> None:
    state = HouseholdState(tmp_path)
    key = state.new_user("ann")
    impostor = Enrolment.issue("ann", key.public, 0, SigningKey(bytes(31) + b"\x01"))
    with pytest.raises(SignatureInvalidError):
        state.add_enrolment(impostor, AUTHORITY.public)
    for user_id, public in (("bob", key.public), ("ann", SigningKey(bytes(31) + b"\x02").public)):
        with pytest.raises(InputError):
            state.add_enrolment(Enrolment.issue(user_id, public, 0, AUTHORITY), AUTHORITY.public)
    assert state.users() == {}


def test_second_enrolment_is_refused_and_the_same_again_is_not(tmp_path: Path) -> None:
    state = household(tmp_path, "ann")
    public = state.new_user("ann").public
    state.add_enrolment(Enrolment.issue("ann", public, 0, AUTHORITY), AUTHORITY.public)
    with pytest.raises(InputError, match="already"):
        state.add_enrolment(Enrolment.issue("ann", public, 1, AUTHORITY), AUTHORITY.public)


@pytest.mark.parametrize("user_id", ["", "x" * 129, "cafe\u0301"])
def test_unusable_user_id(tmp_path: Path, user_id: str) -> None:
    with pytest.raises(InputError):
        enrolment.make_request(HouseholdState(tmp_path), [user_id])


def test_request_and_answer_travel_as_files(tmp_path: Path) -> None:
    state = HouseholdState(tmp_path / "h")
    enrolment.write_request(tmp_path / "r", enrolment.make_request(state, ["ann", "bob"]))
    requests = enrolment.read_request(tmp_path / "r")
    enrolment.write_answer(tmp_path / "a", [Enrolment.issue(u, k, 5, AUTHORITY) for u, k in requests])
    assert enrolment.accept(state, enrolment.read_answer(tmp_path / "a"), AUTHORITY.public) == 2
    assert set(state.users()) == {"ann", "bob"}
    for bad in ("{", "[]", json.dumps({"users": [{}]}), json.dumps({"enrolments": ["AA=="]})):
        (tmp_path / "bad").write_text(bad)
        for read in (enrolment.read_request, enrolment.read_answer):
            with pytest.raises(ProxidError):
                read(tmp_path / "bad")


def test_receipts_are_appended_and_a_torn_line_is_skipped(tmp_path: Path) -> None:
    key, screener = SigningKey(bytes(32)), SigningKey(bytes(31) + b"\x01")
    header = Header(Direction.RESPONSE, "ms", 1, key.public, screener.public, bytes(16), 0, 1, Limit.LINKED_USER)
    receipt = Receipt("response", bytes(64), sign(Message(header, (b"ann",)), key))
    path = tmp_path / "receipts.jsonl"
    for _ in range(2):
        ReceiptBook(path).add(receipt)
    with path.open("ab") as file:
        file.write(b'{"kind": "resp')
    assert list(read_receipts(path)) == [receipt, receipt]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
