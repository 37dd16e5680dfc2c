"""New names that people would take for another's are refused; names that exist stay."""

import itertools
from pathlib import Path

import pytest
from redis.asyncio import Redis

from proxid.clients.household.register import Register
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.identity import Enrolment
from proxid.crypto.lookalike import looks, looks_of_any, skeleton
from proxid.errors import CredentialError, EncodingError, NameAlikeError

ALIKE = (
    ("ann", "ANN"), ("ann", "\u0430nn"), ("ann", "\uff21\uff2e\uff2e"), ("paypal", "p\u0430yp\u0430l"),
    ("bob l", "bob I"), ("user1", "userl"), ("O0", "0O"), ("rn", "m"), ("Annl", "AnnI"), ("ma\u00df", "MA\u00df"),
)  # fmt: skip


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_alike_have_a_form_in_common(one: str, other: str) -> None:
    assert looks(one) & looks(other)


def test_different_names_have_none() -> None:
    names = ("ann", "anna", "bob", "main-service", "acme", "general", "user 1", "user 2", "px1", "j\u00f6rg", "jorg")
    assert not any(looks(a) & looks(b) for a, b in itertools.combinations(names, 2))


@pytest.mark.parametrize("name", ["", " a", "a  b", "a\u200bb", "\u2460", "a\u2028", "px1" + "a" * 32])
def test_what_is_no_username_is_refused(name: str) -> None:
    with pytest.raises((CredentialError, EncodingError)):
        looks(name)


def test_skeletons_are_unicodes() -> None:
    # Unicode TR 39, section 4: "paypal" with Cyrillic letters, and the example of circled and plain.
    assert skeleton("\u0440\u0430\u0443\u0440\u0430l") == skeleton("paypal") == "paypal"
    assert skeleton(skeleton("rn1O0")) == skeleton("rn1O0")


def test_the_register_keeps_names_apart(tmp_path: Path) -> None:
    ea, keys = SigningKey.generate(), [SigningKey.generate().public for _ in range(4)]
    register = Register.open(tmp_path)
    register.verify([("ann", keys[0]), ("bob", keys[1])])
    register.add([Enrolment.issue("ann", keys[0], 1, ea), Enrolment.issue("bob", keys[1], 1, ea)])
    again = Register.open(tmp_path)
    again.verify([("ann", keys[0])])  # the same key once more
    for name, key in (("ANN", keys[2]), ("\u0430nn", keys[2]), ("ann", keys[2])):
        with pytest.raises(NameAlikeError):
            again.verify([(name, key)])
    with pytest.raises(NameAlikeError):
        again.verify([("carl", keys[2]), ("CARL", keys[3])])  # within one request
    assert (tmp_path / "register.jsonl").stat().st_mode & 0o077 == 0
    assert looks_of_any("\u2460")  # a name from before


async def test_the_gateway_keeps_names_apart(client: Redis) -> None:
    from gateway.names import name_forms
    from gateway.store.library import GatewayStore
    from gateway.store.links import Registration
    from proxid.crypto.hpke import OpeningKey

    store = GatewayStore(client)
    await store.open()

    async def link(name: str, at: int, epoch: int = 7) -> bool:
        person = Registration(name, f"{at:032x}", epoch, f"px1{at}{epoch}", True, b"l", b"c")
        forms = name_forms(b"s" * 32, name)
        return await store.link(
            f"k{at}{epoch}", person, b"pk", 1000, (b"e", b"l"), OpeningKey(bytes(96)), forms
        )  # fmt: skip

    assert await link("ann", 1)
    for at, name in enumerate(("ANN", "\u0430nn", "\uff21\uff2e\uff2e"), 2):
        with pytest.raises(NameAlikeError):
            await link(name, at)
    assert await link("ann", 1, epoch=8)  # who is registered stays
    assert b"ann" not in b"".join([key async for key in client.scan_iter("{gw}:nm:*")])
