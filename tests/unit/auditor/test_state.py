"""The auditor's folder: sealed, whole or refused by name, and never read as code."""

import pickle
from pathlib import Path

import pytest

from auditor.plain import dumps
from auditor.saved import Parts, Saved
from auditor.state import STATE, VERSION, AuditState
from proxid.crypto.hpke import OpeningKey
from proxid.errors import AuditStateError

KEY = OpeningKey(bytes(range(96)))


def nothing() -> Saved:
    times: tuple[set[int], int, int, bool, int, set[int]] = (set(), -1, -1, False, 0, set())
    from auditor.checks.c3_asked import AskedState
    from auditor.checks.c3_ended import EndedState
    from auditor.checks.c3_lost import LostState
    from auditor.checks.c3_seasons import SeasonsState
    from auditor.checks.c5_held import HeldBack
    from auditor.checks.c6_consents import Consents
    from auditor.checks.c6_restricted import RestrictedState
    from auditor.checks.c7_arrivals import ArrivalsState
    from auditor.checks.c7_limits import LimitsState
    from auditor.checks.c7_releases import ReleasesState
    from auditor.checks.c7_withheld import WithheldState

    lost, ended = LostState({}, [], set(), set()), EndedState({}, {}, 0, 0, 0)
    releases = ReleasesState({}, set(), {}, 0)
    arrivals = ArrivalsState({}, 0, [], 0, 0, "", "", 0, 0, False)
    withheld = WithheldState({}, {}, {}, releases, set(), arrivals)
    parts = Parts(
        ({}, {}, {}, {}, {}, {}, {}), ({}, {}, {}, set(), {}, {}, ended, False, lost, SeasonsState(0, [], 0), None),
        ({}, False, {}),
        (Consents(), set(), {}, set(), ({}, AskedState([], 0, [], 0), []),
         ({}, set(), {}, set(), set(), [], [], False, False, {}, [], 0, 0),
         LimitsState({}, 0, False, releases, 0, 0), (0, b"")),
        (set(), ({}, {}, {}, {}, {}, [], -1), {}, {}, ([], False, 0, [], []), {},
         RestrictedState({}, [], [], {}, set(), set(), False), {}),
        ((bytes(32), {}, {}, HeldBack().state()), withheld, set(), ({}, set(), {}, set()), times, ({}, {}),
         (set(), {}, set(), set(), set(), {}), ([], {}, set())),
        ({}, {}, {}, set(), {}, set(), []), ({}, {}, False),
    )  # fmt: skip
    return Saved({}, parts, [], {}, {"groups": 1})


def save(folder: Path, saved: Saved) -> None:
    state = AuditState(folder, KEY)
    state.load()
    state.working.write_bytes(b"sets")
    state.save(saved)


def seal(folder: Path, plain: bytes) -> None:
    """A state as another version left it."""
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    state = AuditState(folder, KEY)
    nonce = bytes(12)
    (folder / STATE).write_bytes(nonce + ChaCha20Poly1305(state._key).encrypt(nonce, plain, b"proxid/v1/audit-state"))


def refused(folder: Path, key: OpeningKey = KEY) -> str:
    state = AuditState(folder, key)
    with pytest.raises(AuditStateError) as caught:
        state.load()
    state._lock.close()  # the traceback keeps the state
    assert "audit anew with --fresh" in caught.value.rule
    return caught.value.rule


def test_state_comes_back_and_is_sealed(tmp_path: Path) -> None:
    save(tmp_path, nothing())
    assert AuditState(tmp_path, KEY).load() == nothing()
    assert b"groups" not in (tmp_path / STATE).read_bytes()


def test_state_of_an_earlier_version_is_refused_and_nothing_in_it_runs(tmp_path: Path) -> None:
    ran = tmp_path / "ran"

    class Code:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (ran,)

    save(tmp_path, nothing())
    older = {"version": VERSION - 1, "sets": bytes(32), "people": Code()}
    for plain in (pickle.dumps(older), dumps(tuple[int, str, Saved], (VERSION + 1, "", nothing())), b"[10]", b"{}"):
        seal(tmp_path, plain)
        assert "written by another version of proxid" in refused(tmp_path)
    assert not ran.exists()


def test_damaged_state_and_another_auditors_are_refused(tmp_path: Path) -> None:
    save(tmp_path, nothing())
    path = tmp_path / STATE
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert "damaged, or written under another opening_key" in refused(tmp_path)
    path.write_bytes(data)
    assert "another opening_key" in refused(tmp_path, OpeningKey(bytes(96)))
    next(tmp_path.glob("sets.*.db")).write_bytes(b"others")
    assert "of another audit" in refused(tmp_path)
