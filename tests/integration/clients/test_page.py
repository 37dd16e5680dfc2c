"""A person's page before real services: consent, what went to whom, rights; and the audit finds what was done on it."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import jsonschema
import pytest

pytest.importorskip("starlette")

from proxid.clients.agent.page.app import application
from proxid.clients.agent.page.codes import Codes
from proxid.clients.agent.page.deeds import Deeds
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.home import OwnHome
from proxid.runtime.config import load
from tests.support.trial import PEOPLE, Trial, running

ANN = PEOPLE[0]


class Browser:
    """Ann's, on her page."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def see(self, path: str) -> str:
        """The texts of a page, without its marks."""
        answer = await self.client.get(path)
        assert answer.status_code == 200
        return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", answer.text.partition("<main")[2].partition("</main")[0]))

    async def send(self, path: str, **fields: str) -> str:
        """What is said when a form was sent."""
        answer = await self.client.post(path, data=fields)
        assert answer.status_code == 303
        return await self.see(answer.headers["location"])


@asynccontextmanager
async def page(trial: Trial) -> AsyncIterator[Browser]:
    config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
    home, codes = OwnHome(config, trial.device), Codes(config.data_dir, PEOPLE)
    deeds = Deeds(config, trial.device, home)
    line, site = httpx.ASGITransport(application(deeds, codes, 7449)), "//localhost:7449"
    async with httpx.AsyncClient(
        transport=line, base_url=f"https:{site}", headers={"origin": f"http:{site}"}, timeout=60
    ) as client:
        assert (await client.post("/enter", data={"code": codes.make(ANN)})).status_code == 303
        yield Browser(client)
    await deeds.close()
    await home.close()


def kept(folder: Path) -> list[Path]:
    return [*folder.rglob("asked")]


async def test_a_person_sees_and_does_on_it_what_they_may(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async with running(tmp_path) as trial, page(trial) as ann:
        assert "What you ask is kept from now on." in await ann.send("/asked", start="1")
        said = await ann.send("/consent", bundle="everything", lasting="on")
        assert "Acknowledged by both services: everything." in said and "It is given anew then" in said
        await trial.consent(people=PEOPLE[1:])
        await trial.ask("node1 question of hers")
        await trial.settle()
        await trial.receive()
        await trial.ask("node9 waits alone", [ANN])
        await trial.settle()
        asked = await ann.see("/asked")
        assert asked.index("node9 waits alone") < asked.index("node1 question of hers")
        passed = await ann.send("/passed")
        assert re.search(r"UTC acme subjects your name 20\d\d-\d\d-\d\d", passed) and "node9 waits alone" in passed
        assert f"acme holds 1 acknowledged records under {ANN}." in await ann.send("/rights/status")
        document = (await ann.client.post("/export.json")).json()
        schema = (await ann.client.get("/schema.json")).json()
        jsonschema.validate(document, schema)
        assert [one["utterance"] for one in document["own_history"]] == ["node9 waits alone", "node1 question of hers"]
        read = (await ann.client.post("/export.html")).text
        assert "To acme and globex goes, under your name" in read and "node9 waits alone" in read
        said = await ann.send("/consent", bundle="nothing")
        assert "acme had been sent 1 records under your name or alias; that stays with it." in said
        assert "You object: the gateway has signed a receipt." in await ann.send("/rights/object")
        assert "You object to any passing on since 20" in await ann.see("/rights")
        said = await ann.send("/consent", bundle="everything")
        assert "take that back first" in said and "You object to any passing on since 20" in said
        assert "nothing is in effect until" in said and "is not known here" not in said
        assert "The objection is taken back." in await ann.send("/rights/resume")
        assert "You object" not in await ann.see("/rights") + await ann.see("/consent")
        assert "Nothing was erased" in await ann.send("/rights/erase", name="somebody")
        said = await ann.send("/rights/erase", name=ANN)
        async with asyncio.timeout(60):
            while "You were erased at both services" not in said:
                assert "The erasure is under way" in said
                await asyncio.sleep(0.1)
                said = await ann.see("/rights")
        assert "acme was told" in await ann.send("/rights/status")
        assert "Erase me" not in said and not kept(tmp_path)
        assert (await ann.client.get("/consent")).headers["location"] == "/rights"
        report = await trial.audit()
        assert report.violations == [] and report.counts["gateway.ERASED"] == 1
    said = "".join(capfd.readouterr())
    assert "question of hers" not in said and "waits alone" not in said and ANN not in said
