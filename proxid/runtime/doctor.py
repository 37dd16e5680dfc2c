"""What can be seen of a party from outside its process: files, certificates, ports, store, disk, its own numbers.

Each look gives one finding with its next step. Nothing is changed, and nothing of anybody's data is read.
"""

import datetime
import http.client
import os
import shutil
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
from proxid.regular import regular_bytes
from proxid.runtime.config.base import GovernedConfig, PartyBase, ServiceConfig
from proxid.runtime.config.trust import Tls
from proxid.runtime.evidence_log import generations
from proxid.runtime.folder import socket_path
from proxid.runtime.provision.policies import PolicyFolder
from proxid.runtime.store.connection import connect, store_errors, verify_server
from proxid.runtime.transport.channel import TlsFiles
from proxid.runtime.transport.reach import Reach, probe

_SOON: Final = datetime.timedelta(days=30)
_LITTLE, _LEAST = 2_000_000_000, 200_000_000
"""Bytes free: below the first it is told, below the second it is a fault."""
_SECONDS: Final = 3.0
_CALL_SECONDS: Final = 10.0
"""Four round trips of a slow line, and an answer."""
_HERE: Final = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104
_LAG: Final = 3600.0


class State(StrEnum):
    """Of one finding; `wrong` makes the command end with status 1."""

    GOOD = "good"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, what it is like, and what to do about it; `ready`: nothing is served while it is wrong.

    Attributes:
        outcome: of a call to a service, what became of it.
    """

    name: str
    state: State
    text: str
    next: str = ""
    ready: bool = False
    outcome: Reach | None = None


def of_files(config: PartyBase) -> Iterator[Finding]:
    """Certificates and keys: usable, of each other, and how long they hold."""
    try:
        TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca).verify_issued()
    except ProxidError as error:
        yield Finding("files", State.WRONG, error.rule, "put the right file there: docs/operations.md", ready=True)
        return
    yield Finding("files", State.GOOD, "keys and certificates fit each other", ready=True)
    for path in (config.tls.certificate, config.tls.ca):
        ends = x509.load_pem_x509_certificate(regular_bytes(path)).not_valid_after_utc
        left = ends - datetime.datetime.now(datetime.UTC)
        state = State.WRONG if left.total_seconds() <= 0 else State.NOTE if left < _SOON else State.GOOD
        what = "have a new one signed and import it at the others" if state is not State.GOOD else ""
        yield Finding("certificate", state, f"{path.name} holds until {ends:%Y-%m-%d}", what, ready=True)


def of_disk(folder: Path) -> Finding:
    """Room where a party keeps its state, and whether anything can be kept there."""
    while not folder.exists() and not folder.is_symlink():
        folder = folder.parent
    if not folder.is_dir():
        return Finding("disk", State.WRONG, f"{folder} is no folder", "see to data_dir, and to where a link leads")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding("disk", State.WRONG, f"{folder} cannot be written", "see to its owner, and to how it is mounted")
    free = shutil.disk_usage(folder).free
    state = State.WRONG if free < _LEAST else State.NOTE if free < _LITTLE else State.GOOD
    return Finding(
        "disk", state, f"{free // 1_000_000} MB free at {folder}", "" if state is State.GOOD else "make room"
    )


async def of_service(
    name: str, address: str, tls: Tls, role: str, accepted: bytes = b"", ready: bool = False
) -> Finding:
    """Whether a service takes this party's certificate, shows one that is taken here, and is ready.

    Args:
        address: where it listens, or is called. role, accepted: as `open_channel` takes them. ready: serving needs it.
    """
    host, _, port = address.rpartition(":")
    here = f"{_HERE.get(host, host)}:{port}"
    try:
        found = await probe(here, TlsFiles(tls.key, tls.certificate, tls.ca), role, accepted, _CALL_SECONDS)
    except ProxidError:  # said of the files
        return Finding(name, State.WRONG, f"{role} at {address}: cannot be asked", "mend the files first", ready)
    state = State.GOOD if found.outcome is Reach.SERVING else State.WRONG
    return Finding(name, state, f"{role} at {address}: {found.text}", found.next, ready, found.outcome)


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


_NUMBERS: Final[dict[str, tuple[str, str, str, str, bool]]] = {
    "proxid_policy_behind": (
        "policy", "both services hold the newest", "an older policy counts, since {side} lacks the newest",
        "proxid policy activate there", False,
    ),
    "proxid_clock_doubted": (
        "clock", "is relied on", "cannot be relied on", "set it, and have it synchronised", True,
    ),
    "proxid_peer_unheard": (
        "heads", "compared with the other service", "not compared with the other service", "start that one", False,
    ),
    "proxid_damaged_leaves": (
        "evidence", "no damage was found", "entries of the log are damaged", "put them back, or proxid mend", False,
    ),
}  # fmt: skip
"""Metric → name of the finding, what it means if it is 0 and if not, the next step, whether serving needs it."""


def of_numbers(address: str | None) -> list[Finding]:
    """What the running service says of itself; nothing without `metrics_listen`."""
    if address is None:
        return []
    try:
        rows = _metrics(address)
    except (OSError, http.client.HTTPException, ValueError):
        return [Finding("metrics", State.NOTE, f"no metrics at {address}", "start the service")]
    found = []
    for metric, (name, good, bad, what, ready) in _NUMBERS.items():
        wrong = [key for key, value in rows if value and key.partition("{")[0] == metric]
        if wrong:
            side = wrong[0].partition('side="')[2].partition('"')[0]
            found.append(Finding(name, State.WRONG, bad.format(side=side or "one side"), what, ready))
        else:
            found.append(Finding(name, State.GOOD, good, "", ready))
    return found


def of_policies(config: GovernedConfig) -> list[Finding]:
    """Which document the newest epoch goes by here, which is to come, and whose keys are missing for one."""
    folder = PolicyFolder(config.data_dir)
    try:
        (epoch, digest), activations = folder.gone_by(), folder.activations()
        if not activations:
            return [Finding("policies", State.NOTE, "none yet", "start the service")]
        newest = folder.counting(max(activations)[0])[0]
        document = folder.document(newest)
    except ProxidError as error:
        return [Finding("policies", State.WRONG, error.rule, "put the folder back from a backup", ready=True)]
    text = f"epoch {epoch} goes by {digest.hex()[:16]}" if digest else "no epoch was opened yet"
    found = [Finding("policies", State.GOOD, f"{text}; newest here is {newest.hex()[:16]}")]
    missing = set() if document is None else set(document.parties) - set(config.trust.parties)
    if missing:
        what = f"proxid init --into {config.role} --import public.toml of each, and start the service again"
        found.append(Finding("parties", State.WRONG, f"no keys of {', '.join(sorted(missing))}", what))
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
            times.append(verify_cosignature(Note.decode(regular_bytes(path)), witness(WITNESS, config.trust.witness)))
        except (OSError, ProxidError):
            continue
    age = time.time() - max(times)
    if len(times) == 1:
        return Finding("witness", State.NOTE, "has cosigned nothing yet", "see that proxid witness runs")
    late = age > _LAG
    text = f"cosigned {int(age)} s ago"
    return Finding("witness", State.NOTE if late else State.GOOD, text, "see that proxid witness runs" if late else "")
