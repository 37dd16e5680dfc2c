"""Between wire messages and the library's."""

from proxid.crypto.sansig import SignedMessage
from proxid.encoding import decode
from proxid.errors import EncodingError
from proxid.wire.v1 import common_pb2


def to_wire(signed: SignedMessage) -> common_pb2.SignedMessage:
    """A signed message for the wire."""
    return common_pb2.SignedMessage(
        header=signed.header.encode(), blocks=signed.message.blocks, signature=signed.signature
    )


def encoded_to_wire(data: bytes) -> common_pb2.SignedMessage:
    """The wire form of an encoded message of one's own, of which nothing is looked at; raises EncodingError."""
    items = decode(data)
    if len(items) < 3:
        raise EncodingError("a signed message has a header, a signature and blocks")
    header, signature, *blocks = items
    return common_pb2.SignedMessage(header=header, blocks=blocks, signature=signature)


def from_wire(message: common_pb2.SignedMessage) -> SignedMessage:
    """A signed message from the wire; raises EncodingError, MessageInvalidError."""
    return SignedMessage.from_parts(message.header, list(message.blocks), message.signature)
