"""Aliases follow from a key of party and period and a part of the person's own (DESIGN 9)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxid.errors import EncodingError
from proxid.evidence.events import LinkedPayload
from proxid.protocol import record
from proxid.protocol.epochs import Epochs
from proxid.protocol.naming import Naming, is_keyed

KEYS = st.binary(min_size=32, max_size=32)
NAMES = st.text(st.characters(codec="ascii"), min_size=1, max_size=20)


@given(KEYS, KEYS, NAMES, NAMES, KEYS, KEYS)
def test_an_alias_is_one_of_key_person_and_part(
    key: bytes, other: bytes, name: str, somebody: str, part: bytes, another: bytes
) -> None:
    alias = record.alias(key, name, part)
    assert record.is_alias(alias) and record.alias(key, name, part) == alias
    for tried in ((other, name, part), (key, somebody, part), (key, name, another)):
        assert (record.alias(*tried) == alias) == (tried == (key, name, part))


@given(NAMES, st.integers(0, 1 << 40), KEYS, KEYS)
def test_a_commitment_is_of_one_key_party_and_period(party: str, period: int, key: bytes, other: bytes) -> None:
    committed = record.alias_commitment(party, period, key)
    assert committed != record.alias_commitment(party, period + 1, key)
    assert committed != record.alias_commitment(party + "x", period, key)
    assert (committed == record.alias_commitment(party, period, other)) == (key == other)


@given(
    st.sampled_from((None, 3600, 86_400, 7 * 86_400)), st.sampled_from(("general", "location", "command")),
    st.integers(1, 40_000), st.integers(0, 86_399), st.booleans(),
)  # fmt: skip
def test_the_key_of_a_period_is_kept_for_one_more(
    seconds: int | None, kind: str, epoch: int, since: int, keyed: bool
) -> None:
    naming, epochs, now = Naming(seconds), Epochs(), epoch * 86_400 + since
    period = naming.period(kind, epoch, now * 1000, keyed)
    assert is_keyed(period) == keyed
    length = seconds if seconds and kind == "general" else 86_400
    assert now + length < naming.until(period, epochs) <= now + 2 * length


@given(st.lists(st.binary(max_size=30), min_size=3, max_size=3), KEYS)
def test_a_link_is_one_event_in_both_forms(documents: list[bytes], part: bytes) -> None:
    for payload in (LinkedPayload(*documents), LinkedPayload(*documents, part)):
        assert LinkedPayload.decode(payload.encode()) == payload
    with pytest.raises(EncodingError):
        LinkedPayload.decode(LinkedPayload(*documents, part[:-1]).encode())
