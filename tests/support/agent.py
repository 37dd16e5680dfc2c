"""A household's agent in this process, with doors and page at free ports."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from proxid.clients.agent.server import serve
from proxid.clients.household.config import DeviceConfig
from proxid.runtime.config import load
from tests.support.trial import Trial


@asynccontextmanager
async def running_agent(trial: Trial, doors: str) -> AsyncIterator[tuple[DeviceConfig, list[str]]]:
    """The agent of the trial's household: its configuration, and where its Wyoming doors, page and OpenAI door are.

    Args:
        doors: what else stands in `[agent]`.
    """
    file = trial.folder / "devices/household-1/device.toml"
    file.write_text(f'{file.read_text()}\n[agent]\nopenai = "127.0.0.1:0"\npage = "127.0.0.1:0"\n{doors}\n')
    config, told = load(DeviceConfig, file), asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(config, told.set_result))
    await asyncio.wait({task, told}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    try:
        yield config, told.result().split("\n")
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
