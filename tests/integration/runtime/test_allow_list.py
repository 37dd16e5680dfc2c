"""A certificate taken off the allow-list is refused by the running service, in running calls too (DESIGN 16)."""

import asyncio
import datetime
import json
import os
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from auditor.commands.witness import _logs as logs_of_witness
from auditor.config import AuditorConfig, WitnessConfig
from auditor.setup import logs_of
from gateway.config import GatewayConfig
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.gateway import GatewayClient
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.subscriber import open_subscriber
from proxid.errors import Code, ConfigError, EvidenceUnreadableError, RefusedError
from proxid.runtime.config import Trust, load
from proxid.runtime.config.loading import load_section
from proxid.runtime.observability.logging import configure_logging
from proxid.runtime.provision.certificate import new_tls_key, request
from proxid.runtime.provision.party import sign_request
from proxid.runtime.provision.public import write_trust
from proxid.runtime.transport.allow_list import AllowListWatch
from proxid.runtime.transport.channel import TlsFiles, new_server, open_channel
from proxid.runtime.transport.peers import PeerRegistry
from proxid.runtime.transport.status import code_of
from proxid.wire.v1 import gateway_pb2
from proxid.wire.v1.gateway_pb2_grpc import GatewayStub
from tests.support.logs import logging_restored
from tests.support.trial import Trial, provision, running


@pytest.fixture
async def trial(tmp_path: Path) -> AsyncIterator[Trial]:
    async with running(tmp_path) as found:
        yield found


def admit(folder: Path, keep: Callable[[str, str], bool]) -> None:
    """Leave those peers on the gateway's list whose role and name `keep` holds."""
    path = folder / "gateway/trust.toml"
    trust = load_section(Trust, path)
    write_trust(path, trust.model_copy(update={"peers": tuple(p for p in trust.peers if keep(p.role, p.name))}))


async def code(trial: Trial) -> Code | None:
    """What a household's call ends with; None if it is answered."""
    folder = trial.folder / "devices/household-1"
    tls = TlsFiles(folder / "tls.key", folder / "tls.crt", folder / "ca.crt")
    async with open_channel(trial.config("gateway").listen, tls, "gateway") as channel:
        try:
            await GatewayStub(channel).GetParameters(gateway_pb2.ParametersRequest(), timeout=20)
        except grpc.aio.AioRpcError as error:
            return code_of(error)
    return None


async def until(trial: Trial, wanted: Code | None) -> None:
    async with asyncio.timeout(20):
        while await code(trial) is not wanted:  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.05)


async def test_revoked_household_is_refused_and_admitted_again(trial: Trial) -> None:
    whole = (trial.folder / "gateway/trust.toml").read_text()
    await until(trial, None)
    admit(trial.folder, lambda role, _: role != "device")
    await until(trial, Code.PEER_REFUSED)
    (trial.folder / "gateway/trust.toml").write_text(whole)
    await until(trial, None)


async def test_running_stream_of_a_revoked_party_ends_however_idle(trial: Trial) -> None:
    await trial.consent()
    config = load(PartyConfig, trial.folder / "parties/acme/party.toml")
    async with open_subscriber(config) as subscriber:
        groups = subscriber.groups(True)
        first = asyncio.ensure_future(anext(groups))
        await trial.ask("node question")
        assert (await asyncio.wait_for(first, 20)).records
        rest = asyncio.ensure_future(_all(groups))  # nothing more will be released
        admit(trial.folder, lambda role, name: (role, name) != ("party", "acme"))
        with pytest.raises(RefusedError) as caught:
            await asyncio.wait_for(rest, 20)
        assert caught.value.remote is Code.PEER_REFUSED


async def _all(groups: AsyncIterator[object]) -> list[object]:
    return [group async for group in groups]


async def test_damaged_list_keeps_the_old_one_and_is_logged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    provision(tmp_path)
    path = tmp_path / "gateway/gateway.toml"
    trust = tmp_path / "gateway/trust.toml"
    registry = PeerRegistry(load(GatewayConfig, path).trust.allow_list())
    watch, changes = AllowListWatch(path, GatewayConfig, registry), list[int]()
    with logging_restored(), registry.watching(lambda: changes.append(1)):
        configure_logging("gateway", "info")
        for text, expected, lines in (
            (trust.read_text(), 0, 0),
            ("[[peers]]\nfingerprint = 'zebulon'\n", 0, 1),
            ("", 0, 2),  # no keys at all: half written, or a slip
            (trust.read_text().replace('name = "globex"', 'name = "other"'), 1, 3),
        ):
            trust.write_text(text)
            await watch.look()
            assert not changes or expected == 1  # not before it was seen twice
            await watch.look()
            await watch.look()
            assert len(changes) == expected
            err = capsys.readouterr().err
            assert ("allow-list kept" in err) == (0 < lines < 3)
            assert ("allow-list changed" in err) == (lines == 3)
            assert "zebulon" not in err


async def test_calls_hear_of_a_change_in_the_thread_that_serves_them(tmp_path: Path) -> None:
    """A task that is cancelled by another thread breaks the loop that it runs in, now and then."""
    provision(tmp_path)
    path, heard = tmp_path / "gateway/gateway.toml", list[int]()
    registry = PeerRegistry(load(GatewayConfig, path).trust.allow_list())
    watch = AllowListWatch(path, GatewayConfig, registry)
    admit(tmp_path, lambda role, _: role != "device")
    with registry.watching(lambda: heard.append(threading.get_ident())):
        for _ in range(3):
            await watch.look()
    assert heard == [threading.get_ident()]


async def test_no_slip_in_a_watched_file_ends_the_watch_or_changes_the_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    provision(tmp_path)
    path, trust = tmp_path / "gateway/gateway.toml", tmp_path / "gateway/trust.toml"
    registry = PeerRegistry(load(GatewayConfig, path).trust.allow_list())
    watch, changes = AllowListWatch(path, GatewayConfig, registry), list[int]()
    whole = {file: file.read_bytes() for file in (path, trust)}
    with logging_restored(), registry.watching(lambda: changes.append(1)):
        configure_logging("gateway", "info")
        for file, good in whole.items():
            for slip in slips(good):
                slip(file)
                for _ in range(3):
                    await watch.look()
                lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
                assert [(line["event"], line["level"]) for line in lines] == [("allow-list kept", "error")]
                assert changes == []
                remove(file)
                file.write_bytes(good)
                for _ in range(3):
                    await watch.look()
                assert changes == [] and "kept" not in capsys.readouterr().err
        admit(tmp_path, lambda role, _: role != "device")
        for _ in range(3):
            await watch.look()
        assert changes == [1]


def slips(good: bytes) -> list[Callable[[Path], object]]:
    """Ways to damage a file, each on the whole one."""
    wrong = [
        b"x = " + b"[" * 20_000, b"x = " + b"{a=" * 20_000, b"x = " + b"9" * 5_000 + b"\n" + good, good + b"# \xff\n",
        b"", good + b"\0", good + b"\n[[[", b"_env_file = 1\n" + good, b"x = 2026-13-45\n" + good,
        good[: len(good) // 2], b'data_dir = "~nobody-here/x"\n' + good, b"[[peers]]\nfingerprint = 9\n",
    ]  # fmt: skip
    made: list[Callable[[Path], object]] = [lambda file, data=data: file.write_bytes(data) for data in wrong]  # type: ignore[misc]
    for make in (Path.mkdir, os.mkfifo, lambda file: file.symlink_to("/dev/zero"), lambda file: file.symlink_to(file)):
        made.append(lambda file, make=make: (file.unlink(), make(file)))  # type: ignore[misc]
    return [*made, Path.unlink]


def remove(file: Path) -> None:
    if file.is_dir():
        file.rmdir()
    else:
        file.unlink(missing_ok=True)


async def test_a_server_that_is_not_listed_is_told_nothing_whatever_the_ca_signed(tmp_path: Path) -> None:
    """Another certificate of the same CA, role and name: a device, a party and the gateway do not connect to it."""
    provision(tmp_path)
    now = datetime.datetime.now(datetime.UTC)
    for role in ("gateway", "main-service"):
        key = new_tls_key()
        (tmp_path / f"{role}.key").write_bytes(key)
        (tmp_path / f"{role}.crt").write_bytes(sign_request(tmp_path / "ca", request(key, role, "evil"), now))
    device = load(DeviceConfig, tmp_path / "devices/household-1/device.toml")
    gateway = load(GatewayConfig, tmp_path / "gateway/gateway.toml")
    for config, role, address in ((device, "gateway", device.gateway), (gateway, "main-service", gateway.main_service)):
        asked: list[str] = []
        own, ca = tmp_path / role, tmp_path / "ca/ca.crt"
        tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
        accepted = config.trust.certificates(role)
        for files, heard in (
            (TlsFiles(tmp_path / f"{role}.key", tmp_path / f"{role}.crt", ca), []),
            (TlsFiles(own / "tls.key", own / "tls.crt", ca), ["asked"]),
        ):
            server, _ = new_server(files, address)
            server.add_generic_rpc_handlers((Listening(asked),))
            await server.start()
            async with open_channel(address, tls, role, accepted) as channel:
                with pytest.raises(grpc.aio.AioRpcError):
                    await channel.unary_unary("/proxid.wire.v1.Gateway/Link")(b"", timeout=5)
            await server.stop(0)
            assert asked == heard
    with pytest.raises(ConfigError, match=r"trust\.servers"):
        GatewayClient.open(device.model_copy(update={"trust": device.trust.model_copy(update={"servers": ()})}))


async def refusal(log: Any) -> str:
    """Why a log's heads cannot be read."""
    with pytest.raises(EvidenceUnreadableError) as caught:
        await asyncio.to_thread(log.heads)
    return caught.value.rule


@pytest.mark.slow  # waits for four refusals
async def test_auditor_and_witness_read_no_log_of_a_server_that_is_not_listed(tmp_path: Path) -> None:
    """The same for whoever reads evidence: another certificate of the CA is no service's, and is said to be none."""
    provision(tmp_path)
    now = datetime.datetime.now(datetime.UTC)
    auditor = load(AuditorConfig, tmp_path / "auditor/auditor.toml")
    witness = load(WitnessConfig, tmp_path / "witness/witness.toml")
    ca = tmp_path / "ca/ca.crt"
    for at, role in enumerate(("gateway", "main-service")):
        key = new_tls_key()
        (tmp_path / "evil.key").write_bytes(key)
        (tmp_path / "evil.crt").write_bytes(sign_request(tmp_path / "ca", request(key, role, "evil"), now))
        address = (auditor.gateway, auditor.main_service)[at]
        for files, asked_for in (
            (TlsFiles(tmp_path / "evil.key", tmp_path / "evil.crt", ca), False),
            (TlsFiles(tmp_path / role / "tls.key", tmp_path / role / "tls.crt", ca), True),
        ):
            asked: list[str] = []
            server, _ = new_server(files, address)
            server.add_generic_rpc_handlers((Listening(asked),))
            await server.start()
            logs = (logs_of(auditor)[at], logs_of_witness(witness)[role][1])
            for log, told in zip(logs, await asyncio.gather(*map(refusal, logs)), strict=True):
                assert ("a certificate that is not accepted here" in told) is not asked_for
                log.close()
            await server.stop(0)
            assert bool(asked) is asked_for
    for config in (auditor, witness):
        bare = config.model_copy(update={"trust": config.trust.model_copy(update={"servers": ()})})
        with pytest.raises(ConfigError, match=r"trust\.servers"):
            logs_of(bare) if isinstance(bare, AuditorConfig) else logs_of_witness(bare)


class Listening(grpc.GenericRpcHandler):
    """Notes that a call has come."""

    def __init__(self, asked: list[str]) -> None:
        self._asked = asked

    def service(self, _: grpc.HandlerCallDetails) -> None:
        self._asked.append("asked")
