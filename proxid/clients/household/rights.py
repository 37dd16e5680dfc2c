"""A user's rights from the own device (DESIGN 11): access and portability, erasure, objection; receipts are kept.

Access puts two shares together: IS's, which knows who and never what, and MS's, which knows what of today's pseudonym
and never who. MS's comes sealed through IS, like any answer.
"""

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any, Final

from proxid.clients.auditing.heads import SeenHeads
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.gateway import GatewayClient
from proxid.clients.household.household import Household
from proxid.clients.household.receipts import Receipt, ReceiptBook
from proxid.clients.household.session import Session
from proxid.clients.household.state import HouseholdState, UserState
from proxid.crypto.sansig import Role
from proxid.errors import ConfigError, InputError, MessageInvalidError, ResponseMismatchError
from proxid.evidence.events import EventType
from proxid.jsontext import load_json
from proxid.protocol import request, response
from proxid.protocol.request import Utterance
from proxid.protocol.rights import Right, RightsReceipt, RightsRequest

SCHEMA: Final = "proxid/personal-data/v1"
_RECORDED: Final = {
    Right.ACCESS: EventType.ACCESSED, Right.OBJECT: EventType.OBJECTED, Right.RESUME: EventType.OBJECTED,
    Right.ERASE: EventType.ERASED,
}  # fmt: skip
"""What the gateway records a right as; nothing of a status."""
_FIRST_PAUSE: Final = 0.1
_LAST_PAUSE: Final = 2.0
"""Seconds between two questions for the receipt of an erasure."""


def document_of(share: str | bytes, *lists: str) -> dict[str, Any]:
    """What a service says of a person, as an object; raises MessageInvalidError for anything else.

    Args:
        lists: fields that it has, each a list of objects.
    """
    try:
        found = load_json(share)
    except ValueError:
        found = None
    rows = [found.get(name) for name in lists] if isinstance(found, dict) else [None]
    if not all(isinstance(row, list) and all(isinstance(item, dict) for item in row) for row in rows):
        raise MessageInvalidError("what the service says of the person is no such document")
    return dict(found)


class RightsClient:
    """Exercises rights of a household's users.

    Args:
        config: the device's. household: whose sessions are used to ask MS. clock: Unix seconds.
    """

    def __init__(
        self, config: DeviceConfig, household: Household, clock: Callable[[], float] = time.time,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:  # fmt: skip
        if config.trust.service is None or config.trust.screener is None:
            raise ConfigError("trust.service and trust.screener are needed")
        self._config = config
        self._service_key, self._screener = config.trust.service, config.trust.screener
        self._household = household
        self._gateway = GatewayClient.open(config)
        keys = (self._screener, self._service_key)
        self._heads = SeenHeads(config.data_dir, config.service, keys, self._gateway.consistency)
        self._users = HouseholdState(config.data_dir).users()
        self._book = ReceiptBook(config.data_dir / "receipts.jsonl")
        self._clock = clock
        self._random = random

    async def close(self) -> None:
        """Close the channel."""
        await self._gateway.close()

    def _user(self, user_id: str) -> UserState:
        user = self._users.get(user_id)
        if user is None:
            raise InputError("nobody of that name is enrolled in this household")
        return user

    async def exercise(self, right: Right, user_id: str) -> tuple[RightsReceipt, str]:
        """Have a right carried out: IS's receipt, verified and kept, and for access IS's share.

        An erasure is accepted at once and asked for again until there is a receipt.

        Raises:
            RefusedError, UpstreamError: not carried out, or not to its end: ask again.
            ResponseMismatchError, SignatureInvalidError: the receipt is not for this request.
        """
        user = self._user(user_id)
        pause = _FIRST_PAUSE
        while True:
            asked, receipt_bytes, share, promise = await self._ask(right, user)
            if receipt_bytes:
                break
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LAST_PAUSE)
        receipt = RightsReceipt.decode(receipt_bytes)
        receipt.verify(self._screener)
        # An erasure asked for again is answered with the receipt of the first request.
        if receipt.right is not right or (receipt.request != asked.digest and right is not Right.ERASE):
            raise ResponseMismatchError("receipt is for another request")
        if right is not Right.STATUS:
            self._book.add_bytes("rights", receipt.request, receipt_bytes)
        if promise:  # a gateway that carried it out before there were any gives none
            head = self._heads.promised(promise, _RECORDED[right], receipt.request)
            self._book.add_bytes("promise", receipt.request, promise)
            await self._heads.take(head)
        if right is Right.ERASE:
            user.mark_erased()
        if right is Right.RESUME:
            user.keep_objection(None)
        if right is Right.OBJECT and not user.objection:  # again it is the same one
            user.keep_objection(receipt.time_ms / 1000)
        return receipt, share

    async def _ask(self, right: Right, user: UserState) -> tuple[RightsRequest, bytes, str, bytes]:
        to = (self._config.service, self._screener)
        asked = RightsRequest.make(right, user.user_id, user.key, to, int(self._clock() * 1000), self._random)
        return asked, *await self._gateway.right(user.enrolment, asked.encode())

    async def accept(self, user_id: str) -> bool:
        """Have an erasure accepted; whether it was done before. `exercise` waits for its receipt. Raises as that."""
        _, receipt, *_ = await self._ask(Right.ERASE, self._user(user_id))
        return bool(receipt)

    async def status(self, user_id: str) -> dict[str, Any]:
        """Which parties may hold records, what they were told, and what they said to it. Raises as `exercise`.

        Returns:
            `erasure`: none, accepted or done; `objects`: whether the user objects; `objects_since`: when they did, Unix
            seconds, 0 if this device does not know, None if they do not; `recipients`: party, name, records; `notices`:
            party, kind, when it was made and acknowledged (Unix seconds or None), and the party's signed
            acknowledgement in base64.
        """
        _, share = await self.exercise(Right.STATUS, user_id)
        found = document_of(share)
        user = self._user(user_id)
        objects = found.setdefault("objects", user.objection is not None)  # a gateway of before does not say it
        if objects is not (user.objection is not None):
            user.keep_objection(0.0 if objects else None)
        return {**found, "objects_since": user.objection}

    async def access(self, user_id: str) -> dict[str, Any]:
        """Everything that both services hold of a user, as one document of the schema.

        Raises:
            RefusedError, UpstreamError: a service did not answer; as `exercise`.
        """
        _, share = await self.exercise(Right.ACCESS, user_id)
        held = document_of(share, "deliveries")
        epoch, share = await self._household.in_epoch(user_id, self._ask_share)
        deliveries = [{**item, "record": "one record of a group"} for item in held["deliveries"]]
        return {
            "schema": SCHEMA,
            "made": int(self._clock()),
            "user_id": user_id,
            "identity_screener": {**held, "deliveries": deliveries},
            "main_service": {"epoch": epoch, **document_of(share)},
        }

    async def _ask_share(self, session: Session) -> tuple[int, str]:
        now_ms = self._household.shown.ms()
        utterance = Utterance.new("", now_ms, random=self._random)
        user_id, route = session.user.user_id, session.route
        asked = request.make(
            utterance, user_id, session.key, route, now_ms, self._random, purpose=request.PURPOSE_ACCESS
        )  # fmt: skip
        reply = await self._gateway.ask(asked, self._gateway.attempts())
        expected = response.expectation(route.service, route.epoch, self._service_key, route.screener)
        response.verify_response(reply, expected, Role.SANITIZER, user_id, asked.session_id)
        self._book.add(Receipt("response", asked.session_id, reply))
        return route.epoch, response.open_answer(reply, utterance.response_key)
