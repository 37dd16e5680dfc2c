"""`proxid witness`: cosign the heads of both logs, so that no service can show two histories (DESIGN 10.4 (1))."""

import json
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import click

from auditor.config import WitnessConfig
from auditor.findings import GATEWAY, MAIN_SERVICE
from auditor.reading.remote import RemoteLog
from auditor.serving.peers import exchange_heads
from auditor.witness import Witness, WitnessedLog
from proxid.errors import ConfigError, EvidenceUnreadableError, HistoryForkedError, NoteInvalidError, UpstreamError
from proxid.evidence.checkpoint import WITNESS, origin
from proxid.evidence.note import Verifier
from proxid.runtime.config.loading import load
from proxid.runtime.process.ended import ending_signals
from proxid.runtime.provision.keyfile import load_signing_key
from proxid.runtime.transport.channel import TlsFiles


@click.command("witness", epilog="Example: proxid witness --config trial/witness/witness.toml --every 30")
@click.option(
    "--config", "path", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The witness's TOML.",
)  # fmt: skip
@click.option("--every", default=30.0, show_default=True, type=click.FloatRange(1), help="Seconds between heads.")
@click.option("--once", is_flag=True, help="Cosign both heads once and end.")
@click.option("--json", "as_json", is_flag=True, help="Print an object a head.")
def command(path: Path, every: float, once: bool, as_json: bool) -> int:
    """Watch both services' logs and cosign each new head that continues what was cosigned before.

    Exit status 1 if a log shows another history: then nothing of it is signed any more. A service that is away, or
    shows a head that it did not sign, is asked again; with --once exit status 2.
    """
    config = load(WitnessConfig, path)
    logs = _logs(config)
    stop = threading.Event()
    for number in ending_signals():
        signal.signal(number, lambda *_: stop.set())
    forked: set[str] = set()
    waiting: set[str] = set()
    try:
        while not stop.is_set():
            waiting.clear()
            for name in [name for name in logs if name not in forked]:
                # What is wrong with one log is no reason to leave the other without a witness.
                match _cosign(name, *logs[name], as_json):
                    case "forked":
                        forked.add(name)
                    case "waiting":
                        waiting.add(name)
            _show(logs, config)
            if once or len(forked) == len(logs):
                break
            stop.wait(every)
    finally:
        for _, log in logs.values():
            log.close()
    if forked:
        return 1
    return 2 if once and waiting else 0


def _logs(config: WitnessConfig) -> dict[str, tuple[Witness, RemoteLog]]:
    trust = config.trust
    if trust.screener is None or trust.service is None:
        raise ConfigError("trust.screener and trust.service are needed")
    tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
    key, folder = load_signing_key(config.signing_key), config.data_dir / "heads"
    logs = {}
    for name, signer, address, host, accepted in (
        (GATEWAY, trust.screener, config.gateway, config.gateway_name, trust.certificates("gateway")),
        (MAIN_SERVICE, trust.service, config.main_service, config.main_service_name,
         trust.certificates("main-service")),
    ):  # fmt: skip
        verifier = Verifier(origin(config.service, name), signer)
        logs[name] = (Witness(folder, WITNESS, key, verifier), RemoteLog(address, tls, host, accepted, fresh=False))
    return logs


def _show(logs: dict[str, tuple[Witness, RemoteLog]], config: WitnessConfig) -> None:
    """Show each service what was cosigned of both logs: one whose log was put back hears of it, whoever is away.

    Auditors are shown it too: who of them was shown another history finds it at the next audit.
    """
    heads = [note for witness, _ in logs.values() for note in witness.memory()]
    for _, log in logs.values():
        with suppress(EvidenceUnreadableError):
            log.show(heads)
    tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
    for address in config.auditors:
        with suppress(UpstreamError):
            exchange_heads(address, tls, config.trust.certificates("auditor"), heads)


def _cosign(name: str, witness: Witness, log: WitnessedLog, as_json: bool) -> str:
    """Cosign one head; `forked`, `waiting`, or `cosigned`."""
    try:
        head = witness.cosign(log, int(time.time()))
    except HistoryForkedError as error:
        _print({"log": name, "forked": error.rule}, as_json)
        return "forked"
    except (EvidenceUnreadableError, NoteInvalidError) as error:
        _print({"log": name, "waiting": error.rule}, as_json)
        return "waiting"
    _print({"log": name, "size": head.size, "root": head.root.hex()}, as_json)
    return "cosigned"


def _print(said: dict[str, object], as_json: bool) -> None:
    click.echo(json.dumps(said) if as_json else "  ".join(f"{key} {value}" for key, value in said.items()))
