"""Consent, and what a change of it takes back (DESIGN 7).

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


class Chosen(NamedTuple):
    """A choice that is in effect: where its CONSENT stands (`place_of`), and what has left for each party."""

    place: str
    sent: list[SentBefore]


class ConsentSteps(Steps):
    """See the module."""

    async def consent(
        self, user_tag: str, epoch: int, version: int, payload: bytes, grants: Sequence[str], ttl: int, held: int = 0,
        message: bytes = b"", key_tag: str = "",
    ) -> Chosen:  # fmt: skip
        """Put a consent vector into effect, record CONSENT, and take back what it does not allow; again it is harmless.

        Args:
            grants: `PARTY|TYPE|FIDELITY`, all that is allowed from now on.
            held: seconds that the caller has to tell MS. message: session id of the message to MS.
            key_tag: of the epoch key that signed it; empty in tests that have none.

        Raises:
            ConsentError: not the next version. RegistrationError: the user is erased, or the key
                revoked, or lost.
        """
        header = encode_header(epoch=epoch, version=version, phase="received", message=message.hex())
        state = await self.call(
            "gw_consent",
            *named(
                *grants, user_tag=user_tag, key_tag=key_tag, epoch=epoch, version=version, ttl=ttl, held=held,
                salt=self._salt(), header=header, payload=payload, coming=self.coming(),
            ),
        )  # fmt: skip
        if state == b"ERASED":
            raise RegistrationError("user is erased")
        if state == b"REVOKED":
            raise RegistrationError("the user's key was revoked, or another has taken its place")
        if state == b"OBJECTED":
            raise ObjectedError("user has objected to any passing on")
        if state == b"STALE":
            raise ConsentError("consent is not the next version")
        place, sent = state
        return Chosen(place.decode(), [SentBefore(party.decode(), *map(int, counts)) for party, *counts in sent])

    async def consent_acknowledged(
        self, user_tag: str, epoch: int, version: int, message: bytes, payload: bytes, key_tag: str = ""
    ) -> None:  # fmt: skip
        """Record MS's acknowledgement of a consent message, which its hash names, once.

        Raises:
            RegistrationError: another epoch key has taken the place of the one that signed it.
        """
        header = encode_header(epoch=epoch, version=version, phase="acknowledged", message=message.hex())
        done = await self.call(
            "gw_consent_acknowledged",
            *named(
                user_tag=user_tag, key_tag=key_tag, epoch=epoch, version=version, salt=self._salt(), header=header,
                payload=payload,
            ),
        )  # fmt: skip
        if done == -1:
            raise RegistrationError("another epoch key has taken this one's place")
