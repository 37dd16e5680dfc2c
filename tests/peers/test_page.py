"""A person's page in a real browser: by keyboard alone and without scripts, narrow, in forced colours, for everybody.

Chromium of Debian, driven by Playwright; axe-core looks at every page in both languages.
"""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, async_playwright

from proxid.clients.agent.page.codes import Codes
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.remote_home import open_home
from tests.support.agent import running_agent
from tests.support.trial import PEOPLE, Trial, running

pytestmark = pytest.mark.peers
ANN = PEOPLE[0]
PATHS = ("consent", "asked", "passed", "rights")
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}
NARROW: Any = {"width": 320, "height": 640}


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    found = shutil.which("chromium")
    assert found is not None, "apt-get install -y --no-install-recommends chromium fonts-dejavu-core"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=found,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
        )
        try:
            yield browser
        finally:
            await browser.close()


async def enter(page: Page, site: str, config: DeviceConfig) -> None:
    """By keyboard: past the link that skips to the content, into the one field, and Enter."""
    await page.goto(site)
    await tab_to(page, "code")
    await page.keyboard.type(Codes(config.data_dir, PEOPLE).make(ANN))
    await enter_key(page)
    assert page.url == f"{site}consent"


@asynccontextmanager
async def another_site(text: str) -> AsyncIterator[str]:
    """A server at another port of localhost that says one thing."""

    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n{text}".encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(say, "127.0.0.1", 0) as server:
        yield f"http://localhost:{server.sockets[0].getsockname()[1]}/"


async def enter_key(page: Page) -> None:
    """Press it, and wait for the page that the form leads to."""
    async with page.expect_navigation():
        await page.keyboard.press("Enter")


async def tab_to(page: Page, name: str) -> None:
    """Tab until the element of an id or a button's text has the focus."""
    for _ in range(60):
        await page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if name in (await focused.get_attribute("id"), (await focused.inner_text()).strip()):
            return
    raise AssertionError(f"{name} cannot be reached by the keyboard")


async def said(page: Page) -> str:
    return str(await page.get_by_role("status").inner_text())


async def look(page: Page, folder: Path, name: str) -> None:
    """What everybody must be able to use, as it is, narrow and in forced colours; a picture of each."""
    for state, size, colours in (("wide", None, "none"), ("narrow", NARROW, "none"), ("forced", None, "active")):
        await page.set_viewport_size(size or {"width": 1000, "height": 800})
        await page.emulate_media(forced_colors=colours)
        found = await Axe().run(page, options=RULES)
        assert found.response["violations"] == [], (name, state, found.generate_report())
        wide = await page.evaluate("document.scrollingElement.scrollWidth - window.innerWidth")
        assert wide <= 0, (name, state)
        await page.screenshot(path=folder / f"{name}-{state}.png", full_page=True)


async def prepared(trial: Trial) -> None:
    """Something was asked and passed on."""
    await trial.consent()
    await trial.ask("node1 question")
    await trial.settle()
    await trial.receive()


async def test_by_keyboard_alone_and_without_scripts(tmp_path: Path) -> None:
    async with running(tmp_path) as trial, running_agent(trial, "") as (config, (site, _)), chromium() as browser:
        page = await (await browser.new_context(java_script_enabled=False, locale="en-GB")).new_page()
        await enter(page, site, config)
        await tab_to(page, "b3")  # the one that is chosen: nothing
        await page.keyboard.press("ArrowUp")
        await tab_to(page, "lasting")
        await page.keyboard.press("Space")
        await tab_to(page, "Choose this")
        await enter_key(page)
        assert "Acknowledged by both services: everything." in await said(page)
        assert "It is given anew then, until you withdraw it." in await page.content()
        await tab_to(page, "Withdraw everything")
        await enter_key(page)
        assert "Acknowledged by both services: nothing." in await said(page)
        # The form of another server of this machine, which browsers give the cookie along with.
        form = f'<form method="post" action="{site}consent"><button name="bundle" value="everything">'
        async with another_site(form) as other:
            await page.goto(other)
            await page.locator("button").click()
            assert await page.locator("body").inner_text() == "refused"
        await page.goto(f"{site}consent")
        assert "nothing is in effect until" in await page.content()
        await tab_to(page, "Leave")
        await enter_key(page)
        await page.goto(f"{site}consent")
        assert re.fullmatch(re.escape(site), page.url)
        await trial.settle()
        report = await trial.audit()
        assert report.violations == [] and report.counts["main-service.CONSENT"] == 2


async def press(page: Page, button: str) -> None:
    """Press a button, and wait for the page that its form leads to."""
    async with page.expect_navigation():
        await page.locator(button).first.click()


async def test_everybody_can_use_every_page(tmp_path: Path) -> None:
    folder = Path(os.environ.get("PROXID_SCREENSHOTS", tmp_path / "screenshots"))
    async with running(tmp_path) as trial, running_agent(trial, "") as (config, (site, _)), chromium() as browser:
        await prepared(trial)
        page = await (await browser.new_context(locale="en-GB")).new_page()
        await page.goto(site)
        await look(page, folder, "enter")
        await page.fill("#code", "WRONG")
        await press(page, "main button")
        await look(page, folder, "enter-wrong")
        await enter(page, site, config)
        await page.goto(f"{site}asked")
        await look(page, folder, "asked-off")
        for path in ("asked", "passed", "rights"):
            await page.goto(f"{site}{path}")
            await press(page, "main button")  # keep a history; ask for access; ask who holds what
        async with open_home(config) as home:
            await home.ask(ANN, "why is the sky blue")
        for language in ("en", "de"):
            for path in PATHS:
                await page.goto(f"{site}{path}")
                assert await page.locator("html").get_attribute("lang") == language
                await look(page, folder, f"{path}-{language}")
            await press(page, "form[action='/language'] button")
        await page.goto(f"{site}rights")
        await page.fill("#name", ANN)
        await press(page, "form[action='/rights/erase'] button")
        await look(page, folder, "rights-erasing")
        async with asyncio.timeout(60):
            while "You were erased" not in await page.content():
                await page.goto(f"{site}rights")
        await look(page, folder, "rights-erased")
