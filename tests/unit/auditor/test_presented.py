"""What is presented on disk: kept once and whole, for one service at a time, and until its time is over."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c9_receipts import read_receipts, verify_receipts
from auditor.serving.presented import FILE, Item, PresentedStore
from proxid.errors import OutputError, RateLimitError
from proxid.protocol.receipt import DeliveryAck
from proxid.runtime.transport.peers import Peer
from tests.support.scene import EPOCH, MS, key

ACME, DAY = Peer("party", "acme"), 86_400.0
TRUST: Any = SimpleNamespace(party_keys={"acme": key("acme").public}, older_party_keys={}, service=MS)


def ack(group: int) -> Item:
    signed = DeliveryAck("acme", MS, EPOCH, group, bytes(32)).sign(key("acme"))
    return Item("acknowledgement", b"", signed.encode())


def store(folder: Path, now: float = 0.0, room: int = 100_000) -> PresentedStore:
    return PresentedStore(folder, TRUST, room, DAY, lambda: now)


def lines(folder: Path) -> list[str]:
    return (folder / "party/acme" / FILE).read_text().splitlines()


def test_a_line_that_a_crash_cut_off_is_presented_again_and_nothing_twice(tmp_path: Path) -> None:
    with store(tmp_path) as kept:
        assert kept.keep(ACME, [ack(1), ack(2), ack(1)]) == (2, 1)
    path = tmp_path / "party/acme" / FILE
    path.write_bytes(path.read_bytes()[:-20])
    with store(tmp_path) as kept:
        assert kept.keep(ACME, [ack(1), ack(2), ack(3)]) == (2, 1)
    assert len(lines(tmp_path)) == 3


def test_it_goes_when_its_time_is_over_and_its_room_is_free_again(tmp_path: Path) -> None:
    with store(tmp_path) as kept:
        kept.keep(ACME, [ack(1), ack(2)])
    with store(tmp_path, DAY - 1) as kept:
        kept.keep(ACME, [ack(3)])
        kept.expire()
        assert len(lines(tmp_path)) == 3
    with store(tmp_path, DAY + 1, room=1_500) as kept:
        with pytest.raises(RateLimitError):
            kept.keep(ACME, [ack(n) for n in range(4, 8)])
        kept.expire()
        assert len(lines(tmp_path)) == 1
        assert kept.keep(ACME, [ack(1), ack(3)]) == (1, 1)
    assert len(lines(tmp_path)) == 2


def test_two_services_do_not_write_one_folder(tmp_path: Path) -> None:
    with store(tmp_path), pytest.raises(OutputError, match="another service"), store(tmp_path):
        pass
    with store(tmp_path):
        pass


def test_what_a_file_did_not_hold_when_an_audit_began_came_late(tmp_path: Path) -> None:
    file, line = tmp_path / "receipts.jsonl", b'{"kind": "consent", "message": "YQ=="}\n'
    file.write_bytes(2 * line)
    held = verify_receipts([tmp_path])
    with file.open("ab") as more:
        more.write(line + line.rstrip())
    (tmp_path / "acknowledgements.jsonl").write_bytes(line)
    came = [one.late for one in read_receipts(tmp_path, held)]
    assert came == [True, False, False, True, True], "a file that is new, and the end of the one there was"
    assert not any(one.late for one in read_receipts(tmp_path))
