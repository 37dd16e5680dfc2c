"""What a client tries again, and what it does not."""

import grpc
import pytest

from proxid.errors import Code, RefusedError, UpstreamError
from proxid.runtime.transport import retry
from proxid.runtime.transport.retry import Attempts, call
from proxid.runtime.transport.status import CODE_KEY

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


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (failure(S.UNAVAILABLE, details="…: Connection refused"), "nobody listens there; see that it is started"),
        (failure(S.UNAVAILABLE, details="CERTIFICATE_VERIFY_FAILED"), "not accepted here; .*public.toml"),
        (failure(S.UNAVAILABLE, details="errors resolving x:1: Domain name not found"), "no known host; correct"),
        (failure(S.UNAVAILABLE, details="UNAVAILABLE: ipv4: Socket closed"), "when it sees this certificate"),
        (failure(S.DEADLINE_EXCEEDED), "gives no answer in time; see to the network"),
        (failure(S.UNAVAILABLE), "cannot be reached; see that it is started"),
        (failure(S.UNAVAILABLE, Code.UPSTREAM_UNREACHABLE), "answers, but cannot reach the service behind it"),
        (failure(S.UNAVAILABLE, Code.STORE_UNAVAILABLE), "its store is away"),
        (UpstreamError("ended the stream; try again"), "ended the stream; try again"),
    ],
)
async def test_what_could_not_be_reached_says_who_where_why_and_what_to_try(error: Exception, said: str) -> None:
    attempts = Attempts(1, "the gateway at home.example:7443")
    with pytest.raises(UpstreamError, match=f"^the gateway at home.example:7443: .*{said}"):
        await call(Peer(error), attempts)


@pytest.mark.parametrize("code", [Code.PEER_REFUSED, Code.NOT_FRESH, Code.CREDENTIAL_INVALID])
async def test_a_refusal_names_who_refused(code: Code) -> None:
    with pytest.raises(RefusedError, match=rf"^refused by the gateway at a:1 \({code.value}\)"):
        await call(Peer(failure(S.PERMISSION_DENIED, code)), Attempts(1, "the gateway at a:1"))
