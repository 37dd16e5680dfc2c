"""`proxid bench rights`: what cannot be measured is refused; hostile messages are what they say."""

import pytest

from bench.rights import Options
from bench.rights.hostile import messages
from proxid.errors import InputError, OversizedError
from proxid.runtime.transport.fields import verify_count
from proxid.wire.v1 import gateway_pb2


@pytest.mark.parametrize(("name", "value"), [("links", "0"), ("people", "20"), ("abuse_seconds", "0"), ("links", "x")])
def test_options_that_cannot_be_measured_are_refused(name: str, value: str) -> None:
    with pytest.raises(InputError):
        Options.parse({name: value})
    assert Options.parse({"another": "1"}) == Options()


def test_hostile_messages_fill_the_limit_and_only_the_last_has_too_many_fields() -> None:
    found = messages(65_536)
    assert all(60_000 < len(data) <= 65_536 for data in found)
    one, allowed, many = (gateway_pb2.AskRequest.FromString(data).message.blocks for data in found)
    assert (len(one), len(allowed)) == (1, 4094) and len(many) > 30_000
    for data in found[:2]:
        verify_count(data, gateway_pb2.AskRequest.DESCRIPTOR)
    with pytest.raises(OversizedError):
        verify_count(found[2], gateway_pb2.AskRequest.DESCRIPTOR)
