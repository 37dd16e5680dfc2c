"""Where some alias cannot be read any more, those that follow from their key and the person's part are made again."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c3_deliveries import Deliveries
from auditor.checks.c3_links import People, Person
from auditor.checks.c3_signatures import Signatures
from proxid.crypto.sansig import Limit
from proxid.encoding import encode_text
from proxid.errors import RecordMismatchError
from proxid.protocol import record
from proxid.protocol.naming import is_keyed
from tests.unit.auditor.test_expired_events import trusted

ANN = Person("ann", b"", "px1ann", 7, True, b"", part=b"p" * 32)
KEY, PERIOD = b"k" * 32, next(period for power in range(63) if is_keyed(period := 1 << power))
MADE, OTHER = (record.alias(KEY, name, ANN.part) for name in ("ann", "bob"))
ACK: Any = SimpleNamespace(epoch=7, party="acme")


def alias(person: Person = ANN, key: bytes | None = KEY, incomplete: bool = True, period: int = PERIOD) -> str:
    """By which name a record that shows another's is held to go."""
    judge = SimpleNamespace(naming=SimpleNamespace(period=lambda *_: period))
    policies: Any = SimpleNamespace(trust=trusted(), of=lambda _: judge, keyed={7})
    deliveries = Deliveries(policies, People(policies), Signatures())
    deliveries.incomplete = incomplete
    if key is not None:
        deliveries._keys["acme", period] = key
    return deliveries._alias(person, ACK, 0, "general", OTHER)


def test_what_follows_is_held_to_that() -> None:
    assert alias() == MADE != OTHER


@pytest.mark.parametrize("unknown", [{"key": b""}, {"person": replace(ANN, part=b"")}, {"period": 1}], ids=str)
def test_what_does_not_is_what_it_shows(unknown: dict[str, Any]) -> None:
    assert alias(**unknown) == OTHER


def test_a_key_that_was_never_recorded_is_no_key() -> None:
    """Whoever has one alias erased makes others under no key at all."""
    with pytest.raises(RecordMismatchError, match="key that is not in the log"):
        alias(key=None)
    assert alias(key=None, period=1) == OTHER  # of before there were keys


def test_where_all_can_be_read_it_was_never_recorded() -> None:
    with pytest.raises(RecordMismatchError, match="never recorded"):
        alias(incomplete=False)


def named(limit: Limit, kind: str = "general") -> Any:
    blocks = {record.KIND: encode_text(kind)}
    return SimpleNamespace(original=SimpleNamespace(message=SimpleNamespace(blocks=blocks), header=header(limit)))


def header(limit: Limit) -> Any:
    return SimpleNamespace(limit=limit, epoch=7)


def test_a_group_that_cannot_be_replayed_names_all_its_people_alike() -> None:
    """What the first record is asks for everybody's consent."""
    policies: Any = SimpleNamespace(trust=trusted(), naming=lambda *said: said[2])
    deliveries = Deliveries(policies, People(policies), Signatures())
    assert deliveries.granted([named(Limit.LINKED_ALIAS)] * 2) == ("general", "alias")
    for other in (named(Limit.LINKED_USER), named(Limit.LINKED_ALIAS, "command")):
        with pytest.raises(RecordMismatchError):
            deliveries.granted([named(Limit.LINKED_ALIAS), other])
