"""Objections at IS (DESIGN 11): in effect here at once, told to MS, recorded, and only then acknowledged.

MS is told by this service's signed word, which it logs; what is recorded here holds its promise of that (ADR 0042).

One that MS could not be told of, or that nobody recorded then, is not lost: it is owed, and worker 0 goes on with it
(`gateway.owed`) whether or not the person asks again. So is that it is taken back.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from gateway.epochs import OpenEpochs
from gateway.erasures import left_out, newest
from gateway.identity import Screener
from gateway.notices import Notices
from gateway.store.library import GatewayStore
from gateway.store.rights import Exercised, RightsStore, Subject
from gateway.upstream import MainServiceClient
from proxid.crypto.hpke import SealingKey
from proxid.crypto.identity import Enrolment
from proxid.errors import ConsentError, ProxidError, UpstreamError, UpstreamRefusedError
from proxid.evidence.checkpoint import origin
from proxid.evidence.events import EventType, encode_header
from proxid.evidence.note import Verifier
from proxid.evidence.promise import Promise
from proxid.protocol.restriction import Restriction
from proxid.protocol.rights import ErasedDisclosure, Right, RightsRequest, Told, erased_info

HELD: Final = 270
"""Seconds for which whoever tells MS of an objection has it alone: longer than MS may take, for two keys."""
_ATTEMPTS: Final = 3
_POLL: Final = 0.05
_PATIENCE: Final = 20.0


class Objections:
    """Carries objections out, and takes them back.

    Args:
        auditor: whom OBJECTED discloses the signed request to. epochs: say for how long a right is known again.
    """

    def __init__(
        self, screener: Screener, store: GatewayStore, upstream: MainServiceClient, auditor: SealingKey,
        notices: Notices, epochs: OpenEpochs,
    ) -> None:  # fmt: skip
        self._screener = screener
        self._store = store
        self._rights = RightsStore(store)
        self._upstream = upstream
        self._auditor = auditor
        self._notices = notices
        self._epochs = epochs

    async def take(self, user_tag: str, enrolment: Enrolment, request: RightsRequest) -> None:
        """Carry out a request to object, or to take that back, that was verified; returns when it is recorded.

        Raises:
            ConsentError: the user is not known (any more), or has asked for something else since. UpstreamError,
                UpstreamRefusedError: MS was not told; what was asked is told when MS is back, and an objection is in
                effect here all the same.
        """
        asked = (request.encode(), enrolment.encode(), request.digest, request.right is Right.OBJECT)
        if not await self._rights.object(user_tag, *asked):
            raise ConsentError("user is not known here")
        await self._tell_first(user_tag)
        if await self._rights.carried_out(request.digest) is None:
            raise ConsentError("another request of the same person has taken its place")

    async def _tell_first(self, user_tag: str) -> None:
        """Carry out what is owed of the user's, by this request or one before, or see worker 0 do it."""
        name, deadline = f"object|{user_tag}", asyncio.get_running_loop().time() + _PATIENCE
        while await self._store.owed_objection(user_tag) is not None:
            if await self._store.claim(name, HELD):
                try:
                    await self.tell(user_tag)
                except BaseException:
                    await self._store.put_off(name, 1)  # else not: another may have claimed what was asked since
                    raise
            elif asyncio.get_running_loop().time() > deadline:
                raise UpstreamError("the Main Service is being told of an earlier objection")
            else:
                await asyncio.sleep(_POLL)

    async def tell(self, user_tag: str) -> None:
        """Carry out what is owed of a user's, which the caller has claimed. Raises as `take`, and ClockError."""
        self._screener.watch.require()
        owed = await self._store.owed_objection(user_tag)
        if owed is not None:
            request, enrolment = RightsRequest.decode(owed[0]), Enrolment.decode(owed[1])
            await self._carry(user_tag, enrolment, request, owed[2])

    async def _carry(self, user_tag: str, enrolment: Enrolment, request: RightsRequest, begins: bool) -> None:
        objects = request.right is Right.OBJECT
        fresh = objects and begins
        if objects:
            await self._rights.settle(user_tag, "objected")
        for _ in range(_ATTEMPTS):
            person = await self._rights.erasure(user_tag)
            last = max((subject.epoch for subject in person.subjects), default=None)
            known = [subject for subject in person.subjects if subject.epoch == last]
            # By when it was asked, however long MS was away: so an audit knows of whom it must have been told.
            told = newest(self._screener, known, request.time_ms / 1000)
            promised = await self._told(told if objects else told[:1], objects)  # nothing waits under a lost key again
            without = left_out(self._screener, told)
            notices = self._notices.make("object", request.user_id, person.recipients) if fresh else []
            said = {"last": ""} if fresh else {}
            header = encode_header(
                request=request.digest.hex(), right=request.right.value,
                person=self._screener.conceal(user_tag, request.digest),
                notices=[f"{n.party}:{n.digest.hex()}" for n in notices], v=3, **said,
            )  # fmt: skip
            exercised = Exercised(request.digest, header, self._epochs.right_known_for())
            disclosure = ErasedDisclosure(request.encode(), enrolment.encode(), promised)
            payload = self._auditor.seal(disclosure.encode(), erased_info(self._screener.service))
            state = await self._rights.objected(user_tag, objects, exercised, payload, notices, without, known)
            if state == "UNKNOWN":
                raise ConsentError("user is not known here")
            if state != "AGAIN":
                return
        raise UpstreamRefusedError("the person links keys all the while")

    async def _told(self, told: Sequence[Subject], objects: bool) -> tuple[tuple[bytes, bytes], ...]:
        """Have MS heed an objection, or its end, of each person-epoch; by subject tag this word, and MS's promise.

        Raises:
            UpstreamRefusedError: MS does not promise that it is in its log; and as `take`.
        """
        screener, found = self._screener, []
        for subject, credential in zip(told, await self._rights.credentials(told), strict=True):
            if not credential:
                continue  # it has expired, and its epoch is long over
            now_ms = int(screener.clock() * 1000)
            word = Restriction.make(screener.service, subject.prox_id, objects, screener.key, now_ms)
            said = (subject.prox_id, objects, subject.over, word.encode(), credential)
            promise = await self._upstream.restrict(*said)
            self._verify(promise, word)
            found.append((bytes.fromhex(subject.tag), Told.of(word, promise).encode()))
        return tuple(found)

    def _verify(self, data: bytes, word: Restriction) -> None:
        first = Verifier(origin(self._screener.service, "main-service"), self._screener.service_key)
        try:
            Promise.decode(data).verify_of(first, EventType.RESTRICTED, word.digest)
        except ProxidError:
            # Else nobody could tell who of the two did not do its part. What was asked stays in effect here, and owed.
            raise UpstreamRefusedError("the Main Service does not promise that it was told") from None
