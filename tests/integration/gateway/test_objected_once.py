"""An objection that two carry out at once, as after a machine slept, is recorded once."""

from redis.asyncio import Redis

from gateway.store.library import GatewayStore
from gateway.store.rights import Exercised, RightsStore
from gateway.store.steps import PREFIX
from tests.integration.gateway.test_retention import pass_time
from tests.support.split_feeds import events

ANN = "aa" * 16


async def test_who_comes_second_when_the_request_is_long_forgotten_records_nothing(client: Redis) -> None:
    store = GatewayStore(client)
    await store.open()
    await client.set(f"{PREFIX}:e:{ANN}", b"pk")
    rights, request = RightsStore(store), Exercised(b"digest", b'{"last":""}', 300)
    assert await rights.object(ANN, b"request", b"enrolment", request.digest)
    assert await rights.objected(ANN, True, request, b"payload") == "NEW"
    await pass_time(client, 3600)
    assert await rights.carried_out(request.digest) is None
    assert await rights.objected(ANN, True, request, b"payload") == "SAME"
    assert len(await events(client, "OBJECTED")) == 1
    again = Exercised(b"another", b'{"last":""}', 300)
    assert await rights.object(ANN, b"request", b"enrolment", again.digest)
    assert await rights.objected(ANN, True, again, b"payload") == "NEW"
    assert len(await events(client, "OBJECTED")) == 2
