"""Faults that this product had, or might have, planted again: what each of them would do is what `judge` has to see."""

import asyncio
import os
from collections.abc import Callable
from typing import Any

import pytest

from gateway.requests import RequestPath
from gateway.store.library import GatewayStore
from gateway.upstream import MainServiceClient
from main_service.jobs.timekeeping import Timekeeper
from proxid.errors import StoreError
from proxid.runtime.evidence_log import writer
from proxid.runtime.transport import places

Plant = Callable[[pytest.MonkeyPatch], None]


def own_clock_ends_epochs(patch: pytest.MonkeyPatch) -> None:
    """The main service ends an epoch on the word of its own clock."""

    async def close_epochs(own: Any) -> None:
        now = own._service.clock()
        for epoch in await own._epochs.over(now):
            while (await own._pool.close(epoch)).more:
                pass
            await own._release.release_rest()
            await own._splitting.close(epoch)
            while not await own._forget(epoch):
                await own._release.release_all()
            await own._epoch_store.close(epoch, int(now * 1000), b"")
            own._epochs.forget(epoch)

    patch.setattr(Timekeeper, "close_epochs", close_epochs)


def queue_without_a_bound(patch: pytest.MonkeyPatch) -> None:
    """The gateway takes on whatever is asked."""
    without = places.Places.__init__

    def unbounded(own: Any, *_: Any) -> None:
        without(own, 1 << 40, 1 << 40, 1 << 40)

    patch.setattr(places.Places, "__init__", unbounded)
    patch.setattr(places.Places, "look", lambda *_: None)


def full_disk_is_no_reason(patch: pytest.MonkeyPatch) -> None:
    """A service whose log cannot be written goes on taking what comes."""

    async def say_full(*_: Any) -> None:
        """Nobody is told."""

    patch.setattr(writer, "say_full", say_full)


def answer_is_stored_after_it_was_sent(patch: pytest.MonkeyPatch) -> None:
    """The gateway tells the device, and then its store."""
    gone, closed = set[Any](), MainServiceClient.close

    async def carry(own: Any, signed: Any, sanitized: Any, whose: Any, turn: Any) -> Any:
        person, ttl = whose
        await own._mark(signed, sanitized, ttl, person)
        answer = await own._forward(signed.session_id, sanitized, person.credential, turn)
        restored, payload = own._restore(signed.session_id, answer, person)
        told = own._store.answered(signed.session_id, restored.encode(), payload, ttl, person.user_tag)

        async def later() -> None:
            await asyncio.sleep(40.0)
            if own._upstream in gone:
                told.close()  # it has died with its process
                return
            try:
                await told
            except StoreError:
                return

        own._given_up.add(asyncio.ensure_future(later()))
        return restored

    async def close(own: Any) -> None:
        gone.add(own)
        await closed(own)

    patch.setattr(RequestPath, "_carry", carry)
    patch.setattr(MainServiceClient, "close", close)


def repeat_is_a_new_request(patch: pytest.MonkeyPatch) -> None:
    """The gateway does not know a request again that it has forwarded."""
    patch.setattr("gateway.requests.nonce_tag", lambda *_: os.urandom(16).hex())


def withdrawal_is_only_said(patch: pytest.MonkeyPatch) -> None:
    """A withdrawal is acknowledged, and the feeds go on as before."""
    real = GatewayStore.consent

    async def consent(own: Any, user: Any, epoch: Any, version: Any, payload: Any, grants: Any, *more: Any) -> Any:
        kept = [f"{party}|general|user_id" for party in ("acme", "globex")]
        return await real(own, user, epoch, version, payload, [*grants, *kept], *more)

    patch.setattr(GatewayStore, "consent", consent)
