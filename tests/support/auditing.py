"""A running auditor beside a trial, in this process or in one of its own, and who calls it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from auditor.checks.c9_receipts import Presented, read_receipts
from auditor.config import AuditorConfig
from auditor.report.series import newest
from auditor.serving.server import serve
from proxid.clients.auditing.client import AuditorClient, open_auditor
from proxid.clients.household.config import DeviceConfig
from proxid.clients.subscriber.config import PartyConfig
from proxid.runtime.config import load
from tests.support.addresses import free_address

CALLERS: dict[str, type[Any]] = {
    "devices/household-1": DeviceConfig, "parties/acme": PartyConfig, "parties/globex": PartyConfig,
}  # fmt: skip


def provision_auditor(folder: Path, **changes: Any) -> str:
    """Have the trial's auditor serve at a free address, which its devices and parties are told; the address."""
    address = free_address()
    keys = {"listen": address, "every": "1 h", "pipeline_again": False, "shutdown_grace": 0.5, **changes}
    own = folder / "auditor/auditor.toml"
    lines = [f"{key} = {_toml(value)}\n" for key, value in keys.items()]
    own.write_text("".join(lines) + own.read_text())
    for path in (*folder.glob("devices/*/device.toml"), *folder.glob("parties/*/party.toml")):
        path.write_text(f'auditor = "{address}"\n' + path.read_text())
    return address


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(list(value)) if isinstance(value, tuple | list) else repr(value)


@asynccontextmanager
async def auditor_serving(folder: Path) -> AsyncIterator[None]:
    """The auditor's service in this process."""
    source, ready = folder / "auditor/auditor.toml", asyncio.Event()
    task = asyncio.create_task(serve(load(AuditorConfig, source), source, lambda _: ready.set()))
    waiter = asyncio.create_task(ready.wait())
    await asyncio.wait({task, waiter}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        waiter.cancel()
        task.result()
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def calling(folder: Path, who: str, address: str = "") -> AsyncIterator[AuditorClient]:
    """An auditor's client with somebody's certificate.

    Args:
        who: folder of a device or party, or of one whose certificate is shown though its role calls no auditor.
    """
    own = folder / who
    kind = CALLERS.get(who)
    told = load(kind or AuditorConfig, own / f"{'device' if kind is DeviceConfig else 'party'}.toml") if kind else None
    config = told if told is not None else _as(folder, own)
    async with open_auditor(config, address or str(config.auditor)) as client:
        yield client


def _as(folder: Path, own: Path) -> DeviceConfig:
    """A device's configuration with another folder's certificate."""
    device = load(DeviceConfig, folder / "devices/household-1/device.toml")
    tls = device.tls.model_copy(update={"certificate": own / "tls.crt", "key": own / "tls.key"})
    return device.model_copy(update={"tls": tls})


def held(folder: Path, who: str = "devices/household-1") -> list[Presented]:
    """What somebody keeps."""
    return list(read_receipts(folder / who / "data"))


async def report_number(folder: Path, number: int, seconds: float = 60.0) -> Path:
    """The folder of a report, once it was made."""
    async with asyncio.timeout(seconds):
        while (found := newest(folder / "auditor/data/reports")) is None or int(found.name) < number:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return found
