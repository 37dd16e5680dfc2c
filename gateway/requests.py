"""The request path of the Identity Screener (DESIGN 5.2, 5.4): the checks in their order, then forward.

    (1) size and field limits                         (4) signature valid, Judge = SIG, m_0 = that USER_ID
    (2) epoch current, time within the skew           (5) (pk_e, nonce) unseen; a repeat gets the stored answer
    (3) pk_e registered, its user not erased          (6) rate limit; then m_0 := PROX_ID, forward

IS holds no key to the sealed body.
"""

import asyncio
import math
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

import structlog

from gateway.blocks import exactly, prox_of
from gateway.epochs import OpenEpochs
from gateway.identity import Screener, key_tag, nonce_tag
from gateway.store.library import GatewayStore
from gateway.store.links import Registration
from gateway.upstream import MainServiceClient
from proxid.crypto.sansig import Role, SignedMessage, verify
from proxid.crypto.sansig.scheme import resign
from proxid.encoding import encode_text
from proxid.errors import (
    Code,
    MessageInvalidError,
    NonceReplayError,
    OverloadedError,
    RateLimitError,
    RegistrationError,
    StoreError,
    UpstreamClockError,
    UpstreamError,
    UpstreamRefusedError,
)
from proxid.evidence.events import SanitizedPair
from proxid.protocol import request, response
from proxid.runtime.clock import known_for
from proxid.runtime.evidence_log.promising import Promises
from proxid.runtime.transport.admission import Admission
from proxid.runtime.transport.fairness import FairScheduler, Turn

_log = structlog.get_logger(__name__)
_CACHED_REGISTRATIONS: Final = 50_000
_LOOK: Final = 5.0
"""Seconds between two looks for sessions that nobody carries any more: an audit allows a service minutes for them."""


class Registrations:
    """Registrations by epoch key, cached: they never change; whether they still live is asked in each step."""

    def __init__(self, store: GatewayStore) -> None:
        self._store = store
        self._cache: OrderedDict[bytes, Registration] = OrderedDict()

    async def of(self, key: bytes) -> Registration:
        """The registration of an epoch key; raises RegistrationError, StoreError."""
        found = self._cache.get(key)
        if found is None:
            found = await self._store.registration(key_tag(key))
            self._cache[key] = found
            if len(self._cache) > _CACHED_REGISTRATIONS:
                self._cache.popitem(last=False)
        return found

    def forget(self, key: bytes) -> None:
        """Drop a key from the cache."""
        self._cache.pop(key, None)


class RequestPath:
    """Takes signed requests from devices to MS and the answers back.

    Args:
        promises: without a log that is written in time nothing is taken.
    """

    def __init__(
        self, screener: Screener, store: GatewayStore, upstream: MainServiceClient, registrations: Registrations,
        epochs: OpenEpochs, promises: Promises,
    ) -> None:  # fmt: skip
        self._screener = screener
        self._store = store
        self._upstream = upstream
        self._registrations = registrations
        self._epochs = epochs
        self._promises = promises
        self._given_up: set[asyncio.Task[None]] = set()
        self._scheduler = FairScheduler()
        self._admission = Admission()

    async def ask(self, signed: SignedMessage, turn: Turn | None = None) -> SignedMessage:
        """The answer to a device's request, its user restored.

        Args:
            turn: whose it is by the certificate and, as it says itself, by the epoch key; its caller's time.

        Raises:
            ProxidError: whatever check fails; UpstreamError if MS may not have got it (the device retries).
            OverloadedError: nothing was looked at, or MS did not.
        """
        turn = turn or Turn()
        async with self._admission.place(turn):
            await self._scheduler.slot(turn)
            turn.require()
            return await self._ask(signed, turn)

    def require_room(self, peer: Hashable) -> None:
        """That a request of this peer may be taken now, before it is parsed; raises OverloadedError."""
        self._admission.require_room(peer)

    async def _ask(self, signed: SignedMessage, turn: Turn) -> SignedMessage:
        await self._promises.head()
        person, ttl = await self._verify(signed)
        prox_block = encode_text(person.prox_id)
        header = signed.header
        sanitized = resign(
            signed, prox_block, self._screener.key,
            prox_of(header),
        )  # fmt: skip
        try:
            return await self._carry(signed, sanitized, (person, ttl), turn)
        except asyncio.CancelledError:
            # The caller has gone, the session is in the log: somebody has to say what became of it.
            task = asyncio.create_task(self._give_up(signed.session_id))
            self._given_up.add(task)
            task.add_done_callback(self._given_up.discard)
            raise

    async def _carry(
        self, signed: SignedMessage, sanitized: SignedMessage, whose: tuple[Registration, int], turn: Turn
    ) -> SignedMessage:
        person, ttl = whose
        stored = await self._mark(signed, sanitized, ttl, person)
        if stored is not None:
            return SignedMessage.decode(stored)
        answer = await self._forward(signed.session_id, sanitized, person.credential, turn)
        await self._scheduler.slot(turn)
        restored, payload = self._restore(signed.session_id, answer, person)
        encoded = restored.encode()
        first = await self._store.answered(signed.session_id, encoded, payload, ttl, person.user_tag)
        return restored if first == encoded else SignedMessage.decode(first)

    async def _verify(self, signed: SignedMessage) -> tuple[Registration, int]:
        """Whose request it is, and the seconds for which its nonce and answer are kept."""
        screener, header = self._screener, signed.header
        # (1) sizes; the header's shape was checked when it was decoded
        if header.blocks != request.BLOCKS:
            raise MessageInvalidError("a request has four blocks")
        request.verify_layout(signed)
        # (2) epoch and time
        terms = await self._epochs.verify_current(header.epoch, header.time_ms)
        # (3) registered; whether still live is checked again in the atomic step of (5)
        person = await self._registrations.of(header.signer)
        await self._limit_known(signed, person)
        # (4) signature, Judge = SIG, user block
        expected = request.expectation(screener.service, person.epoch, header.signer, screener.key.public)
        verify(signed, expected, Role.SIGNER)
        if signed.message.user_block != encode_text(person.user_id):
            raise MessageInvalidError("user block is not the user that the key is linked to")
        return person, max(known_for(terms.clock_skew, screener.limits.nonce_ttl), int(terms.retention.answers))

    async def _mark(
        self, signed: SignedMessage, sanitized: SignedMessage, ttl: int, person: Registration
    ) -> bytes | None:  # fmt: skip
        # (3) (5) (6) and FORWARDED in one step
        screener, header = self._screener, signed.header
        payload = SanitizedPair(signed, sanitized).encode()
        limits = (ttl, screener.limits.rate_per_minute)
        try:
            return await self._store.forward(
                key_tag(header.signer), nonce_tag(header.signer, header.nonce), signed.session_id, payload,
                screener.clock(), limits,
            )  # fmt: skip
        except (NonceReplayError, RateLimitError) as error:
            now, prox_id = screener.clock(), person.prox_id
            screener.turned_away.count(person.user_tag, error.code, signed.session_id, now, prox_id=prox_id)
            raise
        except RegistrationError:
            # It may have been forwarded while the key was live: nothing is left that says so.
            self._registrations.forget(header.signer)
            raise

    async def _limit_known(self, signed: SignedMessage, person: Registration) -> None:
        """Check 6 before check 4 for whom it has refused in this minute; what was forwarded gets its answer."""
        away, header, now = self._screener.turned_away, signed.header, self._screener.clock()
        if away.is_over(person.user_tag, now, person.prox_id):
            if await self._store.is_forwarded(nonce_tag(header.signer, header.nonce)):
                return
            away.count(person.user_tag, Code.RATE_LIMITED, signed.session_id, now, prox_id=person.prox_id)
            raise RateLimitError("user sends more requests than allowed")

    async def _forward(self, session: bytes, sanitized: SignedMessage, credential: bytes, turn: Turn) -> SignedMessage:
        try:
            return await self._upstream.ask(sanitized, credential, turn)
        except (UpstreamError, UpstreamClockError, OverloadedError):
            await self._store.unreached(session)
            raise
        except UpstreamRefusedError:
            await self._store.settled(session)
            raise

    def _restore(self, session: bytes, answer: SignedMessage, person: Registration) -> tuple[SignedMessage, bytes]:
        screener = self._screener
        expected = response.expectation(screener.service, person.epoch, screener.service_key, screener.key.public)
        response.verify_response(answer, expected, Role.SIGNER, person.prox_id, session)
        user_block = encode_text(person.user_id)
        restored = resign(answer, user_block, screener.key, exactly(user_block))
        return restored, SanitizedPair(answer, restored).encode()

    async def _give_up(self, session: bytes) -> None:
        try:
            await self._store.unreached(session)
        except StoreError as error:
            _log.info("session stays open until the store is back", code=error.code.value)

    async def settle_left(self, seconds: float) -> None:
        """Worker 0's job: settle sessions that have been open for so long that nobody carries them any more.

        Args:
            seconds: longer than any request may take.
        """
        while True:
            try:
                if self._screener.watch.doubt() is None:  # or how long a session has been open is not known
                    now = self._screener.clock()
                    await self.recover(now - seconds)
                    await self.recover(after=now + seconds)  # by a clock that was ahead then
            except StoreError as error:
                _log.info("session stays open until the store is back", code=error.code.value)
            await asyncio.sleep(min(seconds, _LOOK))

    async def recover(self, until: float = math.inf, after: float = -math.inf) -> int:
        """Settle what is open, as a crash leaves it: those sessions may not have reached MS. How many.

        Args:
            until, after: Unix seconds; only those forwarded until then, and after that.
        """
        settled = 0
        while sessions := await self._store.open_sessions(until, after=after):
            for session in sessions:
                await self._store.unreached(session)
            settled += len(sessions)
        return settled
