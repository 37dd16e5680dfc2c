"""A request of one's own, opened: what a person may present to an auditor (DESIGN 10.4, ADR 0036).

opened   E("opened", signed request, E(utterance, locale, time, location, salt))

What was said of a request that was withheld is in no evidence. Who asked it can show it: the opening fits the
commitment in the signed request alone. The key of its answer is not in it.
"""

from dataclasses import dataclass
from typing import Final

from proxid.crypto.sansig import Role, SignedMessage, verify
from proxid.encoding import decode, encode, label
from proxid.errors import CommitMismatchError, EncodingError
from proxid.protocol import request
from proxid.protocol.request import Utterance

_OPENED: Final = label("opened")


@dataclass(frozen=True, slots=True, repr=False)
class OpenedRequest:
    """The request as its device signed it, and what was said."""

    signed: SignedMessage
    utterance: Utterance

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(_OPENED, self.signed.encode(), self.utterance.opening)

    @classmethod
    def decode(cls, data: bytes) -> "OpenedRequest":
        """The opened request of an encoding; raises EncodingError, MessageInvalidError."""
        purpose, signed, opening = decode(data, 3)
        if purpose != _OPENED:
            raise EncodingError("is no opened request")
        return cls(SignedMessage.decode(signed), Utterance.from_opening(opening))

    def verify(self, service: str, screener: bytes) -> None:
        """Check that whoever holds the epoch key said that to this service.

        Raises:
            CommitMismatchError: the request commits to something else. ProxidError: it is none, or for somebody else.
        """
        header = self.signed.header
        expected = request.expectation(service, header.epoch, header.signer, screener)
        verify(self.signed, expected, Role.SIGNER)
        request.verify_layout(self.signed)
        if self.signed.message.blocks[request.COMMIT] != self.utterance.commit:
            raise CommitMismatchError("opening is of another request")
