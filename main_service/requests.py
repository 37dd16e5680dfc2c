"""The request path of the Main Service (DESIGN 5.3): the checks in their order, then answer.

    (1) peer is IS (by its certificate)          (4) Judge = SAN under pk_IS
    (2) credential valid                         (5) fresh and unseen; a repeat gets the stored sealed response
    (3) m_0 = PROX(pk_e)                         (6) opens m_1, recomputes the commit; sealed time = header's

The answer never waits for anonymisation: what may be logged is left in the store and taken up later.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from main_service.backlog import Backlog
from main_service.epochs import EpochKeys
from main_service.identity import EpochSecrets, Service
from main_service.responder import Answering, Context, Outcome, Reply, Upstream
from main_service.store.requests import RequestStore
from proxid.crypto.identity import Credential
from proxid.crypto.sansig import Role, SignedMessage, verify, verify_prox_id
from proxid.encoding import encode
from proxid.errors import (
    ClockError,
    Code,
    CredentialError,
    CredentialNeededError,
    EpochError,
    MessageInvalidError,
    OverloadedError,
    PolicyError,
    ProxidError,
    StoreError,
    refusal_of,
)
from proxid.evidence.events import ReceivedPayload
from proxid.protocol import request, response
from proxid.protocol.request import ANSWERED, Utterance
from proxid.runtime.clock import known_for
from proxid.runtime.evidence_log.promising import Promises
from proxid.runtime.transport.fairness import FairScheduler, Turn

_CACHED: Final = 100_000
_POLL: Final = 0.2
"""Seconds between two looks for what another worker answers."""
_SETTLE: Final = 2.0
"""Seconds that a worker has to store what an upstream told it."""


class Known:
    """A verified credential, with what is computed of it.

    Attributes:
        evidence: what the next RECEIVED says of it: all of it, its digest once one is logged.
    """

    __slots__ = ("credential", "digest", "evidence", "prox_id")

    def __init__(self, credential: Credential) -> None:
        self.credential = credential
        self.digest = credential.digest
        self.evidence = credential.encode()
        self.prox_id = credential.prox_id


class Credentials:
    """Credentials of epoch keys, verified and hashed once each."""

    def __init__(self, service: Service, store: RequestStore) -> None:
        self._service = service
        self._store = store
        self._cache: OrderedDict[bytes, Known] = OrderedDict()

    async def of(self, key: bytes, epoch: int, shown: bytes) -> Known:
        """The credential of an epoch key: the one shown, or the one shown before.

        Raises:
            CredentialNeededError: none was shown yet. CredentialError, SignatureInvalidError: it does not hold.
        """
        found = self._cache.get(key)
        if found is None:
            data = shown or await self._store.credential(key)
            if data is None:
                raise CredentialNeededError("epoch key is unknown here")
            credential = Credential.decode(data)
            if credential.epoch_key != key:
                raise CredentialNeededError("credential is of another key")
            # It ends with the epoch, by the gateway's clock.
            now = self._service.clock() - self._service.clock_skew
            credential.verify(self._service.screener, self._service.name, epoch, now)
            if not credential.evidence_key:
                raise CredentialError("credential has no evidence key")
            if shown:
                await self._store.put_credential(credential, self._service.kept_for(epoch))
            found = self._cache[key] = Known(credential)
            if len(self._cache) > _CACHED:
                self._cache.popitem(last=False)
        elif found.credential.epoch != epoch:
            raise CredentialNeededError("credential is of another epoch")
        return found


@dataclass(frozen=True, slots=True)
class Accepted:
    """A request that passed checks 1 to 5, and the secrets of its epoch."""

    signed: SignedMessage
    person: Known
    secrets: EpochSecrets


class RequestPath:
    """Answers sanitised requests.

    Args:
        wake: called after each request that may be logged. share: what is held of a PROX_ID, as JSON. upstream: who
            is asked, once a session, what the responder does not know.
    """

    def __init__(
        self, service: Service, store: RequestStore, epochs: EpochKeys, credentials: Credentials,
        responder: Answering, wake: asyncio.Event, share: Callable[[str], Awaitable[str]], promises: Promises,
        upstream: Upstream | None = None,
    ) -> None:  # fmt: skip
        self._service = service
        self._store = store
        self._epochs = epochs
        self._credentials = credentials
        self._responder = responder
        self._upstream = upstream
        self._wake = wake
        self._share = share
        self._promises = promises
        self._backlog = Backlog(store, service.watch)
        self._running: dict[bytes, asyncio.Future[SignedMessage]] = {}
        self._scheduler = FairScheduler()

    async def ask(self, signed: SignedMessage, shown: bytes, turn: Turn | None = None) -> SignedMessage:
        """The sealed, signed response to a request that IS forwards.

        Args:
            shown: credential, or empty. turn: its caller's time; how long it waits for who answers is added.

        Raises:
            OverloadedError: its caller's time was over before anything was looked at, or too much waits to be filed.
            CredentialNeededError: repeat with the credential. ProxidError: a check failed, and REFUSED is recorded,
                once: the same bytes get the same refusal for `nonce_ttl`.
        """
        session, turn = signed.session_id, turn or Turn()
        while (running := self._running.get(session)) is not None:
            # A retry has overtaken its original: both get the one answer.
            try:
                with turn.waiting():
                    return await asyncio.shield(running)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not running.cancelled() or (task is not None and task.cancelling()):
                    raise
                # The original was given up, not the retry, which takes its place.
        future = self._running[session] = asyncio.get_running_loop().create_future()
        try:
            answer = await self._ask(signed, shown, turn)
            future.set_result(answer)
        except (asyncio.CancelledError, OverloadedError):
            future.cancel()
            raise
        except BaseException as error:
            future.set_exception(error)
            future.exception()  # nobody else may be waiting
            raise
        finally:
            del self._running[session]
        return answer

    async def _ask(self, signed: SignedMessage, shown: bytes, turn: Turn) -> SignedMessage:
        await self._backlog.require()  # first: who waits for it goes on in portions as well
        await self._scheduler.slot(turn)
        turn.require()
        try:
            accepted = await self._verify(signed, shown)
            utterance = request.open_body(signed, accepted.secrets.opening)
            request.verify_time(signed, utterance, accepted.secrets.terms.clock_skew)
            return await self._log(accepted, utterance, await self._answer(accepted, utterance, turn))
        except (ClockError, CredentialNeededError, OverloadedError, StoreError):
            # Nothing was looked at: IS says that it was not reached. The same bytes may be answered later.
            raise
        except ProxidError as error:
            kept = known_for(await self._skew(signed.header.epoch), self._service.nonce_ttl)
            first = await self._store.refuse(signed.session_id, error.code.value, kept)
            if first == error.code.value:
                raise
            raise refusal_of(Code(first)) from None

    async def _skew(self, epoch: int) -> float:
        """Seconds by which the time of a request of an epoch may be off; this service's own if it is not open."""
        with suppress(EpochError, PolicyError):
            return (await self._epochs.terms(epoch)).clock_skew
        return self._service.clock_skew

    async def _verify(self, signed: SignedMessage, shown: bytes) -> Accepted:
        service, header = self._service, signed.header
        service.watch.require()
        if header.blocks != request.BLOCKS:
            raise MessageInvalidError("a request has four blocks")
        # (2) credential
        person = await self._credentials.of(header.signer, header.epoch, shown)
        credential = person.credential
        # (3) pseudonym
        verify_prox_id(signed.message.user_block, service.name, credential.epoch, credential.epoch_key)
        # (4) signature, Judge = SAN
        expected = request.expectation(service.name, credential.epoch, credential.epoch_key, service.screener)
        verify(signed, expected, Role.SANITIZER)
        request.verify_layout(signed)
        # (5) fresh; unseen is decided in the atomic step
        secrets = await self._epochs.current(header.epoch)
        service.verify_fresh(header.epoch, header.time_ms, secrets.terms.clock_skew)
        return Accepted(signed, person, secrets)

    async def _answer(self, accepted: Accepted, utterance: Utterance, turn: Turn) -> SignedMessage:
        if request.asks_access(accepted.signed):
            text = await self._share(accepted.person.prox_id)
        else:
            reply = await self._reply(accepted, utterance, turn)
            if isinstance(reply, SignedMessage):
                return reply
            text = reply.text
        prox_id, service = accepted.person.prox_id, self._service
        now_ms = int(service.clock() * 1000)
        head = await self._promises.head()
        return response.make(text, utterance.response_key, accepted.signed, prox_id, service.key, now_ms, head)

    async def _reply(self, accepted: Accepted, utterance: Utterance, turn: Turn) -> Reply | SignedMessage:
        """What is said, or the response that another worker gave meanwhile."""
        context = Context(utterance.time_ms, utterance.locale)
        reply = await self._responder.answer(utterance.text, context, turn)
        if reply.outcome is not Outcome.UNKNOWN or self._upstream is None:
            return reply
        # Whoever enters the session asks, and nobody after: a question costs money, or more.
        signed, skew = accepted.signed, accepted.secrets.terms.clock_skew
        ttl = known_for(skew, self._service.nonce_ttl)
        left = await self._store.begin(signed, accepted.person.prox_id, ttl, self._upstream.seconds + _SETTLE)
        if left is None:
            return await self._upstream.answer(utterance.text, context, turn)
        with turn.waiting():
            stored = await self._elsewhere(signed, left)
        return self._upstream.failed(Outcome.LATE) if stored is None else stored

    async def _elsewhere(self, signed: SignedMessage, left: float) -> SignedMessage | None:
        """The response that another worker stores within so many seconds; None if it died, or was given up."""
        with suppress(TimeoutError):
            async with asyncio.timeout(left):
                while (stored := await self._store.answer(signed)) is None:  # noqa: ASYNC110 - of another process
                    await asyncio.sleep(_POLL)
                return SignedMessage.decode(stored)
        return None

    async def _log(self, accepted: Accepted, utterance: Utterance, answer: SignedMessage) -> SignedMessage:
        signed, person = accepted.signed, accepted.person
        terms, now_ms = accepted.secrets.terms, self._service.moment(signed.header.epoch)
        if abs(now_ms - signed.header.time_ms) > 1000 * (terms.clock_skew + ANSWERED):
            raise ClockError("this machine slept, or its clock was set, while a request was answered")
        payload = ReceivedPayload(signed.encode(), person.evidence).encode()
        pending = encode(utterance.opening, person.prox_id, int(person.credential.seasoned), now_ms)
        withheld = "access" if request.asks_access(signed) else ""
        ttl = max(known_for(terms.clock_skew, self._service.nonce_ttl), int(terms.retention.answers))
        stored = await self._store.receive(signed, person.prox_id, answer.encode(), pending, payload, (ttl, withheld))
        self._wake.set()
        if stored is not None:
            return SignedMessage.decode(stored)
        person.evidence = person.digest
        return answer
