"""A response: sealed to the asker, signed by MS, its user restored by IS (DESIGN 5.4).

m_0 user block (PROX_ID, then USER_ID)   m_1 request hash   m_2 sealed answer   m_3 newest head of MS's log, a note
"""

import os
from functools import lru_cache
from typing import Final

from proxid.crypto import response as sealing
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.sansig import Direction, Expectation, Header, Limit, Message, Role, SignedMessage, sign, verify
from proxid.crypto.sansig.message import NONCE_SIZE
from proxid.encoding import encode_text
from proxid.errors import ResponseMismatchError
from proxid.protocol.request import EXPECTED, Random

USER, REQUEST_HASH, SEALED, HEAD = range(4)
BLOCKS: Final = 4
_BLOCKS_BEFORE: Final = 3


@lru_cache(maxsize=EXPECTED)
def expectation(
    service: str, epoch: int, service_key: bytes, screener: bytes, blocks: int = BLOCKS
) -> Expectation:  # fmt: skip
    """What a response of this service in this epoch must be.

    Args:
        blocks: `blocks_of` where an audit reads what may be from before responses had a head.
    """
    return Expectation(Direction.RESPONSE, service, epoch, service_key, screener, blocks, Limit.LINKED_USER)


def blocks_of(signed: SignedMessage) -> int:
    """How many blocks a response of its form has: as many as now, or those without a head."""
    return _BLOCKS_BEFORE if signed.header.blocks == _BLOCKS_BEFORE else BLOCKS


def head_of(signed: SignedMessage) -> bytes:
    """The head in a verified response; empty in one of before."""
    return b"" if signed.header.blocks == _BLOCKS_BEFORE else signed.message.blocks[HEAD]


def make(
    answer: str, response_key: bytes, request: SignedMessage, prox_id: str, key: SigningKey, now_ms: int,
    head: bytes, random: Random = os.urandom,
) -> SignedMessage:  # fmt: skip
    """Seal an answer to a request and sign it as MS; raises OversizedError.

    Args:
        head: the newest signed one of MS's log, a note.
    """
    request_hash = request.session_id
    sealed = sealing.seal_response(encode_text(answer), response_key, request_hash, random)
    asked = request.header
    header = Header(
        direction=Direction.RESPONSE, service=asked.service, epoch=asked.epoch, signer=key.public,
        sanitizer=asked.sanitizer, nonce=random(NONCE_SIZE), time_ms=now_ms, blocks=BLOCKS, limit=Limit.LINKED_USER,
    )  # fmt: skip
    return sign(Message(header, (encode_text(prox_id), request_hash, sealed, head)), key)


def verify_response(signed: SignedMessage, expected: Expectation, role: Role, user: str, request_hash: bytes) -> None:
    """Check a response to one request: by IS with role SIG and the PROX_ID, by the device with SAN and the USER_ID.

    Raises:
        ResponseMismatchError: another user or another request. SignatureInvalidError, HeaderMismatchError.
    """
    verify(signed, expected, role)
    if signed.message.blocks[USER] != encode_text(user):
        raise ResponseMismatchError("response is for another user")
    if signed.message.blocks[REQUEST_HASH] != request_hash:
        raise ResponseMismatchError("response is for another request")


def open_answer(signed: SignedMessage, response_key: bytes) -> str:
    """The answer of a verified response; raises SealInvalidError, EncodingError."""
    blocks = signed.message.blocks
    return sealing.open_response(blocks[SEALED], response_key, blocks[REQUEST_HASH]).decode("utf-8")
