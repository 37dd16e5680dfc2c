"""Persons' rights at IS (DESIGN 10.3, 11): access, erasure, objection, each signed by the user, each an event.

An erasure is a durable job (`gateway.erasures`): it is accepted at once, and asked for again the answer is the receipt,
once there is one. An objection is in effect before its receipt: nothing of the user goes out of a feed, and MS releases
nothing more, whatever was granted, until it is taken back.
"""

import base64
import json
from dataclasses import dataclass
from typing import Any, Final

from gateway.epochs import OpenEpochs
from gateway.erasures import Erasures
from gateway.identity import Screener
from gateway.objections import Objections
from gateway.store.library import GatewayStore
from gateway.store.rights import Exercised, Held, RightsState, RightsStore
from proxid.crypto.hpke import SealingKey
from proxid.crypto.identity import Enrolment
from proxid.errors import RegistrationError
from proxid.evidence.events import EventType, encode_header
from proxid.protocol.rights import ErasedDisclosure, Right, RightsReceipt, RightsRequest, erased_info
from proxid.runtime.evidence_log.promising import Promises

_UNDER_WAY: Final = b"1"


@dataclass(frozen=True, slots=True)
class Granted:
    """The receipt, None while an erasure is under way, for access and status IS's share as JSON, and the promise of the
    event, empty of a status."""

    receipt: RightsReceipt | None
    share: str = ""
    promise: bytes = b""


class Rights:
    """Carries requests out.

    Args:
        auditor: whom ACCESSED discloses the signed request to. erasures: does the rest of an erasure.
    """

    def __init__(
        self, screener: Screener, store: GatewayStore, auditor: SealingKey, objections: Objections,
        erasures: Erasures, epochs: OpenEpochs, promises: Promises,
    ) -> None:  # fmt: skip
        self._screener = screener
        self._promises = promises
        self._rights = RightsStore(store)
        self._auditor = auditor
        self._objections = objections
        self._erasures = erasures
        self._epochs = epochs

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
        screener.watch.require()
        screener.verify_fresh(request.time_ms, self._epochs.in_force().clock_skew)
        user_tag = screener.user_tag(request.user_id)
        screener.limit("rights", user_tag, request_bytes)
        if request.right is Right.ERASE:
            return await self._erase(user_tag, request_bytes, enrolment)
        state = await self._rights.status(user_tag)
        erased = request.right is Right.STATUS and state.tombstone
        if state.user_key != enrolment.user_key and not erased:
            raise RegistrationError("user is not known here")
        if request.right is Right.STATUS:
            return Granted(self._receipt(request), json.dumps(_status(state), ensure_ascii=False))
        if request.right is Right.ACCESS:
            return await self._access(enrolment, request)
        if await self._rights.carried_out(request.digest) is None:  # whoever sends it again: what was asked since stays
            await self._objections.take(user_tag, enrolment, request)
        return Granted(self._receipt(request), promise=await self._promise(EventType.OBJECTED, request.digest))

    async def _promise(self, kind: EventType, request: bytes) -> bytes:
        return await self._promises.of(await self._rights.carried_out(request) or "", kind, request)

    def _disclosed(self, enrolment: Enrolment, request: RightsRequest) -> bytes:
        disclosure = ErasedDisclosure(request.encode(), enrolment.encode())
        return self._auditor.seal(disclosure.encode(), erased_info(self._screener.service))

    def _receipt(self, request: RightsRequest) -> RightsReceipt:
        screener = self._screener
        return RightsReceipt(request.digest, request.right, int(screener.clock() * 1000)).sign(screener.key)

    def _exercised(self, request: RightsRequest, header: bytes) -> Exercised:
        return Exercised(request.digest, header, self._epochs.right_known_for())

    async def _access(self, enrolment: Enrolment, request: RightsRequest) -> Granted:
        held = await self._rights.held(self._screener.user_tag(request.user_id))
        header = encode_header(request=request.digest.hex(), v=2)
        await self._rights.accessed(self._exercised(request, header), self._disclosed(enrolment, request))
        share = json.dumps(_share(request.user_id, held), ensure_ascii=False)
        return Granted(self._receipt(request), share, await self._promise(EventType.ACCESSED, request.digest))

    async def _erase(self, user_tag: str, request: bytes, enrolment: Enrolment) -> Granted:
        receipt = await self._rights.begin_erasure(user_tag, request, enrolment.encode(), enrolment.user_key)
        if receipt is None:
            raise RegistrationError("user is not known here")
        self._erasures.wake.set()
        if not receipt:
            return Granted(None)
        done = RightsReceipt.decode(receipt)
        return Granted(done, promise=await self._promise(EventType.ERASED, done.request))


def _status(state: RightsState) -> dict[str, Any]:
    erasure = {b"": "none", _UNDER_WAY: "accepted"}.get(state.tombstone, "done")
    return {
        "erasure": erasure,
        "objects": state.objects,
        "recipients": [{"party": r.party, "name": r.name, "records": r.records} for r in state.recipients],
        "notices": [
            {
                "party": n.party, "kind": n.kind, "made": n.made, "acknowledged": n.acknowledged or None,
                "acknowledgement": base64.b64encode(n.acknowledgement).decode("ascii"),
            }
            for n in state.notices
        ],
    }  # fmt: skip


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
