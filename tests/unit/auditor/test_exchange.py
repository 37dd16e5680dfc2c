"""Heads that others bring: only what a service signed, contradicting ones side by side, and not without end."""

import errno
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.serving.exchange import KEPT, MOST, Exchange
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import NoteInvalidError, OutputError, OversizedError
from proxid.evidence.checkpoint import Checkpoint, origin
from tests.support.scene import MALLORY, MS, SCREENER, SERVICE

TRUST: Any = SimpleNamespace(service=MS, screener=SCREENER.public, service_key=SERVICE.public)


def head(size: int, root: int = 0, log: str = "gateway", key: SigningKey = SCREENER, generation: int = 1) -> bytes:
    return Checkpoint(origin(MS, log, generation), size, bytes([root]) * 32).sign(key).encode()


@pytest.fixture
def exchange(tmp_path: Path) -> Exchange:
    return Exchange(tmp_path / "heads", tmp_path / "reports", TRUST)


def test_two_heads_that_contradict_each_other_are_both_kept_and_shown(exchange: Exchange) -> None:
    exchange.take("auditor/second", [head(4), head(4), head(4, 1), head(9, log="main-service", key=SERVICE)])
    assert exchange.shown() == sorted(exchange.shown(), key=exchange.shown().index)
    assert set(exchange.shown()) == {head(4), head(4, 1), head(9, log="main-service", key=SERVICE)}
    assert len(exchange.compared) == 1


def test_what_no_service_signed_is_refused_with_all_that_came_with_it(exchange: Exchange) -> None:
    for bad in (head(4, key=MALLORY), head(4, log="main-service"), head(4, log="other"), b"", b"\xff\n", bytes(80)):
        with pytest.raises(NoteInvalidError):
            exchange.take("witness/witness", [head(3), bad])
    assert exchange.shown() == [] and exchange.compared == []
    exchange.take("witness/witness", [head(5, generation=2)])
    assert exchange.shown() == [head(5, generation=2)]


def test_of_one_peer_and_log_the_longest_are_kept(exchange: Exchange) -> None:
    for size in range(1, 2 * KEPT + 1):
        exchange.take("witness/witness", [head(size)])
    exchange.take("auditor/second", [head(1)])
    assert set(exchange.shown()) == {head(1), *(head(size) for size in range(KEPT + 1, 2 * KEPT + 1))}
    with pytest.raises(OversizedError):
        exchange.take("auditor/second", [head(1)] * (MOST + 1))


def test_who_brings_heads_hears_that_there_is_no_room(exchange: Exchange, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    for where, method in ((os, "write"), (Path, "unlink")):
        with monkeypatch.context() as patched, pytest.raises(OutputError):
            patched.setattr(where, method, full)
            exchange.take("auditor/second", [head(size) for size in range(1, KEPT + 3)])
