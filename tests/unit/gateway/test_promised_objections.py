"""What the gateway takes for the main service's promise that it was told: no more than an audit takes for one."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.objections import Objections
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import UpstreamRefusedError
from proxid.evidence.checkpoint import Checkpoint, origin
from proxid.evidence.events import EventType
from proxid.evidence.merkle import EMPTY_ROOT
from proxid.evidence.promise import Promise
from proxid.protocol.restriction import Restriction

MS = "main-service"
LOG = origin(MS, "main-service")
KEY = SigningKey(bytes(range(32)))
WORD = Restriction.make(MS, "px1ann", True, SigningKey(bytes(32)), 0)
GOOD = Promise(LOG, 1, EventType.RESTRICTED.value, WORD.digest, 1, Checkpoint(LOG, 0, EMPTY_ROOT).sign(KEY).encode())
"""Unsigned."""


def heard(promise: Promise) -> None:
    screener: Any = SimpleNamespace(service=MS, service_key=KEY.public)
    objections = Objections.__new__(Objections)
    objections._screener = screener
    objections._verify(promise.sign(KEY).encode(), WORD)


def test_a_promise_of_the_word_is_one() -> None:
    heard(GOOD)


@pytest.mark.parametrize(
    "changed", [{"number": 0}, {"type": EventType.CONSENT.value}, {"asked": bytes(32)}, {"log": origin(MS, "gateway")}]
)
def test_of_anything_else_it_is_none(changed: dict[str, Any]) -> None:
    with pytest.raises(UpstreamRefusedError):
        heard(replace(GOOD, **changed))
