"""Signatures checked once: what is vouched for is one message in one role, byte for byte."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path

import pytest

from auditor.checks import c3_workers
from auditor.checks.c3_signatures import Signatures, name_of, name_of_pair, prove
from auditor.checks.c3_workers import BATCH, WORTH, SignatureWorkers
from proxid.crypto.sansig import Role, SignedMessage
from proxid.errors import SignatureInvalidError
from proxid.evidence.events import Event, EventType, SanitizedPair
from tests.support import scene


def flipped(signed: SignedMessage, at: int) -> SignedMessage:
    changed = bytearray(signed.signature)
    changed[at] ^= 1
    return SignedMessage(signed.message, bytes(changed))


GOOD = SanitizedPair(scene.request(), scene.sanitized())
HALVES = {
    "sigma_f": SanitizedPair(flipped(GOOD.original, 0), flipped(GOOD.sanitized, 0)),
    "signer": SanitizedPair(flipped(GOOD.original, 100), GOOD.sanitized),
    "sanitizer": SanitizedPair(GOOD.original, flipped(GOOD.sanitized, 100)),
}


@pytest.mark.parametrize("bad", HALVES.values(), ids=HALVES)
def test_a_pair_that_does_not_hold_is_not_vouched_for(bad: SanitizedPair) -> None:
    assert prove([(EventType.FORWARDED, bad.encode()), (EventType.FORWARDED, b"no pair")]) == frozenset()
    signatures = Signatures()
    signatures.proven = prove([(EventType.FORWARDED, GOOD.encode())])
    assert signatures.proven == {name_of_pair(GOOD)}
    signatures.pair(GOOD)
    with pytest.raises(SignatureInvalidError):
        signatures.pair(bad)


def test_only_the_same_message_in_the_same_role_needs_no_check() -> None:
    signed = scene.sanitized()
    good = name_of(signed, Role.SANITIZER)
    assert good != name_of(signed, Role.SIGNER)
    Signatures.message(signed, Role.SANITIZER, good)
    for bad in (flipped(signed, 3), flipped(signed, 70)):
        with pytest.raises(SignatureInvalidError):
            Signatures.message(bad, Role.SANITIZER, good)


BAD = HALVES["signer"]


def of_pairs(count: int) -> list[Event]:
    """Events of a pair that holds, one that does not and none, in turns."""
    payloads = [GOOD.encode(), BAD.encode(), b""]
    return [Event(i, EventType.FORWARDED, b"", b"{}", payloads[i % 3]) for i in range(count)]


@pytest.fixture
def started() -> Iterator[list[SignatureWorkers]]:
    made: list[SignatureWorkers] = []
    yield made
    for workers in made:
        workers.close()


@pytest.mark.parametrize("count", [0, 2])
def test_events_come_in_order_with_what_other_processes_found(count: int, started: list[SignatureWorkers]) -> None:
    events = of_pairs(3 * BATCH)
    workers = SignatureWorkers(count)
    started.append(workers)
    batches = list(workers.batches(iter(events), len(events)))
    assert [event for batch, _ in batches for event in batch] == events
    expected = frozenset({name_of_pair(GOOD)}) if count else frozenset()
    assert {proven for _, proven in batches} == {expected}


@pytest.mark.parametrize(("new", "processors", "some"), [(WORTH, 2, True), (WORTH, 1, False), (WORTH - 1, 2, False)])
def test_a_long_part_has_a_process_of_its_own_for_signatures_where_there_is_a_processor_for_it(
    monkeypatch: pytest.MonkeyPatch, started: list[SignatureWorkers], new: int, processors: int, some: bool
) -> None:
    monkeypatch.setattr(c3_workers, "processors", lambda: processors)
    workers = SignatureWorkers(None)
    started.append(workers)
    found = [proven for _, proven in workers.batches(iter(of_pairs(BATCH)), new)]
    assert found == [frozenset({name_of_pair(GOOD)}) if some else frozenset()]


def test_what_a_killed_process_would_have_vouched_for_is_left_to_the_reader(started: list[SignatureWorkers]) -> None:
    events, before = of_pairs(20 * BATCH), {child.pid for child in active_children()}
    workers = SignatureWorkers(1)
    started.append(workers)
    batches = workers.batches(iter(events), len(events))
    read, proven = next(batches)
    assert proven
    for child in active_children():
        if child.pid not in before:
            child.kill()
    rest = list(batches)
    assert [*read, *(event for batch, _ in rest for event in batch)] == events
    assert rest[-1][1] == frozenset()


_KILLED = """
import os, signal
from auditor.checks.c3_workers import SignatureWorkers
from multiprocessing import active_children
from proxid.evidence.events import Event, EventType
if __name__ == "__main__":
    workers = SignatureWorkers(1)
    list(workers.batches(iter([Event(1, EventType.FORWARDED, b"", b"{}", b"-")]), 1))
    print(active_children()[0].pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


_INTERRUPTED = """
import os, signal, sys
from auditor.checks.c3_workers import SignatureWorkers
from proxid.evidence.events import Event, EventType
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background does not hear it
    workers = SignatureWorkers(1)
    batches = workers.batches(iter([Event(1, EventType.FORWARDED, b"", b"{}", b"-")]), 1)
    try:
        next(batches)
    except KeyboardInterrupt:
        print("heard", flush=True)
    workers.close()
else:  # its process is starting, and knows nothing of the audit yet
    os.killpg(0, signal.SIGINT)
"""


def test_ctrl_c_while_a_process_starts_is_the_readers_alone(tmp_path: Path) -> None:
    (tmp_path / "audits.py").write_text(_INTERRUPTED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, tmp_path / "audits.py"], capture_output=True, timeout=60, check=False, start_new_session=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"heard\n", b"")


@pytest.mark.parametrize("room", [0, 7], ids=["pool", "process"])
def test_where_no_process_can_be_started_the_reader_checks_alone(room: int, started: list[SignatureWorkers]) -> None:
    """As where so many are not allowed, or there is no memory for one."""
    events = of_pairs(3 * BATCH)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    workers = SignatureWorkers(1)
    started.append(workers)
    held = os.dup(1)  # the next that is free
    os.close(held)
    resource.setrlimit(resource.RLIMIT_NOFILE, (held + room, before[1]))
    try:
        batches = list(workers.batches(iter(events), len(events)))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert [event for batch, _ in batches for event in batch] == events
    assert {proven for _, proven in batches} == {frozenset()}


def test_a_killed_audit_leaves_no_process(tmp_path: Path) -> None:
    (tmp_path / "audits.py").write_text(_KILLED, encoding="utf-8")
    # Its process inherits standard output, which ends only when the last that holds it does.
    done = subprocess.run([sys.executable, tmp_path / "audits.py"], stdout=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL and int(done.stdout) > 0
