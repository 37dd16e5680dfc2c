"""Lies told by saying that something has expired: whatever was done becomes unreadable within seconds."""

import dataclasses
import json
import os

from proxid.evidence.events import EventType, encode_header
from proxid.runtime.evidence_log.encryptor import PlainEvent
from proxid.runtime.evidence_log.retention import append_expired
from tests.support.lies import GATEWAY, MAIN, PREFIX, Liar, lie, store_of
from tests.support.lies_epochs import headed
from tests.support.lies_service import service_encrypts_so_that_the_auditor_cannot_read, service_releases_below_k


async def expired(liar: Liar, role: str) -> None:
    """The service says that every payload so far has expired, and shows none of them."""
    await liar.trial.audit()  # its heads are fresh: everything is written
    store = await store_of(liar, role)
    until = int(await store.get(f"{PREFIX[role]}:events:n"))
    await append_expired(store, PREFIX[role], os.urandom(16), encode_header(kind="payloads", until=until))
    await store.aclose()
    liar.shows(role, lambda ls: [dataclasses.replace(e, parts=()) if i < until else e for i, e in enumerate(ls)])


@lie(2, quick=True)
async def service_says_that_its_payloads_have_expired_on_the_first_day(liar: Liar) -> None:
    await liar.trial.busy(1)
    await expired(liar, MAIN)


@lie(2)
async def gateway_says_that_its_payloads_have_expired_on_the_first_day(liar: Liar) -> None:
    await liar.trial.busy(1)
    await expired(liar, GATEWAY)


@lie(2)
async def service_washes_a_group_that_was_too_small_clean(liar: Liar) -> None:
    await service_releases_below_k(liar)
    await expired(liar, MAIN)


@lie(2)
async def gateway_says_that_todays_links_have_expired(liar: Liar) -> None:
    await liar.trial.busy(1)
    epoch = liar.trial.device._route.epoch  # type: ignore[union-attr]
    store = await store_of(liar, GATEWAY)
    header = encode_header(kind="links", first=epoch, until=epoch)
    await append_expired(store, PREFIX[GATEWAY], os.urandom(16), header)
    async for key in store.scan_iter(match="{gw}:ek:*"):
        await store.delete(key)
    await store.aclose()


async def says_of_all_links(liar: Liar, role: str) -> None:
    """In the form of before, and before anybody was linked: whatever comes has expired already."""
    store = await store_of(liar, role)
    header = encode_header(kind="links", until=1_000_000)
    await append_expired(store, PREFIX[role], os.urandom(16), header)
    await store.aclose()
    await liar.trial.audit(state=True)  # by then it is written


@lie(2, quick=True)
async def gateway_says_that_all_links_have_expired_before_there_are_any(liar: Liar) -> None:
    await says_of_all_links(liar, GATEWAY)
    await liar.trial.busy(1)
    await liar.trial.audit()
    store = await store_of(liar, GATEWAY)
    async for key in store.scan_iter(match="{gw}:ek:*"):
        await store.delete(key)
    await store.aclose()


@lie(2)
async def service_says_that_all_links_have_expired_before_there_are_any(liar: Liar) -> None:
    await says_of_all_links(liar, MAIN)
    liar.options = {"state": True}  # nobody had been linked when it was read
    await service_encrypts_so_that_the_auditor_cannot_read(liar)


@lie(2)
async def gateway_says_of_an_epoch_that_it_begins_after_all_that_is_in_it(liar: Liar) -> None:
    """So that all of that has expired before anybody knows how old it is."""
    held: list[PlainEvent] = []
    before, settled, last = [0], dict[str, int](), [""]

    def late(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            said = json.loads(event.fields)
            if event.type is EventType.EPOCH_OPENED:
                held.append(event)
                continue
            if event.type is EventType.DELIVERED:
                settled[said["party"]] = settled.get(said["party"], 0) + 1
                last[0] = max(last[0], f"{said['epoch']}/{said['group']:04}/{said['party']}")
            if event.type is EventType.EXPIRED:
                epoch, group, party = last[0].split("/")
                out += [headed(one, last=f"{epoch}/{int(group)}/{party}") for one in held]
                out.append(headed(event, until=before[0]))
                continue
            before[0] += 1
            out.append(event)
        return out

    liar.records(GATEWAY, late)
    await liar.trial.busy(1)
    store = await store_of(liar, GATEWAY)
    await append_expired(store, PREFIX[GATEWAY], os.urandom(16), encode_header(kind="payloads", until=1))
    await store.aclose()
    await liar.trial.audit()  # by then it is written
    until = before[0]
    liar.shows(GATEWAY, lambda ls: [dataclasses.replace(e, parts=()) if i < until else e for i, e in enumerate(ls)])
