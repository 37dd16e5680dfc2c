"""The Identity Screener's atomic steps on a real store (gateway/store/lua)."""

import asyncio
import os
from types import SimpleNamespace
from typing import Any

import pytest
from redis.asyncio import Redis

from gateway.refusals import Refused
from gateway.requests import RequestPath
from gateway.store.library import GatewayStore
from gateway.store.links import Registration, Revoked
from gateway.store.rights import RightsStore
from gateway.store.steps import PREFIX
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey
from proxid.crypto.revocation import Revocation
from proxid.errors import ConsentError, NonceReplayError, RateLimitError, RecordMismatchError, RegistrationError
from proxid.evidence.events import decode_header

LIMITS = (300, 100)
EVIDENCE = OpeningKey(bytes(96))
ALICE = Registration("alice", "aa" * 16, 7, "px1alice", True, b"link-a", b"cred-a")
BOB = Registration("bob", "bb" * 16, 7, "px1bob", True, b"link-b", b"cred-b")


@pytest.fixture
async def store(client: Redis) -> GatewayStore:
    store = GatewayStore(client)
    await store.open()
    await store.link("ka", ALICE, b"pk-a", 1000, (b"enrol", b"linked"), EVIDENCE)
    await store.link("kb", BOB, b"pk-b", 1000, (b"enrol", b"linked"), EVIDENCE)
    return store


async def events(client: Redis) -> list[tuple[int, str, dict[str, object]]]:
    rows = await client.xrange(f"{PREFIX}:events")
    return [(int(n.split(b"-")[0]), f[b"t"].decode(), dict(decode_header(f[b"h"]))) for n, f in rows]


async def types(client: Redis) -> list[str]:
    return [kind for _, kind, _ in await events(client)]


async def test_who_takes_nothing_is_not_looked_for_for_ever(store: GatewayStore) -> None:
    async with asyncio.timeout(20):
        assert await store.take("acme", 0, 0) == []


async def test_every_key_that_an_enrolment_replaces_is_over(store: GatewayStore) -> None:
    later = Registration("alice", ALICE.user_tag, 8, "px1later", True, b"link-l", b"cred-l")
    named = [b"pk-a", b"pk-x", b"pk-l"]  # one of them was never held here, or lost with a store
    assert await store.link("kl", later, b"pk-l", 1000, (b"enrol", b"linked"), EVIDENCE, replaces=named)
    for number, old in enumerate((b"pk-a", b"pk-x")):
        again = Registration("alice", ALICE.user_tag, 9, "px1again", True, b"link-o", b"cred-o")
        with pytest.raises(RegistrationError, match="replaced"):
            await store.link(f"ko{number}", again, old, 1000, (b"", b""), EVIDENCE, replaces=[b"pk-l"])


async def test_a_revocation_is_in_effect_before_its_time_is_known(store: GatewayStore, client: Redis) -> None:
    authority = SigningKey.generate()
    one = Revocation.issue("alice", b"pk-a".ljust(32), 1, authority)
    before = await types(client)
    tag = ALICE.user_tag
    assert [await store.revoke(tag, one, b"sealed", None) for _ in range(2)] == [Revoked.WAITS] * 2
    assert await types(client) == before
    assert await client.sismember(f"{PREFIX}:eo:{tag}", one.user_key)
    assert [await store.revoke(tag, one, b"sealed", 5.0) for _ in range(2)] == [Revoked.DONE, Revoked.BEFORE]
    assert await types(client) == [*before, "REVOKED"]
    await RightsStore(store).begin_erasure(BOB.user_tag, b"request", b"enrolment", b"pk-b")
    assert await store.revoke(BOB.user_tag, one, b"sealed", 5.0) is Revoked.ERASED


async def test_a_lost_key_is_told_from_the_one_in_its_place_and_listed_as_before_there_were_lost_ones(
    store: GatewayStore, client: Redis
) -> None:
    """An earlier release reads the list of a person's keys: what it erases, it erases whole."""
    anew = Registration("alice", ALICE.user_tag, 7, "px1anew", False, b"link-n", b"cred-n instead of px1alice")
    other = OpeningKey(b"1" * 96)
    assert await store.link("kn", anew, b"pk-a", 1000, (b"", b"linked"), other, instead="px1alice")
    assert await store.due(9) == [f"lost|{ALICE.user_tag}|7"]
    listed = await client.hvals(f"{PREFIX}:s:{ALICE.user_tag}")
    assert sorted(listed) == [b"7|px1alice", b"7|px1anew"]
    subjects = (await RightsStore(store).erasure(ALICE.user_tag)).subjects
    assert {subject.prox_id: subject.over for subject in subjects} == {"px1alice": True, "px1anew": False}
    held = await RightsStore(store).held(ALICE.user_tag)
    assert [epoch for epoch, *_ in held.epochs] == [7]
    await RightsStore(store).begin_erasure(ALICE.user_tag, b"request", b"enrolment", b"pk-a")
    assert await store.due(9) == []


async def test_what_a_gateway_was_telling_when_it_was_killed_is_told_at_once(store: GatewayStore) -> None:
    anew = Registration("alice", ALICE.user_tag, 7, "px1anew", False, b"link-n", b"cred-n instead of px1alice")
    await store.link("kn", anew, b"pk-a", 1000, (b"", b"linked"), OpeningKey(b"1" * 96), instead="px1alice")
    (name,) = await store.due(9)
    assert await store.claim(name, 150) and await store.due(9) == []
    await store.claims_end()
    assert await store.due(9) == [name] and await store.claim(name, 150)


async def test_link_is_idempotent_and_refuses_a_second_key(store: GatewayStore, client: Redis) -> None:
    assert not await store.link("ka", ALICE, b"pk-a", 1000, (b"enrol", b"linked"), EVIDENCE)
    with pytest.raises(RegistrationError, match="registered before"):
        await store.link("ka", BOB, b"pk-b", 1000, (b"", b""), EVIDENCE)
    second = Registration("alice", ALICE.user_tag, 7, "px1other", True, b"link-c", b"cred-c")
    with pytest.raises(RegistrationError, match="live epoch key"):
        await store.link("kc", second, b"pk-a", 1000, (b"", b""), EVIDENCE)
    assert await store.registration("ka") == ALICE
    with pytest.raises(RegistrationError):
        await store.registration("kc")
    assert await types(client) == ["ENROLLED", "LINKED"] * 2


async def test_a_name_that_was_enrolled_again_belongs_to_the_later_key(store: GatewayStore, client: Redis) -> None:
    def of(epoch: int) -> Registration:
        return Registration("alice", ALICE.user_tag, epoch, f"px1alice{epoch}", True, b"link", b"cred")

    rights, payloads = RightsStore(store), (b"enrol", b"linked")
    # Before the later key is linked, nobody here knows of it.
    assert await rights.begin_erasure(ALICE.user_tag, b"request", b"enrolment", b"pk-later") is None
    assert await store.link("kd", of(8), b"pk-later", 1000, payloads, EVIDENCE, replaces=[b"pk-a"])
    assert await rights.begin_erasure(ALICE.user_tag, b"request", b"enrolment", b"pk-a") is None
    for epoch in (8, 9):  # and it cannot come back by linking either
        with pytest.raises(RegistrationError, match="replaced"):
            await store.link("ke", of(epoch), b"pk-a", 1000, payloads, EVIDENCE)
    assert await store.link("kf", of(9), b"pk-later", 1000, payloads, EVIDENCE)
    assert await rights.erasures() == []
    assert await rights.begin_erasure(ALICE.user_tag, b"request", b"enrolment", b"pk-later") == b""
    assert await rights.begin_erasure(ALICE.user_tag, b"request", b"enrolment", b"pk-a") is None
    assert await rights.begin_erasure(BOB.user_tag, b"request", b"enrolment", b"pk-b") == b""


async def test_another_key_is_taken_if_the_enrolment_names_the_one_before(
    store: GatewayStore,
) -> None:
    later = Registration("alice", ALICE.user_tag, 8, "px1alice8", True, b"link", b"cred")
    for named in ([], [b"pk-x"]):
        with pytest.raises(RegistrationError, match="takes the place"):
            await store.link("kd", later, b"pk-b", 1000, (b"enrol", b"linked"), EVIDENCE, replaces=named)
    assert await store.link("kd", later, b"pk-b", 1000, (b"enrol", b"linked"), EVIDENCE, replaces=[b"pk-x", b"pk-a"])


async def test_person_epochs_whose_links_have_expired_are_forgotten(store: GatewayStore, client: Redis) -> None:
    async def link(epoch: int) -> list[bytes]:
        person = Registration("alice", ALICE.user_tag, epoch, f"px1alice{epoch}", True, b"link", b"cred")
        evidence = OpeningKey.generate(os.urandom)
        assert await store.link(f"k{epoch}", person, b"pk-a", 1000, (b"enrol", b"linked"), evidence)
        return sorted((await client.hgetall(f"{PREFIX}:s:{ALICE.user_tag}")).values())

    assert await link(8) == [b"7|px1alice", b"8|px1alice8"]
    for name in [name async for name in client.scan_iter(match=f"{PREFIX}:ek:*")]:
        await client.delete(name)  # as it goes by itself
    assert await link(9) == [b"9|px1alice9"]


async def test_forward_marks_the_nonce_with_the_event(store: GatewayStore, client: Redis) -> None:
    assert await store.forward("ka", "n1", b"s1", b"pair", 60.0, LIMITS) is None
    assert await store.forward("ka", "n1", b"s1", b"pair", 61.0, LIMITS) is None  # a retry goes to MS again
    with pytest.raises(NonceReplayError):
        await store.forward("ka", "n1", b"s2", b"pair", 61.0, LIMITS)
    with pytest.raises(RegistrationError):
        await store.forward("kx", "n2", b"s3", b"pair", 61.0, LIMITS)
    assert (await types(client)).count("FORWARDED") == 1
    assert await store.answered(b"s1", b"answer", b"pair", 300, ALICE.user_tag) == b"answer"
    assert await store.answered(b"s1", b"another", b"pair", 300, ALICE.user_tag) == b"answer"
    assert await store.forward("ka", "n1", b"s1", b"pair", 62.0, LIMITS) == b"answer"
    assert (await types(client)).count("ANSWERED") == 1


async def test_rate_limit_counts_a_user_and_a_minute(store: GatewayStore) -> None:
    for i in range(3):
        await store.forward("ka", f"n{i}", b"s%d" % i, b"", 60.0, (300, 3))
    with pytest.raises(RateLimitError):
        await store.forward("ka", "n9", b"s9", b"", 119.0, (300, 3))
    await store.forward("kb", "m0", b"t0", b"", 119.0, (300, 3))
    await store.forward("ka", "n9", b"s9", b"", 120.0, (300, 3))


async def test_a_crash_leaves_open_sessions_that_recovery_settles(store: GatewayStore, client: Redis) -> None:
    await store.forward("ka", "n1", b"s1", b"", 60.0, LIMITS)
    await store.forward("ka", "n2", b"s2", b"", 60.0, LIMITS)
    await store.answered(b"s2", b"answer", b"", 300, ALICE.user_tag)
    assert await store.open_sessions() == [b"s1"]
    await store.unreached(b"s1")
    await store.unreached(b"s1")
    assert (await types(client)).count("UNREACHED") == 1
    assert await store.open_sessions() == []


async def test_open_sessions_can_be_asked_for_by_age(store: GatewayStore) -> None:
    for n, time in enumerate((60.0, 90.0, 75.0)):
        await store.forward("ka", f"n{n}", b"s%d" % n, b"", time, LIMITS)
    assert await store.open_sessions() == [b"s0", b"s2", b"s1"]
    assert await store.open_sessions(until=80.5) == [b"s0", b"s2"]
    assert await store.open_sessions(until=59) == []
    assert await store.open_sessions(limit=1) == [b"s0"]


async def settled(store: GatewayStore, seconds: float) -> None:
    """What has been open for so long at second 1000 is settled, and only that."""
    screener: Any = SimpleNamespace(clock=lambda: 1000.0, watch=SimpleNamespace(doubt=lambda: None))
    nobody: Any = None
    job = asyncio.create_task(RequestPath(screener, store, *[nobody] * 4).settle_left(seconds))
    async with asyncio.timeout(20):
        while await store.open_sessions() != [b"new"]:  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.01)
    job.cancel()


async def test_sessions_that_nobody_carries_any_more_are_settled(store: GatewayStore, client: Redis) -> None:
    await store.forward("ka", "n1", b"old", b"", 60.0, LIMITS)
    await store.forward("ka", "n2", b"new", b"", 1000.0, LIMITS)
    await settled(store, 0.01)
    assert (await types(client)).count("UNREACHED") == 1


async def test_what_nobody_carries_any_more_does_not_wait_for_as_long_again(store: GatewayStore) -> None:
    await store.forward("ka", "n1", b"old", b"", 60.0, LIMITS)
    await store.forward("ka", "n2", b"new", b"", 1000.0, LIMITS)
    await settled(store, 900.0)


async def test_what_was_forwarded_by_a_clock_that_was_ahead_does_not_wait_for_it(store: GatewayStore) -> None:
    await store.forward("ka", "n1", b"old", b"", 60_000.0, LIMITS)
    await store.forward("ka", "n2", b"new", b"", 1000.0, LIMITS)
    await settled(store, 900.0)


async def test_event_numbers_have_no_gap(store: GatewayStore, client: Redis) -> None:
    for i in range(5):
        await store.forward("ka", f"n{i}", b"s%d" % i, b"", 60.0, LIMITS)
        await store.refused(Refused("replayed", 1, "00" * 32), 60)
    numbers = [number for number, _, _ in await events(client)]
    assert numbers == list(range(1, len(numbers) + 1))


async def consent(store: GatewayStore, who: Registration, version: int, *grants: str) -> None:
    await store.consent(who.user_tag, 7, version, b"v%d" % version, grants, 1000)


async def test_consent_versions_count_up(store: GatewayStore) -> None:
    await consent(store, ALICE, 1, "acme|general|user_id")
    await consent(store, ALICE, 1, "acme|general|user_id")
    with pytest.raises(ConsentError):
        await store.consent(ALICE.user_tag, 7, 1, b"other", (), 1000)
    with pytest.raises(ConsentError):
        await consent(store, ALICE, 3)


async def append(store: GatewayStore, release: int, members: tuple[str, ...] = ("aa" * 16, "bb" * 16)) -> str:
    named = [(member, f"user-{member[:2]}") for member in members]
    return await store.append("acme", (7, release), "general|user_id", b"records", release, named)


async def test_a_group_is_appended_whole_or_dropped_whole(store: GatewayStore, client: Redis) -> None:
    await consent(store, ALICE, 1, "acme|general|user_id")
    assert await append(store, 1) == "DROPPED"  # bob has not consented
    await consent(store, BOB, 1, "acme|general|user_id")
    assert await append(store, 2) == "NEW"
    assert await append(store, 2) == "SAME"
    assert await append(store, 3, ("aa" * 16, "")) == "DROPPED"  # an unknown person
    assert [e.group for e in await store.take("acme", 0, 10)] == [2]
    dropped = [header["reason"] for _, kind, header in await events(client) if kind == "DROPPED"]
    assert dropped == ["no_consent", "no_consent"]


async def test_a_withdrawal_drops_what_waits_and_takes_back_what_was_sent(store: GatewayStore, client: Redis) -> None:
    for who in (ALICE, BOB):
        await consent(store, who, 1, "acme|general|user_id")
    for release in (1, 2, 3):
        await append(store, release)
    first, second = await store.take("acme", 0, 2)
    assert await store.delivered("acme", first, b"ack", 100) == "NEW"
    await consent(store, BOB, 2)
    assert await store.take("acme", 0, 10) == []
    assert await store.delivered("acme", second, b"ack", 100) == "UNKNOWN"
    with pytest.raises(RecordMismatchError):
        await store.group("acme", second.cursor)
    held = {who: (await RightsStore(store).held(who.user_tag)).groups for who in (ALICE, BOB)}
    assert held[ALICE] == held[BOB] and [group[2:5:2] for group in held[BOB]] == [(1, True), (2, False)]
    assert [h["group"] for _, kind, h in await events(client) if kind == "DROPPED"] == [2, 3]
    assert [h["group"] for _, kind, h in await events(client) if kind == "SENT"] == [1, 2]


async def test_an_acknowledgement_counts_once(store: GatewayStore) -> None:
    for who in (ALICE, BOB):
        await consent(store, who, 1, "acme|general|user_id")
    await append(store, 1)
    [entry] = await store.take("acme", 0, 1)
    assert await store.delivered("acme", entry, b"ack", 100) == "NEW"
    assert await store.delivered("acme", entry, b"ack", 100) == "SAME"


async def test_what_was_acknowledged_leaves_the_store_of_a_gateway_that_kept_it(
    store: GatewayStore, client: Redis
) -> None:
    for who in (ALICE, BOB):
        await consent(store, who, 1, "acme|general|user_id")
    for release in range(1, 202):
        await append(store, release)
    now = (await client.time())[0]
    for entry in await store.take("acme", 0, 300):  # as version 5 left them; the first has just ended
        await client.hset(f"{PREFIX}:g:acme:{entry.cursor}", mapping={"a": "1", "at": now - 50, "dl": "ab|1 2"})
        await client.zrem(f"{PREFIX}:o:acme", entry.cursor)
        await client.zadd(f"{PREFIX}:end:acme", {str(entry.cursor): now + (50 if entry.cursor > 1 else 0)})
    assert await store.take("acme", 0, 10) == []
    assert await store.expire_feeds(["acme"]) == 201 and await store.expire_feeds(["acme"]) == 0
    left = [key async for key in client.scan_iter(f"{PREFIX}:[gfo]*:acme*")]
    assert len(left) == 200 and all([0 < await client.ttl(key) <= 50 for key in left])
    held = (await RightsStore(store).held(BOB.user_tag)).groups
    assert len(held) == 200 and {group[4:] for group in held} == {(True, now - 50)}
    known = await store.group("acme", 2)
    assert known.records == b"" and await store.delivered_at("acme", 2, bytes.fromhex("ab")) == "1 2"
    with pytest.raises(RecordMismatchError):
        await store.delivered_at("acme", 2, b"another")
