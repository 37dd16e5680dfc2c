"""What can be seen of a party from outside its process: files, certificates, ports, store, disk, its own numbers.

Each look gives one finding with its next step. Nothing is changed, and nothing of anybody's data is read.
"""

import datetime
import http.client
import shutil
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from cryptography import x509
from redis.exceptions import RedisError

from proxid.errors import ProxidError
from proxid.evidence.checkpoint import WITNESS, verify_cosignature, witness
from proxid.evidence.note import Note
from proxid.runtime.config.base import PartyBase, ServiceConfig
from proxid.runtime.evidence_log import generations
from proxid.runtime.store.connection import connect, store_errors, verify_server
from proxid.runtime.store.folder import socket_path
from proxid.runtime.transport.channel import TlsFiles

_SOON: Final = datetime.timedelta(days=30)
_LITTLE, _LEAST = 2_000_000_000, 200_000_000
"""Bytes free: below the first it is told, below the second it is a fault."""
_SECONDS: Final = 3.0
_LAG: Final = 3600.0


class State(StrEnum):
    """Of one finding; `wrong` makes the command end with status 1."""

    GOOD = "good"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, what it is like, and what to do about it; `ready`: nothing is served while it is wrong."""

    name: str
    state: State
    text: str
    next: str = ""
    ready: bool = False


def of_files(config: PartyBase) -> Iterator[Finding]:
    """Certificates and keys: usable, of each other, and how long they hold."""
    try:
        TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca).verify_issued()
    except ProxidError as error:
        yield Finding("files", State.WRONG, error.rule, "put the right file there: docs/operations.md", ready=True)
        return
    yield Finding("files", State.GOOD, "keys and certificates fit each other", ready=True)
    for path in (config.tls.certificate, config.tls.ca):
        ends = x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc
        left = ends - datetime.datetime.now(datetime.UTC)
        state = State.WRONG if left.total_seconds() <= 0 else State.NOTE if left < _SOON else State.GOOD
        what = "have a new one signed and import it at the others" if state is not State.GOOD else ""
        yield Finding("certificate", state, f"{path.name} holds until {ends:%Y-%m-%d}", what, ready=True)


def of_disk(folder: Path) -> Finding:
    """Room where a party keeps its state."""
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    state = State.WRONG if free < _LEAST else State.NOTE if free < _LITTLE else State.GOOD
    return Finding(
        "disk", state, f"{free // 1_000_000} MB free at {folder}", "" if state is State.GOOD else "make room"
    )


def of_port(name: str, address: str, fault: str, ready: bool = False) -> Finding:
    """Whether anybody answers at an address."""
    host, _, port = address.rpartition(":")
    here = {"0.0.0.0": "127.0.0.1", "[::]": "::1"}.get(host, host.strip("[]"))  # noqa: S104
    try:
        socket.create_connection((here, int(port)), _SECONDS).close()
    except OSError:
        return Finding(name, State.WRONG, f"nobody answers at {address}", fault, ready)
    return Finding(name, State.GOOD, f"answers at {address}", ready=ready)


async def of_store(config: ServiceConfig, prefix: str) -> list[Finding]:
    """The service's own store: there, of a version that will do, and keeping its file."""
    url = config.store_url or f"unix://{socket_path((config.data_dir / 'store').absolute())}"
    client = connect(url)
    try:
        await verify_server(client)
        with store_errors():
            kept = await client.info("persistence")
            full = await client.exists(f"{prefix}:events:full")
    except (ProxidError, RedisError) as error:
        text = error.rule if isinstance(error, ProxidError) else type(error).__name__
        what = "start the service or its store; if that fails: docs/operations.md, The store"
        return [Finding("store", State.WRONG, text, what, ready=True)]
    finally:
        await client.aclose()
    good = kept.get("aof_last_write_status") == "ok" and kept.get("aof_last_bgrewrite_status") == "ok"
    text = "keeps its append-only file" if good else "could not write its append-only file"
    found = [Finding("store", State.GOOD if good else State.WRONG, text, "" if good else "make room", ready=True)]
    if full:
        found.append(Finding("evidence", State.WRONG, "the log cannot be written", "make room in data_dir", ready=True))
    return found


_NUMBERS: Final[dict[str, tuple[str, str, str, bool]]] = {
    "proxid_policy_behind": (
        "policy", "an older policy counts, since one side lacks the newest", "proxid policy activate there", False,
    ),
    "proxid_clock_doubted": ("clock", "the clock cannot be relied on", "set it, and have it synchronised", True),
    "proxid_peer_unheard": ("heads", "heads were not compared with the other service", "start that one", False),
    "proxid_damaged_leaves": ("evidence", "entries of the log are damaged", "put them back, or proxid mend", False),
}  # fmt: skip
"""Metric → name of the finding, what it means if it is not 0, the next step, whether serving needs it."""


def of_numbers(address: str | None) -> list[Finding]:
    """What the running service says of itself; nothing without `metrics_listen`."""
    if address is None:
        return []
    try:
        rows = _metrics(address)
    except (OSError, http.client.HTTPException, ValueError):
        return [Finding("numbers", State.NOTE, f"no metrics at {address}", "start the service")]
    found = []
    for metric, (name, text, what, ready) in _NUMBERS.items():
        wrong = any(value for key, value in rows if key.partition("{")[0] == metric)
        found.append(
            Finding(name, State.WRONG if wrong else State.GOOD, text if wrong else "good", what if wrong else "", ready)
        )
    return found


def _metrics(address: str) -> list[tuple[str, float]]:
    host, _, port = address.rpartition(":")
    here = {"0.0.0.0": "127.0.0.1"}.get(host, host.strip("[]"))  # noqa: S104
    connection = http.client.HTTPConnection(here, int(port), timeout=_SECONDS)
    try:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode("utf-8")
    finally:
        connection.close()
    rows = [line.rpartition(" ") for line in text.splitlines() if line.startswith("proxid_")]
    return [(name, float(value)) for name, _, value in rows]


def of_witness(config: ServiceConfig) -> Finding:
    """When the witness cosigned the log last."""
    if config.trust.witness is None:
        return Finding("witness", State.NOTE, "none is known", "let somebody else run proxid witness")
    folder = generations.folder_of(config.data_dir, generations.newest(config.data_dir))
    times = [0.0]
    for path in (folder / generations.COSIGNED).glob("*.note"):
        try:
            times.append(verify_cosignature(Note.decode(path.read_bytes()), witness(WITNESS, config.trust.witness)))
        except (OSError, ProxidError):
            continue
    age = time.time() - max(times)
    if len(times) == 1:
        return Finding("witness", State.NOTE, "has cosigned nothing yet", "see that proxid witness runs")
    late = age > _LAG
    text = f"cosigned {int(age)} s ago"
    return Finding("witness", State.NOTE if late else State.GOOD, text, "see that proxid witness runs" if late else "")
