"""What the Identity Screener may put into a user block: LIM's checks for `sansig.scheme.resign` (DESIGN 4.3)."""

from proxid.crypto.sansig import Header, verify_prox_id
from proxid.crypto.sansig.scheme import LimitCheck
from proxid.errors import LimitError


def prox_of(header: Header) -> LimitCheck:
    """Allows the PROX_ID of a message's signing key alone."""
    return lambda block: verify_prox_id(block, header.service, header.epoch, header.signer)


def exactly(expected: bytes) -> LimitCheck:
    """Allows one block: the linked user's, or the alias's."""

    def check(block: bytes) -> None:
        if block != expected:
            raise LimitError("user block is not the linked user or alias")

    return check
