"""Numbers of groups: a kind in the upper bits, a number without gaps below."""

from hypothesis import given
from hypothesis import strategies as st

from proxid.protocol.record import KIND_BASE, audience_tag, group_number, kind_and_number


@given(st.sampled_from(sorted(KIND_BASE)), st.integers(1, (1 << 40) - 1))
def test_a_group_number_says_its_kind(kind: str, number: int) -> None:
    assert kind_and_number(group_number(kind, number)) == (kind, number)


SEEDS = st.binary(min_size=32, max_size=32)
AUDIENCES = st.lists(st.sampled_from(["acme", "globex", "hooli"]), unique=True).map(
    lambda parties: ",".join(f"{party}:user_id" for party in sorted(parties))
)


@given(AUDIENCES, AUDIENCES, SEEDS, SEEDS)
def test_an_audience_has_one_tag_an_epoch_that_nobody_finds_without_the_seed(
    one: str, other: str, seed: bytes, another: bytes
) -> None:
    tag = audience_tag(one, seed)
    assert len(tag) == len(audience_tag(one)) == 32
    assert (tag == audience_tag(other, seed)) == (one == other)
    assert (tag == audience_tag(one, another)) == (seed == another)
    assert tag not in (audience_tag(one), audience_tag(other))
