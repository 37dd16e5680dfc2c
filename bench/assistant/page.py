"""How long a person's page with a full list takes, and how large it is."""

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Final

import httpx

from bench import Figure
from device_sim.corpus import shipped_events
from proxid.clients.agent.page.app import application
from proxid.clients.agent.page.codes import Codes
from proxid.clients.agent.page.rows import ROWS
from proxid.clients.household.history import OwnHistory
from proxid.crypto.ed25519 import SigningKey

_TIMES: Final = 5
_PORT: Final = 1
_ANN: Final = "ann"


class _OwnHistoryAlone:
    """What the view of the own history needs of a household."""

    def __init__(self, history: OwnHistory) -> None:
        self._history = history
        self.forms: dict[str, Any] = {}

    def history(self, _user: str) -> OwnHistory:
        return self._history


def page_figures() -> dict[str, Figure]:
    """The median of five, and the size."""
    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        seconds, size = asyncio.run(_measure(Path(folder)))
    return {
        "page_2000_rows_s": {"value": round(seconds, 3), "unit": "s", "reach": 1.0},
        "page_2000_rows_kb": {"value": round(size / 1000, 1), "unit": "kB", "reach": 300.0},
    }


async def _measure(folder: Path) -> tuple[float, int]:
    history, codes = OwnHistory(folder, SigningKey(bytes(32))), Codes(folder, [_ANN])
    history.start()
    texts = [event.text for event in shipped_events()[:ROWS]]
    for at in range(ROWS):
        history.add(at, texts[at % len(texts)])
    deeds: Any = _OwnHistoryAlone(history)
    line = httpx.ASGITransport(application(deeds, codes, _PORT))
    site = f"//localhost:{_PORT}"
    async with httpx.AsyncClient(transport=line, base_url=f"https:{site}", headers={"origin": f"http:{site}"}) as one:
        await one.post("/enter", data={"code": codes.make(_ANN)})
        taken = []
        for _ in range(_TIMES):
            begun = time.perf_counter()
            answer = await one.get("/asked")
            taken.append(time.perf_counter() - begun)
    return median(taken), len(answer.content)
