"""A consent vector has one encoding: what decodes encodes to the same bytes, whatever the order it was made in."""

from dataclasses import replace
from itertools import permutations

import pytest

from proxid.crypto.ed25519 import SigningKey
from proxid.encoding import decode, encode
from proxid.errors import ConsentError, EncodingError, SignatureInvalidError
from proxid.protocol.consent import ConsentVector, Grant

GRANTS = (
    Grant("acme", ("command", "general"), "user_id"),
    Grant("globex", ("general",), "alias"),
    Grant("globex", ("location",), "user_id"),
)
KEY = SigningKey.generate()


POLICY = bytes(range(32))


def vector(grants: tuple[Grant, ...], policy: bytes = b"") -> ConsentVector:
    return ConsentVector("ann", "main-service", 5, 1, "b", grants, policy).sign(KEY)


def test_the_order_in_which_a_vector_was_made_does_not_matter() -> None:
    encodings = {encode(*decode(vector(order).encode())[1:]) for order in permutations(GRANTS)}
    assert len(encodings) == 1
    again = ConsentVector.decode(vector(GRANTS).encode())
    assert again.encode() == vector(GRANTS).encode()
    again.verify(KEY.public, {"b": GRANTS})


@pytest.mark.parametrize("order", list(permutations(range(3)))[1:])
def test_grants_in_another_order_are_refused(order: tuple[int, ...]) -> None:
    items = decode(vector(GRANTS).encode())
    moved = encode(*items[:6], *(items[6 + at] for at in order))
    with pytest.raises(EncodingError, match="canonical"):
        ConsentVector.decode(moved)


def test_a_grant_twice_is_refused() -> None:
    items = decode(vector(GRANTS).encode())
    with pytest.raises(EncodingError, match="canonical"):
        ConsentVector.decode(encode(*items[:7], *items[6:]))


@pytest.mark.parametrize("types", [("general", "command"), ("general", "general"), ()])
def test_types_are_sorted_and_one_of_each(types: tuple[str, ...]) -> None:
    items = decode(vector(GRANTS).encode())
    grant = encode("acme", encode(*types), "user_id")
    with pytest.raises(EncodingError, match="canonical"):
        ConsentVector.decode(encode(*items[:6], grant, *items[7:]))


def test_a_vector_names_the_policy_that_it_was_given_under() -> None:
    signed = vector(GRANTS, POLICY)
    again = ConsentVector.decode(signed.encode())
    assert again == signed
    again.verify(KEY.public, {"b": GRANTS}, POLICY)
    again.verify(KEY.public, None, POLICY)
    for policy in (b"", bytes(32)):
        with pytest.raises(ConsentError, match="policy"):
            again.verify(KEY.public, {"b": GRANTS}, policy)
    with pytest.raises(ConsentError, match="policy"):
        vector(GRANTS).verify(KEY.public, {"b": GRANTS}, POLICY)
    with pytest.raises(SignatureInvalidError):
        replace(signed, policy=bytes(32)).verify(KEY.public, {"b": GRANTS}, bytes(32))
    with pytest.raises(SignatureInvalidError):
        replace(signed, policy=b"").verify(KEY.public, {"b": GRANTS})


@pytest.mark.parametrize("policy", [b"", POLICY[1:], POLICY + b"1"])
def test_a_policy_is_named_by_a_digest(policy: bytes) -> None:
    items = decode(vector(GRANTS, POLICY).encode())
    with pytest.raises(EncodingError):
        ConsentVector.decode(encode(*items[:7], policy, *items[8:]))
    with pytest.raises(EncodingError):
        ConsentVector.decode(encode(*items[:7]))
