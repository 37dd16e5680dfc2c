"""Lies told by saying that something has expired: whatever was done becomes unreadable within seconds."""

import dataclasses
import os

from proxid.evidence.events import encode_header
from proxid.runtime.evidence_log.retention import append_expired
from tests.support.lies import GATEWAY, MAIN, PREFIX, Liar, lie, store_of
from tests.support.lies_service import service_releases_below_k


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
