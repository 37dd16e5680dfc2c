"""Consent at the Identity Screener (DESIGN 7): in effect here first, then at MS, then acknowledged.

A withdrawal waits for no party: the step that puts it into effect drops what waits for a party that lost its grant, and
nothing that was SENT before is sent again. It is acknowledged once MS has removed what waits for such an audience, too;
what MS could not be told stays owed to it (`gateway.owed`).
"""

from contextlib import suppress
from typing import Final

from gateway.blocks import exactly, prox_of
from gateway.epochs import OpenEpochs
from gateway.identity import Screener, key_tag
from gateway.requests import Registrations
from gateway.store.consents import SentBefore
from gateway.store.library import GatewayStore
from gateway.store.links import Registration
from gateway.upstream import MainServiceClient
from proxid.crypto.identity import Link
from proxid.crypto.sansig import Role, SignedMessage, verify
from proxid.crypto.sansig.scheme import resign
from proxid.encoding import encode_text
from proxid.errors import ConsentError, MessageInvalidError, RegistrationError, StaleKeyError
from proxid.evidence.events import ConsentPayload, EventType, SanitizedPair
from proxid.protocol import consent
from proxid.protocol.consent import ConsentVector
from proxid.protocol.rights import LIVE_SECONDS
from proxid.runtime.config.terms import Terms
from proxid.runtime.evidence_log.promising import Promises

_HELD: Final = 60
"""Seconds that a change has before somebody else tells MS: longer than its call may take."""


class Consents:
    """Takes consent vectors and messages from devices."""

    def __init__(
        self, screener: Screener, store: GatewayStore, upstream: MainServiceClient, registrations: Registrations,
        epochs: OpenEpochs, promises: Promises,
    ) -> None:  # fmt: skip
        self._screener = screener
        self._promises = promises
        self._store = store
        self._upstream = upstream
        self._registrations = registrations
        self._epochs = epochs

    async def change(
        self, vector_bytes: bytes, message: SignedMessage
    ) -> tuple[SignedMessage, tuple[bytes, bytes], list[SentBefore]]:  # fmt: skip
        """Put a change into effect on both sides.

        Returns:
            MS's acknowledgement, its user restored; the promises of CONSENT here and there; what had been sent before.

        Raises:
            ConsentError: vector and message disagree, unknown bundle, or not the next version.
            ProxidError: a signature or registration does not hold; UpstreamError: repeat the same message later.
        """
        vector = ConsentVector.decode(vector_bytes)
        terms = await self._epochs.verify_current(message.header.epoch, message.header.time_ms)
        person = await self._verify(vector, message, terms)
        self._screener.limit("consents", person.user_tag, vector_bytes)
        sanitized = self._sanitize(message, person)
        payload = ConsentPayload(vector_bytes, SanitizedPair(message, sanitized).encode(), b"").encode()
        grants = [
            f"{g.party}|{kind}|{terms.naming.fidelity(kind, g.fidelity)}" for g in vector.grants for kind in g.types
        ]
        # From this step on nothing leaves that the change takes back: what had left is what no withdrawal reaches.
        chosen = await self._store.consent(
            person.user_tag, person.epoch, vector.version, payload, grants,
            self._screener.link_ttl(person.epoch, terms.retention.links), _HELD, message.session_id,
            key_tag(message.header.signer),
        )  # fmt: skip
        name = _owed(person.user_tag, person.epoch)
        try:
            await self._tell_before(person.user_tag, person.epoch, vector.version)
            acknowledgement, theirs = await self._told(vector, SanitizedPair(message, sanitized), person)
            promise = await self._promises.of(chosen.place, EventType.CONSENT, message.session_id)
            return acknowledgement, (promise, theirs), chosen.sent
        finally:
            await self._store.put_off(name, 0)

    async def tell(self, user_tag: str, epoch: int) -> None:
        """Tell MS what it is owed of a person and epoch, in its order; of an epoch that it has ended, nothing any more.

        Raises:
            UpstreamError, UpstreamRefusedError: it could not be told. ClockError: what is open is not sure. StoreError.
        """
        self._screener.watch.require()
        if self._screener.clock() < self._screener.epochs.end(epoch) + LIVE_SECONDS:
            with suppress(RegistrationError, StaleKeyError):
                await self._tell_before(user_tag, epoch)
        await self._store.owes_no_more(_owed(user_tag, epoch))

    async def _tell_before(self, user_tag: str, epoch: int, version: int | None = None) -> None:
        for payload in await self._store.owed_consents(user_tag, epoch):
            owed = ConsentPayload.decode(payload)
            vector, pair = ConsentVector.decode(owed.vector), SanitizedPair.decode(owed.message)
            if version is None or vector.version < version:
                # It was taken when the key was good: the main service is told though it has been revoked since.
                person = await self._store.registration(key_tag(pair.original.header.signer), over=True)
                await self._told(vector, pair, person)

    async def _told(
        self, vector: ConsentVector, pair: SanitizedPair, person: Registration
    ) -> tuple[SignedMessage, bytes]:  # fmt: skip
        acknowledgement, promise = await self._upstream.consent(pair.sanitized, person.credential)
        return await self._acknowledge(vector, pair.original, acknowledgement, person), promise

    async def _verify(self, vector: ConsentVector, message: SignedMessage, terms: Terms) -> Registration:
        screener, header = self._screener, message.header
        person = await self._registrations.of(header.signer)
        expected = consent.expectation(screener.service, person.epoch, header.signer, screener.key.public)
        verify(message, expected, Role.SIGNER)
        if message.message.user_block != encode_text(person.user_id):
            raise MessageInvalidError("user block is not the user that the key is linked to")
        vector.verify(Link.decode(person.link).user_key, terms.bundles, terms.digest)
        same = (vector.user_id, vector.service, vector.epoch) == (person.user_id, screener.service, person.epoch)
        if not same or consent.read(message) != (vector.bundle, vector.version):
            raise ConsentError("vector and message disagree")
        return person

    def _sanitize(self, message: SignedMessage, person: Registration) -> SignedMessage:
        header = message.header
        return resign(
            message, encode_text(person.prox_id), self._screener.key,
            prox_of(header),
        )  # fmt: skip

    async def _acknowledge(
        self, vector: ConsentVector, message: SignedMessage, acknowledgement: SignedMessage, person: Registration
    ) -> SignedMessage:
        screener = self._screener
        expected = consent.ack_expectation(screener.service, person.epoch, screener.service_key, screener.key.public)
        verify(acknowledgement, expected, Role.SIGNER)
        if acknowledgement.message.user_block != encode_text(person.prox_id):
            raise ConsentError("acknowledgement is for another user")
        consent.verify_ack(acknowledgement, message)
        user_block = encode_text(person.user_id)
        restored = resign(acknowledgement, user_block, screener.key, exactly(user_block))
        payload = ConsentPayload(b"", b"", SanitizedPair(acknowledgement, restored).encode())
        told = (person.user_tag, person.epoch, vector.version)
        tag = key_tag(message.header.signer)
        await self._store.consent_acknowledged(*told, message.session_id, payload.encode(), tag)
        return restored


def _owed(user_tag: str, epoch: int) -> str:
    return f"consent|{user_tag}|{epoch}"
