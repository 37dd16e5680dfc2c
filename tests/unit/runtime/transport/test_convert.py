"""Encoded messages of one's own on their way to the wire: what is no message is refused as the docstring says."""

import pytest

from proxid.encoding import encode
from proxid.errors import EncodingError
from proxid.runtime.transport.convert import encoded_to_wire


def test_an_encoded_message_has_its_parts_in_their_places() -> None:
    wire = encoded_to_wire(encode(b"header", b"signature", b"first", b"second"))
    assert (wire.header, wire.signature, list(wire.blocks)) == (b"header", b"signature", [b"first", b"second"])


@pytest.mark.parametrize("items", [(), (b"x",), (b"x", b"y")])
def test_fewer_than_three_items_are_no_message(items: tuple[bytes, ...]) -> None:
    with pytest.raises(EncodingError):
        encoded_to_wire(encode(*items))
