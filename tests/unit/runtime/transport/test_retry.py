"""What a client tries again, and what it does not."""

import re
import time

import grpc
import pytest

from proxid.errors import Code, OverloadedError, RefusedError, UpstreamError
from proxid.runtime.transport import retry
from proxid.runtime.transport.retry import Attempts, RetryBudget, call
from proxid.runtime.transport.status import CODE_KEY, PUSHBACK_KEY

S = grpc.StatusCode


def failure(status: grpc.StatusCode, code: Code | None = None, details: str = "") -> grpc.aio.AioRpcError:
    trailing = grpc.aio.Metadata(*([(CODE_KEY, code.value)] if code else []))
    return grpc.aio.AioRpcError(status, grpc.aio.Metadata(), trailing, details)


class Peer:
    """Fails as told, then answers."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)

    async def __call__(self) -> str:
        if self.failures:
            raise self.failures.pop(0)
        return "ok"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_DELAY", 0.001)


@pytest.mark.parametrize(
    "error",
    [
        failure(S.UNAVAILABLE),
        failure(S.DEADLINE_EXCEEDED),
        failure(S.UNKNOWN),
        failure(S.INTERNAL),
        failure(S.UNAVAILABLE, Code.UPSTREAM_UNREACHABLE),
        failure(S.UNAVAILABLE, Code.STORE_UNAVAILABLE),
        failure(S.INTERNAL, Code.INTERNAL),
    ],
)
async def test_failure_on_the_way_is_tried_again(error: grpc.aio.AioRpcError) -> None:
    attempts = Attempts(5)
    assert await call(Peer(error, error), attempts) == "ok"
    assert (attempts.made, attempts.retries) == (3, 2)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (failure(S.RESOURCE_EXHAUSTED, Code.RATE_LIMITED), Code.RATE_LIMITED),
        (failure(S.INTERNAL, Code.SIGNATURE_INVALID), Code.SIGNATURE_INVALID),
        (failure(S.PERMISSION_DENIED), Code.PEER_REFUSED),
        (failure(S.RESOURCE_EXHAUSTED), Code.OVERSIZED),
    ],
)
async def test_refusal_is_not(error: grpc.aio.AioRpcError, code: Code) -> None:
    attempts = Attempts(5)
    with pytest.raises(RefusedError) as caught:
        await call(Peer(error), attempts)
    assert (caught.value.remote, attempts.made) == (code, 1)


async def test_attempts_are_bounded() -> None:
    attempts = Attempts(3)
    with pytest.raises(UpstreamError):
        await call(Peer(*[failure(S.UNAVAILABLE)] * 9), attempts)
    assert attempts.made == 3


async def test_a_call_is_not_repeated_past_its_callers_time() -> None:
    attempts = Attempts(50, until=0.0)
    with pytest.raises(UpstreamError):
        await call(Peer(failure(S.UNAVAILABLE)), attempts)
    assert attempts.made == 1


def overloaded(milliseconds: str) -> grpc.aio.AioRpcError:
    trailing = grpc.aio.Metadata((CODE_KEY, Code.OVERLOADED.value), (PUSHBACK_KEY, milliseconds))
    return grpc.aio.AioRpcError(S.UNAVAILABLE, grpc.aio.Metadata(), trailing)


@pytest.mark.parametrize("error", [overloaded("1"), OverloadedError("as if", 0.001)])
async def test_an_overloaded_service_is_asked_twice_more_at_most(error: Exception) -> None:
    attempts = Attempts(50)
    assert await call(Peer(error, error), attempts) == "ok" and attempts.made == 3
    attempts = Attempts(50)
    with pytest.raises(RefusedError) as caught:
        await call(Peer(*[error] * 9), attempts)
    assert caught.value.remote is Code.OVERLOADED and "ask again later" in caught.value.next and attempts.made == 3


@pytest.mark.parametrize("said", ["", "-5", "x", "600000"])
async def test_a_pushback_longer_than_the_callers_time_is_a_refusal_at_once(said: str) -> None:
    attempts = Attempts(50, until=time.monotonic() + 1)
    with pytest.raises(RefusedError):
        await call(Peer(overloaded(said)), attempts)
    assert attempts.made == 1


def test_retries_of_all_callers_keep_a_distance_and_answers_allow_more() -> None:
    budget = RetryBudget(rate=2.0, most=3.0)
    assert [budget.take(100.0, 103.0) for _ in range(6)] == [0, 0, 0, 0.5, 1.0, 1.5]
    assert budget.take(100.0, 101.0) is None, "it would come too late"
    assert budget.take(103.0, 104.0) == 0
    for _ in range(10):
        budget.answered()
    assert [budget.take(103.0, 103.0) for _ in range(4)] == [0, 0, 0, None]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (failure(S.UNAVAILABLE, details="…: Connection refused"), "nobody listens there|see that it is started"),
        (failure(S.UNAVAILABLE, details="CERTIFICATE_VERIFY_FAILED"), "not accepted here|.*public.toml"),
        (failure(S.UNAVAILABLE, details="errors resolving x:1: Domain name not found"), "no known host|correct"),
        (
            failure(S.UNAVAILABLE, details="UNAVAILABLE: ipv4: Socket closed"),
            "when it sees this certificate|proxid doctor",
        ),
        (failure(S.DEADLINE_EXCEEDED), "gives no answer in time|see to the network"),
        (failure(S.UNAVAILABLE), "cannot be reached|see that it is started"),
        (
            failure(S.UNAVAILABLE, Code.UPSTREAM_UNREACHABLE),
            "answers, but cannot reach the service behind it|try again later",
        ),
        (failure(S.UNAVAILABLE, Code.STORE_UNAVAILABLE), "its store is away|try again later"),
        (UpstreamError("ended the stream; try again"), "ended the stream; try again|"),
    ],
)
async def test_what_could_not_be_reached_says_who_where_why_and_what_to_try(error: Exception, said: str) -> None:
    attempts = Attempts(1, "the gateway at home.example:7443")
    why, _, step = said.partition("|")
    with pytest.raises(UpstreamError, match=f"^the gateway at home.example:7443: .*{why}") as found:
        await call(Peer(error), attempts)
    assert found.value.where == "the gateway at home.example:7443" and re.search(step, found.value.next)


@pytest.mark.parametrize("code", [Code.PEER_REFUSED, Code.NOT_FRESH, Code.CREDENTIAL_INVALID])
async def test_a_refusal_names_who_refused(code: Code) -> None:
    with pytest.raises(RefusedError, match=rf"^refused by the gateway at a:1 \({code.value}\)"):
        await call(Peer(failure(S.PERMISSION_DENIED, code)), Attempts(1, "the gateway at a:1"))
