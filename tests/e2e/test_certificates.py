"""Who may call whom: certificates of another CA, another role, or taken off the allow-list are refused (DESIGN 16)."""

import datetime
from collections.abc import Awaitable, Iterator
from pathlib import Path

import grpc
import pytest

from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.errors import Code
from proxid.runtime.config import Trust, load
from proxid.runtime.config.loading import load_section
from proxid.runtime.process.child import Child
from proxid.runtime.provision import TrialOptions, init_trial
from proxid.runtime.provision.public import write_trust
from proxid.runtime.transport.channel import TlsFiles, open_channel
from proxid.runtime.transport.methods import MAX_BATCH
from proxid.runtime.transport.retry import Attempts, call
from proxid.runtime.transport.status import code_of
from proxid.wire.v1 import gateway_pb2, main_service_pb2
from proxid.wire.v1.gateway_pb2_grpc import FeedStub, GatewayStub
from proxid.wire.v1.main_service_pb2_grpc import MainServiceStub

TIMEOUT = 20


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoTrial]:
    found = DemoTrial(tmp_path_factory.mktemp("trial"), DemoOptions(people=20, form="pairs"))
    found.provision()
    # One household's certificate was revoked: it is not on the gateway's list any more.
    path = found.folder / "gateway/trust.toml"
    trust = load_section(Trust, path)
    peers = tuple(peer for peer in trust.peers if peer.name != "household-2")
    write_trust(path, trust.model_copy(update={"peers": peers}))
    found.start()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def other_trial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("other")
    init_trial(folder, TrialOptions(), datetime.datetime.now(datetime.UTC))
    return folder


def files(folder: Path) -> TlsFiles:
    return TlsFiles(folder / "tls.key", folder / "tls.crt", folder / "ca.crt")


def gateway(trial: DemoTrial) -> str:
    return load(GatewayConfig, trial.folder / "gateway/gateway.toml").listen


def main_service(trial: DemoTrial) -> str:
    return load(MainServiceConfig, trial.folder / "main-service/main-service.toml").listen


async def parameters(address: str, tls: TlsFiles, name: str = "gateway") -> int:
    async with open_channel(address, tls, name) as channel:
        reply = await GatewayStub(channel).GetParameters(gateway_pb2.ParametersRequest(), timeout=TIMEOUT)
        return int(reply.epoch)


async def refused(attempt: Awaitable[object]) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await attempt
    return caught.value


async def test_household_is_served(trial: DemoTrial) -> None:
    tls = files(trial.folder / "devices/household-1")
    assert await call(lambda: parameters(gateway(trial), tls), Attempts(10)) > 0


@pytest.mark.parametrize("folder", ["devices/household-2", "parties/acme", "auditor", "main-service", "witness"])
async def test_revoked_and_other_roles_are_not_served_as_devices(trial: DemoTrial, folder: str) -> None:
    error = await refused(parameters(gateway(trial), files(trial.folder / folder)))
    assert code_of(error) is Code.PEER_REFUSED


async def test_another_cas_certificate_is_not_even_connected(trial: DemoTrial, other_trial: Path) -> None:
    theirs, ours = other_trial / "devices/household-1", trial.folder / "devices/household-1"
    # Theirs, trusting our CA, so that it is the server who refuses.
    error = await refused(parameters(gateway(trial), TlsFiles(theirs / "tls.key", theirs / "tls.crt", ours / "ca.crt")))
    assert error.code() is grpc.StatusCode.UNAVAILABLE


async def test_device_refuses_a_server_that_is_not_the_gateway(trial: DemoTrial) -> None:
    """MS's certificate is of the same CA, and must not pass for the gateway's."""
    error = await refused(parameters(main_service(trial), files(trial.folder / "devices/household-1")))
    assert error.code() is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize("folder", ["devices/household-1", "parties/acme", "auditor"])
async def test_main_service_answers_the_screener_alone(trial: DemoTrial, folder: str) -> None:
    async with open_channel(main_service(trial), files(trial.folder / folder), "main-service") as channel:
        stub = MainServiceStub(channel)
        for attempt in (
            stub.GetEpoch(main_service_pb2.EpochRequest(epoch=1), timeout=TIMEOUT),
            stub.Ask(main_service_pb2.ForwardRequest(), timeout=TIMEOUT),
            stub.Forward(timeout=TIMEOUT).read(),
            stub.Consent(main_service_pb2.ForwardRequest(), timeout=TIMEOUT),
        ):
            assert code_of(await refused(attempt)) is Code.PEER_REFUSED


async def test_main_service_answers_each_of_a_batch_and_limits_it(trial: DemoTrial) -> None:
    """What is wrong with one request is said of that one; too many are refused together."""
    async with open_channel(main_service(trial), files(trial.folder / "gateway"), "main-service") as channel:
        stream = MainServiceStub(channel).Forward(timeout=TIMEOUT)
        broken = [main_service_pb2.ForwardRequest(number=n) for n in range(3)]
        await stream.write(main_service_pb2.ForwardBatch(requests=broken))
        found: dict[int, str] = {}
        while len(found) < len(broken):
            found |= {one.number: one.refused for one in (await stream.read()).outcomes}
        assert found == dict.fromkeys(range(3), "encoding_invalid")
        await stream.write(main_service_pb2.ForwardBatch(requests=broken * MAX_BATCH))
        assert code_of(await refused(stream.read())) is Code.OVERSIZED


async def test_feed_is_its_partys(trial: DemoTrial) -> None:
    """A device gets no feed; a party cannot ask for another's, since the certificate says whose it is."""
    async with open_channel(gateway(trial), files(trial.folder / "devices/household-1"), "gateway") as channel:
        stream = FeedStub(channel).Subscribe(gateway_pb2.SubscribeRequest(), timeout=TIMEOUT)
        assert code_of(await refused(stream.read())) is Code.PEER_REFUSED


def test_service_without_its_screener_key_does_not_start(trial: DemoTrial, tmp_path: Path) -> None:
    (tmp_path / "main-service.toml").write_text("name = 'main-service'\n")
    child = Child("broken", ["serve", "main-service", "--config", str(tmp_path / "main-service.toml")], tmp_path)
    child.start()
    assert child.finish(TIMEOUT) == 2
    assert "trust.screener" in child.errors.read_text()
