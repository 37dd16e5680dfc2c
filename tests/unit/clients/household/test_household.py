"""A device believes the keys it was provisioned with and nothing else (DESIGN 2, 5.4, 7)."""

import base64
from pathlib import Path
from typing import cast

import pytest

from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.gateway import GatewayClient
from proxid.clients.household.household import Household
from proxid.clients.household.receipts import read_receipts
from proxid.clients.household.state import HouseholdState
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.identity import Enrolment, EpochKey
from proxid.crypto.sansig import SignedMessage
from proxid.encoding import encode_text
from proxid.errors import (
    Code,
    ConsentError,
    EncodingError,
    EpochError,
    InputError,
    LimitError,
    ProxidError,
    RefusedError,
    UpstreamError,
)
from proxid.protocol import consent, request
from proxid.protocol.consent import TYPES, ConsentVector, Grant
from proxid.protocol.policy import PolicyDocument
from proxid.runtime.config import load
from proxid.runtime.transport.convert import to_wire
from tests.support.fake_gateway import (
    IS,
    MS,
    OTHER,
    POLICY,
    SEAL,
    SERVICE,
    FakeGateway,
    other_screener,
    other_user,
    restored,
)

EA = SigningKey(bytes(31) + b"\x09")
DAY = 86_400
NOW = 20_000 * DAY + 43_200.0
PLANTED = "my secret is zebulon"


def text(key: bytes) -> str:
    return base64.b64encode(key).decode()


@pytest.fixture
def config(tmp_path: Path) -> DeviceConfig:
    path = tmp_path / "device.toml"
    path.write_text(
        f"""name = "h"
[policy]
parties = ["acme"]
[policy.bundles.all.acme]
types = ["general"]
[trust]
enrolment_authority = "{text(EA.public)}"
service = "{text(MS.public)}"
screener = "{text(IS.public)}"
"""
    )
    found = load(DeviceConfig, path)
    state = HouseholdState(found.data_dir)
    for user in ("ann", "bob"):
        state.add_enrolment(Enrolment.issue(user, state.new_user(user).public, 0, EA), EA.public)
    return found


class Clock:
    """Stands still until told otherwise."""

    now = NOW

    def __call__(self) -> float:
        return self.now


def household(config: DeviceConfig, gateway: FakeGateway, clock: Clock | None = None) -> Household:
    return Household(config, cast(GatewayClient, gateway), clock or Clock())


@pytest.fixture
def gateway() -> FakeGateway:
    return FakeGateway(20_000)


async def test_answer_is_opened_and_the_receipt_kept(config: DeviceConfig, gateway: FakeGateway) -> None:
    gateway.answer = "it is noon"
    answer = await household(config, gateway).ask("ann", PLANTED)
    assert (answer.text, answer.retries) == ("it is noon", 0)
    (receipt,) = read_receipts(config.data_dir / "receipts.jsonl")
    assert (receipt.kind, receipt.session) == ("response", answer.session)
    assert PLANTED.encode() not in (config.data_dir / "receipts.jsonl").read_bytes()
    assert PLANTED not in repr(answer)


async def test_one_key_an_epoch_and_user_also_after_a_restart(config: DeviceConfig, gateway: FakeGateway) -> None:
    clock = Clock()
    first = household(config, gateway, clock)
    for user in ("ann", "bob", "ann"):
        await first.ask(user, "x")
    await household(config, gateway, clock).ask("ann", "x")
    keys = [(link.user_id, link.epoch_key) for link in gateway.links]
    assert len(keys) == 3
    assert len(set(keys)) == 2
    gateway.epoch, clock.now = 20_001, NOW + DAY
    await first.ask("ann", "x")
    assert gateway.links[-1].epoch == 20_001
    assert gateway.links[-1].epoch_key not in dict(keys).values()


async def test_nonces_differ_and_the_same_text_looks_different(config: DeviceConfig, gateway: FakeGateway) -> None:
    device = household(config, gateway)
    for _ in range(2):
        await device.ask("ann", "same")
    first, second = gateway.asked
    assert first.header.nonce != second.header.nonce
    assert all(a != b for a, b in zip(first.message.blocks[1:3], second.message.blocks[1:3], strict=True))


async def test_stranger_is_refused_here(config: DeviceConfig, gateway: FakeGateway) -> None:
    with pytest.raises(InputError):
        await household(config, gateway).ask("cem", "x")
    assert gateway.links == []


@pytest.mark.parametrize(
    "key",
    [
        EpochKey(SERVICE, 20_000, SEAL.public.data, bytes(32), POLICY.digest).issue(OTHER),
        EpochKey(SERVICE, 19_999, SEAL.public.data, bytes(32), POLICY.digest).issue(MS),
        EpochKey("another", 20_000, SEAL.public.data, bytes(32), POLICY.digest).issue(MS),
        EpochKey(SERVICE, 20_000, SEAL.public.data, bytes(32), POLICY.digest, bytes(64)),
    ],
    ids=["signed by another", "of another epoch", "of another service", "not signed"],
)
async def test_sealing_key_must_be_the_services(config: DeviceConfig, gateway: FakeGateway, key: EpochKey) -> None:
    """Otherwise the gateway could hand out a key of its own and read along."""
    gateway.epoch_key = key
    with pytest.raises(ProxidError):
        await household(config, gateway).ask("ann", "x")
    assert gateway.asked == []


@pytest.mark.parametrize("epoch", [19_999, 20_001, 0, 2**63])
async def test_epoch_must_fit_the_devices_clock(config: DeviceConfig, epoch: int) -> None:
    with pytest.raises(EpochError):
        await household(config, FakeGateway(epoch)).ask("ann", "x")


async def test_pseudonym_must_be_the_keys(config: DeviceConfig, gateway: FakeGateway) -> None:
    gateway.wrong_prox_id = True
    with pytest.raises(LimitError):
        await household(config, gateway).ask("ann", "x")


async def test_response_must_be_for_this_user_by_both_services(config: DeviceConfig, gateway: FakeGateway) -> None:
    kept: list[SignedMessage] = []

    def earlier(signed: SignedMessage) -> SignedMessage:
        kept.append(signed)
        return kept[0]

    device = household(config, gateway)
    gateway.change = earlier
    await device.ask("ann", "x")
    for change in (earlier, other_user, other_screener):
        gateway.change = change
        with pytest.raises(ProxidError):
            await device.ask("ann", "x")
    assert len(list(read_receipts(config.data_dir / "receipts.jsonl"))) == 1


async def test_end_of_the_epoch_on_the_way_gives_a_new_key(config: DeviceConfig, gateway: FakeGateway) -> None:
    clock = Clock()
    clock.now = 20_001 * DAY - 2.0
    device = household(config, gateway, clock)
    await device.ask("ann", "x")
    gateway.refuse, gateway.epoch = [Code.EPOCH_NOT_CURRENT], 20_001
    clock.now += 1.0
    await device.ask("ann", "y")
    assert [link.epoch for link in gateway.links] == [20_000, 20_001]


async def test_other_refusals_are_told(config: DeviceConfig, gateway: FakeGateway) -> None:
    gateway.refuse = [Code.RATE_LIMITED]
    with pytest.raises(RefusedError) as caught:
        await household(config, gateway).ask("ann", "x")
    assert caught.value.remote is Code.RATE_LIMITED


async def test_consent_is_signed_for_both_and_counts_its_versions(config: DeviceConfig, gateway: FakeGateway) -> None:
    device = household(config, gateway)
    assert await device.consent("ann", "all") == 1
    assert await device.consent("ann", "all") == 1
    assert await device.consent("ann", "nothing") == 2
    assert await household(config, gateway).consent("ann", "all") == 3
    sent = [(ConsentVector.decode(vector), consent.read(message)) for vector, message in gateway.consents]
    assert [read for _, read in sent] == [("all", 1), ("nothing", 2), ("all", 3)]
    assert [(len(vector.grants), vector.version) for vector, _ in sent] == [(1, 1), (0, 2), (1, 3)]
    kinds = [receipt.kind for receipt in read_receipts(config.data_dir / "receipts.jsonl")]
    assert kinds == ["consent"] * 3


async def test_unknown_bundle_is_not_sent(config: DeviceConfig, gateway: FakeGateway) -> None:
    with pytest.raises(ConsentError):
        await household(config, gateway).consent("ann", "other")
    assert gateway.consents == []


async def test_interrupted_consent_is_sent_again_as_it_was(config: DeviceConfig, gateway: FakeGateway) -> None:
    gateway.consent_fails = [UpstreamError("away")]
    with pytest.raises(UpstreamError):
        await household(config, gateway).consent("ann", "all")
    assert await household(config, gateway).consent("ann", "all") == 1
    assert gateway.consents[0] == gateway.consents[1]


async def test_a_choice_that_an_objection_refuses_leaves_what_was_acknowledged(
    config: DeviceConfig, gateway: FakeGateway
) -> None:
    device = household(config, gateway)
    assert await device.consent("ann", "nothing") == 1
    gateway.consent_fails = [RefusedError(Code.OBJECTED)]
    with pytest.raises(RefusedError):
        await device.consent("ann", "all")
    standing = await device.standing("ann")
    assert (standing.bundle, standing.version, standing.pending) == ("nothing", 1, False)
    assert device.objection("ann") == 0
    # Of one that nothing was heard of it is not known whether it came before the objection.
    gateway.consent_fails = [UpstreamError("away"), RefusedError(Code.OBJECTED), RefusedError(Code.OBJECTED)]
    for error in (UpstreamError, RefusedError):
        with pytest.raises(error):
            await device.consent("ann", "all")
    assert (await device.standing("ann")).pending
    assert await device.consent("ann", "all") == 2


@pytest.mark.parametrize("taken", [False, True], ids=["never arrived", "in effect"])
async def test_consent_too_old_to_repeat_is_made_anew(config: DeviceConfig, gateway: FakeGateway, taken: bool) -> None:
    gateway.consent_fails = [UpstreamError("away"), RefusedError(Code.NOT_FRESH)]
    with pytest.raises(UpstreamError):
        await household(config, gateway).consent("ann", "all")
    if taken:
        gateway.version = 1
        gateway.consent_fails.append(RefusedError(Code.CONSENT_INVALID))
    version = await household(config, gateway).consent("ann", "nothing")
    assert version == gateway.version == (2 if taken else 1)


async def test_a_choice_that_the_gateway_does_not_promise_is_made_anew(
    config: DeviceConfig, gateway: FakeGateway
) -> None:
    gateway.promises = False
    with pytest.raises(ConsentError, match="does not promise"):
        await household(config, gateway).consent("ann", "all")
    gateway.promises = True
    gateway.consent_fails = [UpstreamError("away")]
    with pytest.raises(UpstreamError):
        await household(config, gateway).consent("ann", "all")
    assert await household(config, gateway).consent("ann", "all") == 1


async def test_withdrawal_counts_only_with_a_genuine_acknowledgement(
    config: DeviceConfig, gateway: FakeGateway
) -> None:
    device = household(config, gateway)
    await device.consent("ann", "all")
    gateway.change = other_user
    with pytest.raises(ProxidError):
        await device.consent("ann", "nothing")
    gateway.change = lambda signed: restored(signed, encode_text("ann"))
    assert await device.consent("ann", "nothing") == 2


async def test_a_consent_names_the_policy_of_the_epoch_and_lasts_as_long(
    config: DeviceConfig, gateway: FakeGateway
) -> None:
    device = household(config, gateway)
    await device.consent("ann", "all")
    found = await device.standing("ann")
    assert (found.bundle, found.version, found.policy, found.until) == ("all", 1, POLICY.digest, 20_001 * DAY)
    vector = ConsentVector.decode(gateway.consents[0][0])
    assert (vector.policy, vector.grants) == (POLICY.digest, POLICY.bundles["all"])


async def test_another_text_than_the_digest_names_is_not_consented_to(
    config: DeviceConfig, gateway: FakeGateway
) -> None:
    wider = PolicyDocument(("acme",), {**POLICY.bundles, "all": (Grant("acme", TYPES, "user_id"),)}, POLICY.settings)
    for text in (wider.text, "", POLICY.text + " "):
        gateway.text = text
        with pytest.raises(EncodingError):
            await household(config, gateway).consent("ann", "all")
    assert gateway.consents == []
    gateway.text = POLICY.text
    assert await household(config, gateway).consent("ann", "all") == 1
    gateway.text = wider.text  # read once, and kept
    assert await household(config, gateway).consent("ann", "nothing") == 2


async def test_a_document_that_is_damaged_on_disk_is_read_anew(config: DeviceConfig, gateway: FakeGateway) -> None:
    await household(config, gateway).consent("ann", "all")
    path = config.data_dir / "policies" / f"{POLICY.digest.hex()}.json"
    path.write_text("{}")
    assert await household(config, gateway).consent("ann", "nothing") == 2
    assert path.read_text() == POLICY.text


async def test_requests_and_answers_have_a_few_sizes_on_the_wire(config: DeviceConfig, gateway: FakeGateway) -> None:
    """Whatever is said, from where, when: the bytes that travel say only which of a few classes it is in."""
    clock, sizes, told = Clock(), list[int](), set[int]()
    device = household(config, gateway, clock)

    def heard(reply: SignedMessage) -> SignedMessage:
        told.add(to_wire(reply).ByteSize())
        return reply

    gateway.change = heard
    for length in range(1, 2000, 37):
        clock.now += 61.0
        gateway.answer = "a" * (length // 8 + 1)
        await device.ask("ann", "x" * length, "48.8,2.3" if length % 2 else "")
        sizes.append(to_wire(gateway.asked[-1]).ByteSize())
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 3 and len(told) == 1


async def test_places_are_sent_to_a_hundred_metres_unless_asked_for(config: DeviceConfig, gateway: FakeGateway) -> None:
    for exact, sent in ((False, "48.857,2.352"), (True, "48.85661,2.35222")):
        chosen = config.model_copy(update={"exact_location": exact})
        await household(chosen, gateway).ask("ann", "x", "48.85661,2.35222")
        assert request.open_body(gateway.asked[-1], SEAL).location == sent
