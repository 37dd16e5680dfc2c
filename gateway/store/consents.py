"""Consent, and the streams that a change of it closes (DESIGN 7).

Each method is one atomic step of `lua/consents.lua`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gateway.store.steps import Steps
from proxid.errors import (
    ConsentError,
    ObjectedError,
    RegistrationError,
)
from proxid.evidence.events import encode_header
from proxid.runtime.store.functions import named


class SentBefore(NamedTuple):
    """What a party was sent: records under a person's name, of these not acknowledged, messages of contents."""

    party: str
    records: int
    unacknowledged: int
    contents: int


class ConsentSteps(Steps):
    """See the module."""

    async def consent(
        self, user_tag: str, epoch: int, version: int, payload: bytes, grants: Sequence[str], ttl: int, held: int = 0
    ) -> None:  # fmt: skip
        """Put a consent vector into effect and record CONSENT; the same vector again is harmless.

        Args:
            grants: `PARTY|TYPE|FIDELITY`, all that is allowed from now on.
            held: seconds that the caller has to tell MS.

        Raises:
            ConsentError: not the next version. RegistrationError: the user is erased.
        """
        header = encode_header(epoch=epoch, version=version, phase="received")
        state = await self.call(
            "gw_consent",
            *named(
                *grants, user_tag=user_tag, epoch=epoch, version=version, ttl=ttl, held=held, salt=self._salt(),
                header=header, payload=payload,
            ),
        )  # fmt: skip
        if state == b"ERASED":
            raise RegistrationError("user is erased")
        if state == b"OBJECTED":
            raise ObjectedError("user has objected to any passing on")
        if state == b"STALE":
            raise ConsentError("consent is not the next version")

    async def sent_before(self, user_tag: str) -> list[SentBefore]:
        """What has left for each party of a user's, as far as the feeds still hold it."""
        rows = await self.call("gw_sent_before", user_tag)
        return [SentBefore(party.decode(), *map(int, counts)) for party, *counts in rows]

    async def close_streams(self, parties: Sequence[str]) -> None:
        """Ask whoever streams to these parties to stop."""
        await self.call("gw_close_streams", *parties)

    async def closings(self, party: str) -> int:
        """How often the party's streams were asked to stop."""
        return int(await self.call("gw_closings", party))

    async def consent_acknowledged(
        self, user_tag: str, epoch: int, version: int, message: bytes, payload: bytes
    ) -> None:  # fmt: skip
        """Record MS's acknowledgement of a consent message, which its hash names, once."""
        header = encode_header(epoch=epoch, version=version, phase="acknowledged", message=message.hex())
        await self.call(
            "gw_consent_acknowledged",
            *named(
                user_tag=user_tag, epoch=epoch, version=version, salt=self._salt(), header=header, payload=payload
            ),
        )  # fmt: skip
