"""Each service keeps the other's newest signed head: whoever was put back, or lost everything, is told."""

import asyncio
import shutil
from pathlib import Path

import pytest

from auditor.findings import Verdict
from auditor.reading.remote import RemoteLog
from auditor.witness import Witness
from proxid.cli.main import main
from proxid.errors import LogDamagedError
from proxid.evidence.checkpoint import WITNESS, origin
from proxid.evidence.note import Verifier
from proxid.runtime.provision.keyfile import load_signing_key
from proxid.runtime.store import connect
from proxid.runtime.transport.channel import TlsFiles
from proxid.runtime.transport.heads import PEER_SECONDS
from tests.support.trial import Trial, run_command, running

ROLES = ["gateway", "main-service"]
EITHER = [ROLES[0], pytest.param(ROLES[1], marks=pytest.mark.slow)]
BACK = r"has \d+ entries, and a signed head of .* that the other .* holds has \d+: .*--head \S+own.head"


async def emptied(trial: Trial, role: str) -> None:
    """Everything that a service knows is gone: its store and its log."""
    store = connect(trial.url(role))
    await store.flushall()
    await store.aclose()
    shutil.rmtree(trial.folder / role / "data/evidence")


async def ended(trial: Trial, role: str) -> BaseException | None:
    """What a service that ends by itself ended with."""
    (failed,) = await asyncio.gather(trial._tasks.pop(role), return_exceptions=True)
    return failed


def cosigned_and_shown(trial: Trial, role: str) -> None:
    """What `proxid witness` does."""
    config = trial.config("auditor")
    signer = config.trust.screener if role == "gateway" else config.trust.service
    key = load_signing_key(trial.folder / "witness/signing.key")
    files = trial.folder / "witness"
    tls = TlsFiles(files / "tls.key", files / "tls.crt", files / "ca.crt")
    log = RemoteLog(
        config.gateway if role == "gateway" else config.main_service, tls, role, config.trust.certificates(role)
    )
    witness = Witness(trial.folder / "heads", WITNESS, key, Verifier(origin("main-service", role), signer))
    witness.cosign(log, 1)
    log.show(witness.memory())
    log.close()


async def known(trial: Trial, role: str) -> bytes:
    """What the other one holds of a log, once it holds the newest."""
    other = trial.folder / ROLES[1 - ROLES.index(role)] / "data/heads/other.head"
    return other.read_bytes()


async def lose(trial: Trial) -> None:
    """The line breaks and is made anew: heads are shown."""
    await trial.halt("main-service")
    await trial.serve("main-service")
    await trial.ask("node7 question")
    await trial.settle()


async def test_a_gateway_that_lost_everything_is_told_before_it_serves(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await lose(trial)
        await trial.halt("gateway")
        assert b"proxid/main-service/gateway\n" in await known(trial, "gateway")
        await emptied(trial, "gateway")
        with pytest.raises(LogDamagedError, match=BACK):
            await trial.serve("gateway")
        # It remembers: also when the other one is away.
        await trial.halt("main-service")
        with pytest.raises(LogDamagedError, match=BACK):
            await trial.serve("gateway")
        await trial.serve("main-service")
        mend = ("mend", "successor", "--config", str(tmp_path / "gateway/gateway.toml"))
        assert await run_command(*mend) == 2
        assert await run_command(*mend, "--head", str(tmp_path / "gateway/data/heads/own.head")) == 0
        await trial.serve("gateway")
        report = await trial.audit()
        assert (report.verdict, report.violations) == (Verdict.UNCHECKED, [])


async def test_a_main_service_that_lost_everything_answers_nobody_and_ends(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await lose(trial)
        await trial.halt("main-service")
        await emptied(trial, "main-service")
        asked = asyncio.create_task(trial.ask("node8 question"))
        await trial.serve("main-service")
        failed = await ended(trial, "main-service")
        assert isinstance(failed, LogDamagedError) and "own.head" in failed.rule
        store = connect(trial.url("main-service"))
        assert await store.get("{ms}:events:n") is None  # nothing was taken meanwhile
        await store.aclose()
        with pytest.raises(LogDamagedError, match=BACK):
            await trial.serve("main-service")
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)


@pytest.mark.parametrize("role", EITHER)
async def test_a_whole_copy_that_is_too_old_is_refused(tmp_path: Path, role: str) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await trial.halt(role)
        data, copy = tmp_path / role / "data/evidence", tmp_path / "copy"
        shutil.copytree(data, copy)
        store = connect(trial.url(role))
        rows = {key: await store.dump(key) for key in await store.keys("*")}
        await trial.serve(role)
        await trial.ask("node7 question")
        await trial.settle()
        await asyncio.to_thread(cosigned_and_shown, trial, role)
        await trial.halt(role)
        await store.flushall()
        for key, value in rows.items():
            if value is not None:
                await store.restore(key, 0, value)
        await store.aclose()
        shutil.rmtree(data)
        shutil.copytree(copy, data)
        # The witness has shown the head to both.
        with pytest.raises(LogDamagedError, match=BACK):
            await trial.serve(role)


@pytest.mark.parametrize("role", EITHER)
async def test_a_successor_does_not_make_the_other_one_forget_what_it_hides(tmp_path: Path, role: str) -> None:
    other, data = ROLES[1 - ROLES.index(role)], tmp_path / role / "data"
    async with running(tmp_path) as trial:
        await trial.busy(1)
        old = (data / "evidence/checkpoint").read_bytes()
        await trial.ask("node7 question")
        await trial.settle()
        await trial.audit()  # waits until all of that is in the log
        await lose(trial)
        longest = await known(trial, role)
        await trial.halt(role)
        await trial.halt(other)
        (data / "evidence/checkpoint").write_bytes(old)
        (data / "heads/own.head").unlink()
        assert await run_command("mend", "successor", "--config", str(tmp_path / role / f"{role}.toml")) == 0
        # The other one is away, so that the successor is begun and served before it is told.
        await trial.serve(role)
        await trial.serve(other)
        async with asyncio.timeout(30):
            failed = await ended(trial, role)
        assert isinstance(failed, LogDamagedError) and "this log follows" in failed.rule
        kept = [path.read_bytes() for path in (tmp_path / other / "data/heads").glob("other*.head")]
        assert longest in kept  # for whoever audits


async def test_a_peer_that_is_away_delays_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await trial.halt("gateway")
        await trial.halt("main-service")
        loop = asyncio.get_running_loop()
        begun = loop.time()
        await trial.serve("gateway")
        assert PEER_SECONDS - 0.5 < loop.time() - begun < PEER_SECONDS + 5
        await trial.serve("main-service")
        await trial.ask("node9 question")
        assert (await trial.audit()).verdict is Verdict.CLEAN


async def test_what_nobody_signed_is_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        heads = tmp_path / "gateway/data/heads"
        before = {path.name: path.read_bytes() for path in heads.iterdir()}
        from auditor.setup import logs_of
        from proxid.errors import EvidenceUnreadableError

        log, _ = logs_of(trial.config("auditor"))
        with pytest.raises(EvidenceUnreadableError):  # an auditor has nothing to show here
            await asyncio.to_thread(log.show, [b"proxid/main-service/gateway\n9\nAAAA\n\n"])
        log.close()
        assert {path.name: path.read_bytes() for path in heads.iterdir()} == before
        assert main(["mend", "successor", "--config", str(tmp_path / "gateway/gateway.toml")]) == 2  # it is running
