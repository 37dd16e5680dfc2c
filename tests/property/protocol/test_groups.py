"""Numbers of groups: a kind in the upper bits, a number without gaps below."""

from hypothesis import given
from hypothesis import strategies as st

from proxid.protocol.record import KIND_BASE, group_number, kind_and_number


@given(st.sampled_from(sorted(KIND_BASE)), st.integers(1, (1 << 40) - 1))
def test_a_group_number_says_its_kind(kind: str, number: int) -> None:
    assert kind_and_number(group_number(kind, number)) == (kind, number)
