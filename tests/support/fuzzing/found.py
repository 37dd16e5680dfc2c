"""Damages that a reader once took badly: by a fault of Python's own, or for good. Each is tried in every run."""

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tests.support.fuzzing.places import PLACES


class Found(NamedTuple):
    """Of which reader; which file, by glob; what is made of it: bytes of bytes, or what stands in its place."""

    reader: str
    file: str
    change: Callable[[bytes], bytes] | str


def _said(**more: Any) -> Callable[[bytes], bytes]:
    """The first line of JSON with other values."""

    def change(data: bytes) -> bytes:
        first, *rest = data.split(b"\n")
        return b"\n".join([json.dumps({**json.loads(first), **more}).encode(), *rest])

    return change


def _budget(**more: Any) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        ledger = json.loads(data)
        ledger["inputs"]["records:1"]["entries"][0].update(more)
        return json.dumps(ledger).encode()

    return change


FOUND: Final = [
    Found("party.toml", "party.toml", lambda data: b"role = [1]\n" + data),
    Found("a house", "house/ca/ca.crt", lambda data: data + b"x" * 70_000),
    Found("register", "register.jsonl", _said(user_id="\ud800")),
    Found("register", "register.jsonl", _said(key="zz")),
    Found("feed", "data/feed.jsonl", _said(records=["x"])),
    Found("feed", "data/feed.jsonl", _said(cursor=True)),
    Found("presented", "presented/device/home/receipts.jsonl", _said(kind="\ud800")),
    Found("budgets", "ledger.json", _budget(epsilon=float("nan"))),
    Found("budgets", "ledger.json", _budget(epsilon=-1.0)),
    Found("budgets", "ledger.json", _budget(part=[0, 0])),
    Found("a study's cell", "cells/*", lambda data: b"[" * 100_000),
    Found("Google's", "MyActivity.json", lambda data: b"[" * 100_000),
    Found("Google's", "MyActivity.json", lambda data: b'[{"a\\\\":' * 20_000),
    Found("truth", "truth.tsv", lambda data: data.replace(b"0\t1\t1\t1", b"0\t1\t1\t4294967297")),
    Found("truth", "truth.tsv", lambda data: data.replace(b"0\t1\t1\t1", b"0\t99\t1\t1")),
    Found("patterns", "patterns.jsonl", lambda data: b"[" * 100_000),
    Found("policies", "auditor/data/policies/activations", lambda data: b"\xff"),
    Found("profiles", "data/profiles.sqlite", "a pipe"),
    Found("secret", "alias.key", "a pipe"),
    Found("a household", "data/users/*/epoch-*.json", "a folder"),
    Found("a service's log", "evidence/lock", "a link to itself"),
    Found("a service's log", "evidence/segments/*1/leaves", "a device"),
    Found("a service's log", "evidence/segments/*12/parts", lambda data: bytes(4096)),
    Found("a household", "data/users/*/asked", "a folder"),
    Found("an export", "export/gateway/leaves", "a pipe"),
    Found("a store's file", "appendonlydir/*", "a folder"),
]  # fmt: skip
assert all(one.change in PLACES for one in FOUND if isinstance(one.change, str))
