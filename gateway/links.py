"""Linking epoch keys to enrolled users (DESIGN 4.3).

A person has one epoch key in an epoch. One that is lost is replaced, once: whoever links another one says that it is
(ADR 0039). In that step nothing is taken by the lost one any more; the other one does not count as seasoned in that
epoch, and its credential names the PROX_ID before. Its device hears of it once MS has given up what waits under that,
and MS takes nothing under it before. That MS is to do so is owed from that step on (`gateway.owed`).
"""

import os
from collections.abc import Callable
from dataclasses import replace

from gateway.epochs import OpenEpochs
from gateway.erasures import newest
from gateway.identity import Screener, key_tag
from gateway.names import name_forms
from gateway.store.library import GatewayStore
from gateway.store.links import KeyLiveError, Registration
from gateway.store.rights import RightsStore
from gateway.upstream import MainServiceClient
from proxid.crypto.hpke import OpeningKey
from proxid.crypto.identity import Credential, Enrolment, Link
from proxid.encoding import encode_text
from proxid.errors import CredentialError, MessageInvalidError
from proxid.evidence.events import EnrolledPayload, LinkedPayload
from proxid.evidence.events.gateway import PART_SIZE
from proxid.protocol.request import MAX_USER_BLOCK


class Links:
    """Registers epoch keys and issues their credentials."""

    def __init__(
        self, screener: Screener, store: GatewayStore, epochs: OpenEpochs, upstream: MainServiceClient,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:  # fmt: skip
        self._screener = screener
        self._upstream = upstream
        self._epochs = epochs
        self._store = store
        self._rights = RightsStore(store)
        self._random = random

    async def link(self, enrolment_bytes: bytes, link_bytes: bytes) -> Credential:
        """Check an enrolment and a link, register the key; linking the same again is harmless.

        Raises:
            CredentialError, SignatureInvalidError, KeyInvalidError, EncodingError: a document does not hold.
            EpochError: the epoch is not current. RegistrationError: the key was registered, or one was lost before.
            UpstreamError, UpstreamRefusedError: what waits under a lost key is not given up: link again.
            RateLimitError. NameAlikeError: a new user's name looks like somebody else's.
        """
        screener = self._screener
        enrolment, link = Enrolment.decode(enrolment_bytes), Link.decode(link_bytes)
        if not 0 < len(encode_text(enrolment.user_id)) <= MAX_USER_BLOCK:
            raise MessageInvalidError("USER_ID is empty or too long")
        enrolment.verify(screener.authority)
        link.verify(enrolment)
        if (link.service, link.screener) != (screener.service, screener.key.public):
            raise CredentialError("link is for another service or screener")
        screener.limit("links", screener.user_tag(link.user_id), link_bytes)
        now = screener.clock()
        enrolment.verify_time(now)
        terms = await self._epochs.verify_current(link.epoch, int(now * 1000))
        # Of the person's evidence in this epoch: IS keeps the private half, and deletes it on erasure (10.3).
        evidence = OpeningKey.generate(self._random)
        credential = Credential(
            epoch_key=link.epoch_key, epoch=link.epoch, service=link.service,
            not_after=screener.epochs.end(link.epoch),
            seasoned=now - enrolment.since >= terms.season_seconds,
            evidence_key=evidence.public.data,
        ).issue(screener.key)  # fmt: skip
        ttl = screener.link_ttl(link.epoch, terms.retention.links)
        try:
            credential = await self._register(enrolment, link, credential, evidence, ttl)
        except KeyLiveError:
            lost = await self._store.lost(screener.user_tag(link.user_id), link.epoch)
            credential = replace(credential, seasoned=False, instead=lost).issue(screener.key)
            credential = await self._register(enrolment, link, credential, evidence, ttl)
        if credential.instead:
            await self.tell(screener.user_tag(link.user_id), link.epoch)
        return credential

    async def tell(self, user_tag: str, epoch: int) -> None:
        """Have MS give up, for good, what waits under a user's lost key of an epoch, if it may have that open.

        To be told twice, or twice at a time, changes nothing.

        Raises:
            UpstreamError, UpstreamRefusedError: it could not be told. ClockError: what is open is not sure. StoreError.
        """
        self._screener.watch.require()
        own = [one for one in (await self._rights.erasure(user_tag)).subjects if one.epoch == epoch]
        for subject in newest(self._screener, own, self._screener.clock()):
            if subject.over:
                await self._upstream.restrict(subject.prox_id, True, lost=True)
        await self._store.owes_no_more(f"lost|{user_tag}|{epoch}")

    async def _register(
        self, enrolment: Enrolment, link: Link, credential: Credential, evidence: OpeningKey, ttl: int
    ) -> Credential:
        """The credential that the key has now, or had before."""
        tag = self._screener.user_tag(link.user_id)
        part = await self._store.part(tag) or self._random(PART_SIZE)
        documents = LinkedPayload(enrolment.encode(), link.encode(), credential.encode(), part)
        person = Registration(
            user_id=link.user_id, user_tag=tag, epoch=link.epoch,
            prox_id=link.prox_id, seasoned=credential.seasoned, link=documents.link,
            credential=documents.credential,
        )  # fmt: skip
        new = await self._store.link(
            key_tag(link.epoch_key), person, link.user_key, ttl,
            (EnrolledPayload(documents.enrolment, link.prox_id).encode(), documents.encode()), evidence,
            name_forms(self._screener.secret, link.user_id), part, enrolment.replaces, self._screener.clock(),
            credential.instead,
        )  # fmt: skip
        if new:
            return credential
        return Credential.decode((await self._store.registration(key_tag(link.epoch_key))).credential)
