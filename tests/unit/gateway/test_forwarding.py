"""What goes to the main service in one message: never more than it takes."""

from gateway.forwarding import _fitting
from proxid.protocol.request import BUCKETS
from proxid.runtime.transport.methods import MAX_BATCH, MAX_BATCH_MESSAGE, MAX_BATCH_SIZE
from proxid.wire.v1 import common_pb2, main_service_pb2


def asked(size: int) -> main_service_pb2.ForwardRequest:
    """A request whose text is so long, with all that is around it at its longest."""
    blocks = [bytes(128), bytes(size + 1_200), bytes(32), b"answer"]
    signed = common_pb2.SignedMessage(header=bytes(400), blocks=blocks, signature=bytes(192))
    return main_service_pb2.ForwardRequest(number=2**31, message=signed, credential=bytes(2_000))


def test_a_batch_is_as_many_as_fit_and_at_most_64() -> None:
    small, large = asked(BUCKETS[0]), asked(BUCKETS[-1])
    for waiting in ([small] * 10, [small] * 200, [large] * 200, [small, large] * 100, [large]):
        count = _fitting(waiting)
        assert 1 <= count <= MAX_BATCH
        assert main_service_pb2.ForwardBatch(requests=waiting[:count]).ByteSize() < MAX_BATCH_MESSAGE
        rest = sum(one.ByteSize() for one in waiting[:count])
        assert count in (len(waiting), MAX_BATCH) or rest >= MAX_BATCH_SIZE, "and no fewer than needed"
