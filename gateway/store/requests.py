"""The request path: nonces, rates, stored answers (DESIGN 5.2, 5.4).

Each method is one atomic step of `lua/requests.lua`.
"""

import math

from gateway.refusals import Refused
from gateway.store.steps import PREFIX, Steps
from proxid.encoding import encode
from proxid.errors import (
    NonceReplayError,
    RateLimitError,
    RegistrationError,
    UpstreamError,
)
from proxid.evidence.events import encode_header, session_header
from proxid.runtime.evidence_log.writer import evidence_key_name
from proxid.runtime.store.connection import store_errors
from proxid.runtime.store.functions import named


class RequestSteps(Steps):
    """See the module."""

    async def forward(
        self, key_tag: str, nonce_tag: str, session: bytes, payload: bytes, now: float, limits: tuple[int, int]
    ) -> bytes | None:
        """Checks 3, 5 and 6 of 5.2 and FORWARDED, in one step; the stored answer if there is one.

        Args:
            limits: nonce time to live in seconds, requests a minute.

        Raises:
            RegistrationError, NonceReplayError, RateLimitError. UpstreamError: MS is being told that the person
                objects no more; once that is recorded, it may be sent again.
        """
        ttl, rate = limits
        result = await self.call(
            "gw_forward",
            *named(
                key_tag=key_tag, nonce_tag=nonce_tag, session=session, now=int(now), ttl=ttl, rate=rate,
                salt=self._salt(), header=session_header(session), payload=payload,
            ),
        )  # fmt: skip
        state = result[0]
        if state == b"UNREGISTERED":
            raise RegistrationError("epoch key is not registered")
        if state == b"REPLAYED":
            raise NonceReplayError("nonce was used before for another message")
        if state == b"RATE":
            raise RateLimitError("user sends more requests than allowed")
        if state == b"OWED":
            raise UpstreamError("the Main Service is being told that an objection is taken back")
        return bytes(result[1]) if state == b"ANSWERED" else None

    async def answered(self, session: bytes, answer: bytes, payload: bytes, ttl: int, user_tag: str) -> bytes:
        """Store the answer and record ANSWERED, once; the answer that is stored."""
        earlier = await self.call(
            "gw_answered",
            *named(
                session=session, user_tag=user_tag, answer=answer, ttl=ttl, salt=self._salt(),
                header=session_header(session), payload=payload,
            ),
        )  # fmt: skip
        return answer if earlier is None else bytes(earlier)

    async def unreached(self, session: bytes) -> None:
        """Record that MS could not be reached for a session, unless it has been settled."""
        await self.call("gw_unreached", session, self._salt(), encode_header(session=session.hex(), v=2))

    async def settled(self, session: bytes) -> None:
        """MS refused the session, and has recorded it."""
        await self.call("gw_settled", session)

    async def open_sessions(
        self, until: float = math.inf, limit: int = 1000, after: float = -math.inf
    ) -> list[bytes]:  # fmt: skip
        """Sessions forwarded until a time, and after one (Unix seconds), that are not settled, the oldest first."""
        latest, earliest = "+inf" if math.isinf(until) else int(until), "-inf" if math.isinf(after) else int(after) + 1
        return list(await self.call("gw_open", limit, latest, earliest))

    async def is_forwarded(self, nonce_tag: str) -> bool:
        """Whether a message with this nonce was forwarded, and its answer would still be known."""
        with store_errors():
            return bool(await self.client.exists(f"{PREFIX}:n:{nonce_tag}"))

    async def refused(self, refused: Refused, limit: int) -> None:
        """Record one REFUSED of a minute; whose requests they were is nobody else's to read.

        Args:
            limit: requests of one person in a minute.
        """
        header = encode_header(
            rule=refused.rule, count=refused.number, sessions=refused.sessions, kind=refused.kind,
            minute=refused.minute, limit=limit, v=3,
        )  # fmt: skip
        whose = (encode(refused.prox_id), evidence_key_name(PREFIX, refused.prox_id)) if refused.prox_id else ()
        await self.call("gw_refused", self._salt(), header, *whose)
