"""Persons' rights at IS (DESIGN 10.3, 11): access, erasure, objection, each signed by the user, each an event.

An erasure is carried out in steps that may be repeated after a crash, by the same request or another of the user's:
    (1) tombstone: nothing of the user is taken or delivered any more        (4) ERASED, with links and keys deleted
    (2) groups with the user are dropped; what is on the wire is waited for  (5) every other trace swept
    (3) MS forgets the live PROX_ID; pending events are encrypted            (6) both stores' files rewritten
Only then does the user get the receipt.
"""

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Final

from gateway.rights_store import Held, RightsStore, Subject
from gateway.screener import Screener
from gateway.store import PREFIX, GatewayStore
from gateway.upstream import MainServiceClient
from proxid.crypto.hpke import SealingKey
from proxid.crypto.identity import Enrolment
from proxid.encoding import encode
from proxid.errors import ConsentError, FreshnessError, RegistrationError
from proxid.evidence.events import encode_header
from proxid.evidence.ratchet import owner_salt
from proxid.protocol.rights import ErasedDisclosure, Right, RightsReceipt, RightsRequest, erased_info
from proxid.store.evidence.writer import rewrite_aof, wait_logged
from proxid.store.sweep import sweep

GRACE: Final = 3.0
"""Seconds a party gets to acknowledge what was written to it before its streams are closed."""
OPEN_SECONDS: Final = 30.0
LIVE_SECONDS: Final = 900.0
"""After an epoch's end: MS's grace time and what it needs to close the epoch."""
_POLL: Final = 0.05
_COUNT_SIZE: Final = 4
"""Bytes of the number of items that an encoding begins with."""


@dataclass(frozen=True, slots=True)
class Granted:
    """The receipt, and for access IS's share as JSON."""

    receipt: RightsReceipt
    share: str = ""


class Rights:
    """Carries requests out.

    Args:
        auditor: whom ERASED, OBJECTED and ACCESSED disclose the signed request to.
    """

    def __init__(
        self, screener: Screener, store: GatewayStore, upstream: MainServiceClient, auditor: SealingKey
    ) -> None:
        self._screener = screener
        self._store = store
        self._rights = RightsStore(store)
        self._upstream = upstream
        self._auditor = auditor

    async def grant(self, enrolment_bytes: bytes, request_bytes: bytes) -> Granted:
        """Check a signed request and carry it out.

        Raises:
            ProxidError: a document does not hold. RegistrationError: nobody of that name is known here.
            UpstreamError, StoreError: not carried out to its end; ask again.
        """
        screener = self._screener
        enrolment, request = Enrolment.decode(enrolment_bytes), RightsRequest.decode(request_bytes)
        enrolment.verify(screener.authority)
        if request.user_id != enrolment.user_id:
            raise RegistrationError("request is of another user than the enrolment")
        request.verify(enrolment.user_key, screener.service, screener.key.public)
        if abs(request.time_ms / 1000 - screener.clock()) > screener.limits.clock_skew:
            raise FreshnessError("time is outside the allowed skew")
        if request.right is Right.ERASE:
            return Granted(await self._erase(enrolment, request))
        held = await self._rights.held(screener.user_tag(request.user_id), sorted(screener.party_keys))
        if held.user_key != enrolment.user_key:
            raise RegistrationError("user is not known here")
        if request.right is Right.ACCESS:
            return await self._access(enrolment, request, held)
        return Granted(await self._object(enrolment, request))

    def _disclosed(
        self, enrolment: Enrolment, request: RightsRequest, owners: tuple[tuple[bytes, bytes], ...] = ()
    ) -> bytes:
        disclosure = ErasedDisclosure(request.encode(), enrolment.encode(), owners)
        return self._auditor.seal(disclosure.encode(), erased_info(self._screener.service))

    def _receipt(self, request: RightsRequest) -> RightsReceipt:
        screener = self._screener
        return RightsReceipt(request.digest, request.right, int(screener.clock() * 1000)).sign(screener.key)

    async def _access(self, enrolment: Enrolment, request: RightsRequest, held: Held) -> Granted:
        header = encode_header(request=request.digest.hex())
        await self._rights.accessed(header, self._disclosed(enrolment, request))
        return Granted(self._receipt(request), json.dumps(_share(request.user_id, held), ensure_ascii=False))

    async def _object(self, enrolment: Enrolment, request: RightsRequest) -> RightsReceipt:
        screener, objects = self._screener, request.right is Right.OBJECT
        header = encode_header(request=request.digest.hex(), right=request.right.value)
        payload = self._disclosed(enrolment, request)
        if not await self._rights.objected(screener.user_tag(request.user_id), objects, header, payload):
            raise ConsentError("user is not known here")
        return self._receipt(request)

    async def _erase(self, enrolment: Enrolment, request: RightsRequest) -> RightsReceipt:
        user_tag, client = self._screener.user_tag(request.user_id), self._store.client
        # (1)
        mark, subjects = await self._rights.begin_erasure(user_tag, b"1")
        if not mark:
            raise RegistrationError("user is not known here")
        if not subjects and mark != b"1":
            return RightsReceipt.decode(mark)
        # (2)
        await self._settle(user_tag)
        await self._answered()
        # (3)
        for subject in subjects:
            if self._is_live(subject.epoch):
                await self._upstream.erase(subject.prox_id)
        await wait_logged(client, PREFIX)
        # (4)
        receipt = self._receipt(request)
        await self._finish(enrolment, request, subjects, receipt)
        # (5) (6)
        # The id with its length, as encodings hold it: a short one alone would be found in anybody's bytes.
        needles = [encode(request.user_id)[_COUNT_SIZE:], user_tag.encode(), enrolment.user_key]
        needles += [subject.prox_id.encode() for subject in subjects]
        await wait_logged(client, PREFIX)
        await sweep(client, PREFIX, needles, keep=(f"{PREFIX}:x:{user_tag}",))
        await rewrite_aof(client)
        return receipt

    def _is_live(self, epoch: int) -> bool:
        """Whether MS may still hold something under this epoch's PROX_ID; of older ones it is never told."""
        return self._screener.clock() < self._screener.epochs.end(epoch) + LIVE_SECONDS

    async def _settle(self, user_tag: str) -> None:
        parties, loop = sorted(self._screener.party_keys), asyncio.get_running_loop()
        deadline = loop.time() + GRACE
        while flying := await self._rights.settle_erasure(user_tag, parties):
            if loop.time() >= deadline:
                await self._store.close_streams(flying)
                deadline += GRACE
            await asyncio.sleep(_POLL)

    async def _answered(self) -> None:
        """Wait until what was on its way to MS before the tombstone is answered or given up."""
        waiting, loop = set(await self._store.open_sessions()), asyncio.get_running_loop()
        deadline = loop.time() + OPEN_SECONDS
        while waiting & set(await self._store.open_sessions()) and loop.time() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_POLL)

    async def _finish(
        self, enrolment: Enrolment, request: RightsRequest, subjects: list[Subject], receipt: RightsReceipt
    ) -> None:
        tags = [bytes.fromhex(subject.tag) for subject in subjects]
        seeds = await self._store.evidence_keys(tags)
        owners = tuple((tag, owner_salt(seed)) for tag, seed in zip(tags, seeds, strict=True) if seed)
        header = encode_header(request=request.digest.hex(), tags=[tag.hex() for tag, _ in owners])
        payload = self._disclosed(enrolment, request, owners)
        user_tag = self._screener.user_tag(request.user_id)
        await self._rights.finish_erasure(user_tag, receipt.encode(), header, payload, subjects)


def _share(user_id: str, held: Held) -> dict[str, Any]:
    """What IS holds, in the words of the schema; it knows no text and no category."""
    epochs = [
        {"epoch": epoch, "version": version, "grants": [_grant(g) for g in sorted(grants)]}
        for epoch, version, grants in sorted(held.epochs)
    ]
    deliveries = [
        {
            "party": party, "epoch": epoch, "group": group, "kind": kind.partition("|")[0],
            "as": kind.partition("|")[2], "acknowledged": acknowledged, "time": at or None,
        }
        for party, epoch, group, kind, acknowledged, at in sorted(held.groups)
    ]  # fmt: skip
    return {"user_id": user_id, "objects": held.objects, "epochs": epochs, "deliveries": deliveries}


def _grant(text: str) -> dict[str, str]:
    party, kind, fidelity = text.split("|")
    return {"party": party, "kind": kind, "as": fidelity}
