"""Heads that came with answers, as they are kept until the main service's log is read."""

import sqlite3
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks import c1_answered
from auditor.checks.c1_answered import AnsweredHeads
from auditor.findings import Report
from proxid.evidence.checkpoint import Checkpoint
from tests.support import scene


def note(size: int, root: int = 0, log: str = "proxid/ms/main-service") -> bytes:
    return Checkpoint(log, size, bytes([root]) * 32).sign(scene.AUTHORITY).encode()


def test_heads_come_in_their_order_each_once_and_both_of_a_fork() -> None:
    heads = AnsweredHeads(sqlite3.connect(""))
    for size in (700, *range(600), 5, 5):
        heads.take(note(size))
    heads.take(note(5, 1))
    heads.take(note(900, 0, "proxid/ms/main-service/2"))
    found = list(heads.after("proxid/ms/main-service", 3))
    assert found == sorted([(size, bytes(32)) for size in (*range(4, 600), 700)] + [(5, b"\1" * 32)])
    assert list(heads.after("proxid/ms/main-service", 700)) == []


def test_what_is_no_head_is_remembered_and_stops_nothing() -> None:
    heads = AnsweredHeads(sqlite3.connect(""))
    for data in (b"", b"nonsense", note(1 << 63)):
        heads.take(data)
    assert heads._strange and list(heads.after("proxid/ms/main-service", -1)) == []


def test_heads_of_what_was_read_before_are_compared_each_and_what_is_left_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(c1_answered, "_PROVEN", 100)
    for heads, left in ((100, 0), (107, 1)):
        answered, compared, report = AnsweredHeads(sqlite3.connect("")), list[bytes](), Report()
        for size in range(1, heads + 1):
            answered.take(note(size))
        frontier = SimpleNamespace(origin="proxid/ms/main-service", start=200, frontier=SimpleNamespace(size=300))
        read: Any = SimpleNamespace(heads=frontier, compare=compared.append, log=SimpleNamespace(name="main-service"))
        answered.finish(read, report)
        assert len(compared) == 100 and len(report.missing) == left and report.violations == []
        assert list(answered.after("proxid/ms/main-service", 0)) == []
