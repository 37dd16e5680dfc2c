"""Consent at the Main Service (DESIGN 7): a bundle by PROX_ID, versions counted from 1 in the epoch."""

from main_service.requests import Credentials
from main_service.service import Service
from main_service.store.pool import PoolStore
from proxid.crypto.sansig import Role, SignedMessage, verify, verify_prox_id
from proxid.encoding import encode
from proxid.errors import ConsentError
from proxid.protocol import consent
from proxid.protocol.consent import TYPES, audience, audience_id


class Consents:
    """Takes sanitised consent messages from IS."""

    def __init__(self, service: Service, store: PoolStore, credentials: Credentials) -> None:
        self._service = service
        self._store = store
        self._credentials = credentials

    async def change(self, signed: SignedMessage, shown: bytes) -> SignedMessage:
        """Put a bundle into effect; the signed acknowledgement. The same message again gets the same answer.

        Raises:
            ConsentError: the bundle is not offered, or not the next version. ProxidError: a check failed.
        """
        service, header = self._service, signed.header
        credential = (await self._credentials.of(header.signer, header.epoch, shown)).credential
        verify_prox_id(signed.message.user_block, service.name, credential.epoch, credential.epoch_key)
        expected = consent.expectation(service.name, credential.epoch, credential.epoch_key, service.screener)
        verify(signed, expected, Role.SANITIZER)
        service.verify_fresh(header.epoch, header.time_ms)
        bundle, version = consent.read(signed)
        if bundle not in service.bundles:
            raise ConsentError("bundle is not offered")
        now_ms = int(service.clock() * 1000)
        ack = consent.make_ack(signed, credential.prox_id, service.key, now_ms)
        payload = encode(signed.encode(), ack.encode(), credential.encode())
        stored = await self._store.consent(
            header.epoch, credential.prox_id, signed, (bundle, version), (ack.encode(), payload),
            self._audiences(bundle), service.kept_for(header.epoch),
        )  # fmt: skip
        return SignedMessage.decode(stored)

    def _audiences(self, bundle: str) -> tuple[str, ...]:
        grants = self._service.bundles[bundle]
        return tuple(f"{kind}|{audience_id(audience(grants, kind))}" for kind in TYPES)
