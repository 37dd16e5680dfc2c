"""Consent at the Main Service (DESIGN 7): a bundle by PROX_ID, versions counted from 1 in the epoch."""

from main_service.epochs import EpochKeys
from main_service.identity import Service
from main_service.requests import Credentials
from main_service.store.pool import PoolStore
from proxid.crypto.sansig import Role, SignedMessage, verify, verify_prox_id
from proxid.encoding import encode
from proxid.errors import ConsentError
from proxid.evidence.events import EventType
from proxid.protocol import consent
from proxid.protocol.consent import TYPES, Grant, audience, audience_id
from proxid.runtime.evidence_log.promising import Promises


class Consents:
    """Takes sanitised consent messages from IS."""

    def __init__(
        self, service: Service, store: PoolStore, credentials: Credentials, epochs: EpochKeys, promises: Promises
    ) -> None:
        self._service = service
        self._promises = promises
        self._epochs = epochs
        self._store = store
        self._credentials = credentials

    async def change(self, signed: SignedMessage, shown: bytes) -> tuple[SignedMessage, bytes]:
        """Put a bundle into effect; the signed acknowledgement, and the promise of CONSENT.

        The same message again gets the same answer.

        Raises:
            ConsentError: the bundle is not offered, or not the next version. ProxidError: a check failed.
        """
        service, header = self._service, signed.header
        service.watch.require()
        credential = (await self._credentials.of(header.signer, header.epoch, shown)).credential
        verify_prox_id(signed.message.user_block, service.name, credential.epoch, credential.epoch_key)
        expected = consent.expectation(service.name, credential.epoch, credential.epoch_key, service.screener)
        verify(signed, expected, Role.SANITIZER)
        terms = (await self._epochs.current(header.epoch)).terms
        # However old it is within its epoch: IS held it while this service was away, and versions keep the order.
        service.verify_near(header.epoch, terms.clock_skew)
        bundle, version = consent.read(signed)
        if bundle not in terms.bundles:
            raise ConsentError("bundle is not offered")
        now_ms = int(service.clock() * 1000)
        ack = consent.make_ack(signed, credential.prox_id, service.key, now_ms)
        payload = encode(signed.encode(), ack.encode(), credential.encode())
        stored, place = await self._store.consent(
            header.epoch, credential.prox_id, signed, (bundle, version), (ack.encode(), payload),
            _audiences(terms.bundles[bundle]), service.kept_for(header.epoch),
        )  # fmt: skip
        return SignedMessage.decode(stored), await self._promises.of(place, EventType.CONSENT, signed.session_id)


def _audiences(grants: tuple[Grant, ...]) -> tuple[str, ...]:
    return tuple(f"{kind}|{audience_id(audience(grants, kind))}" for kind in TYPES)
