"""A person's page: who gets in, what is refused before a view sees it, and what leaves it (DESIGN 5.6)."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("starlette")

from proxid.clients.agent.page.app import COOKIE, application
from proxid.clients.agent.page.codes import Codes
from proxid.clients.agent.page.deeds import Deeds as RealDeeds
from proxid.clients.agent.page.guard import HEADERS
from proxid.clients.agent.page.rows import ROWS, part
from proxid.clients.agent.page.sessions import IDLE, Sessions
from proxid.clients.household.history import OwnHistory
from proxid.clients.household.home import Choice
from proxid.clients.household.told import meaning_of, standing_of
from proxid.clients.household.words import LANGUAGES, words_in
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import UpstreamError
from proxid.protocol.consent import Grant
from proxid.protocol.policy import PolicyDocument

PEOPLE = ("ann", "bob")
PORT = 7449
SITE = f"http://localhost:{PORT}"
POLICY = PolicyDocument(
    ("acme",), {"all": (Grant("acme", ("general",), "user_id"),), "nothing": ()}, {"alias_period": "epoch"}
)


class Deeds:
    """What the page asks of a household, without one."""

    def __init__(self, folder: Path) -> None:
        self.done: list[tuple[str, dict[str, str]]] = []
        self.forms = {"/consent": (self._consent, "/consent"), "/passed": (self._passed, "/passed")}
        self._histories = {}
        for seed, user in enumerate(PEOPLE):
            (folder / user).mkdir()
            self._histories[user] = OwnHistory(folder / user, SigningKey(bytes([seed]) * 32))
        self.deliveries = [
            {"party": "acme", "time": 1795957529 + n, "kind": "general", "as": "user_id"} for n in range(ROWS + 1)
        ]

    def is_erased(self, _user: str) -> bool:
        return False

    def objection(self, _user: str) -> float | None:
        return None

    def history(self, user: str) -> OwnHistory:
        return self._histories[user]

    async def standing(self, user: str) -> tuple[Choice, str]:
        if user == "bob":
            raise UpstreamError("away")
        return Choice("all", 1, 1795996800, "", POLICY), ""

    def problem(self, _error: Exception, language: str) -> str:
        return str(words_in(language)["page"]["problem"]["away"])

    async def _consent(self, session: Any, fields: dict[str, str]) -> list[str]:
        self.done.append((session.user, fields))
        return ["<done>"]

    async def _passed(self, session: Any, _fields: dict[str, str]) -> list[str]:
        held = {"identity_screener": {"deliveries": self.deliveries}, "main_service": {"waiting": []}}
        session.held = 1795957529.0, 604800.0, held
        return []


@pytest.fixture
def deeds(tmp_path: Path) -> Deeds:
    return Deeds(tmp_path)


@pytest.fixture
def codes(tmp_path: Path) -> Codes:
    return Codes(tmp_path, PEOPLE)


@pytest.fixture
def browser(deeds: Deeds, codes: Codes) -> httpx.AsyncClient:
    # https only so that httpx sends a cookie that is for secure lines: browsers take localhost for one.
    line = httpx.ASGITransport(application(deeds, codes, PORT))  # type: ignore[arg-type]
    return httpx.AsyncClient(transport=line, base_url=f"https://localhost:{PORT}", headers={"origin": SITE})


async def enter(browser: httpx.AsyncClient, codes: Codes, user: str = "ann") -> None:
    answer = await browser.post("/enter", data={"code": codes.make(user)})
    assert (answer.status_code, answer.headers["location"]) == (303, "/consent")


def test_a_code_is_good_once_for_one_person_and_ten_minutes(tmp_path: Path) -> None:
    now = [0.0]
    codes = Codes(tmp_path, PEOPLE, lambda: now[0])
    code = codes.make("ann")
    assert re.fullmatch(r"([A-Z2-9]{4}-){3}[A-Z2-9]{4}", code)
    assert code.replace("-", "") not in "".join(str(path) + path.read_text() for path in tmp_path.rglob("codes/*"))
    assert (codes.take(f" {code.lower()} "), codes.take(code), codes.take(""), codes.take("x")) == ("ann",) + (
        None,
    ) * 3
    late = codes.make("bob")
    now[0] = 600.0
    assert codes.take(late) is None and Codes(tmp_path, ["bob"]).take(codes.make("ann")) is None
    codes.make("ann")
    assert len([*tmp_path.rglob("codes/*")]) == 1  # what is over goes


async def test_a_form_without_a_choice_changes_none() -> None:
    class Asked:
        async def consent(self, *_: object) -> Choice:
            raise AssertionError("nobody chose")

    deed, _ = RealDeeds(None, None, Asked()).forms["/consent"]  # type: ignore[arg-type]
    sessions = Sessions(lambda: 0.0)
    session = sessions.of(sessions.begin("ann", "en"))
    assert session is not None
    assert await deed(session, {}) == [words_in("en")["page"]["problem"]["failed"]]


def test_a_session_ends_a_quarter_of_an_hour_after_the_last_visit() -> None:
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    cookie = sessions.begin("ann", "en")
    for now[0] in (IDLE - 1, 2 * IDLE - 3):
        assert sessions.of(cookie) is not None
    now[0] = 3 * IDLE
    assert sessions.of(cookie) is None and sessions.of("") is None
    many = [sessions.begin("bob", "en") for _ in range(100)]
    assert sessions.of(many[0]) is None and sessions.of(many[-1]) is not None


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "localhost", "localhost:80", "", f"127.0.0.2:{PORT}"]
)
async def test_another_name_for_this_machine_is_refused(browser: httpx.AsyncClient, host: str) -> None:
    for path in ("/", "/consent", "/style.css"):
        answer = await browser.get(path, headers={"host": host})
        assert (answer.status_code, answer.text) == (403, "refused")
    assert {
        (await browser.get("/", headers={"host": f"{name}:{PORT}"})).status_code for name in ("127.0.0.1", "[::1]")
    } == {200}


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": f"https://localhost:{PORT}"}, {"origin": ""},
        {"origin": f"http://127.0.0.1:{PORT}"}, {"origin": "http://localhost:8080"}, {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)  # fmt: skip
async def test_forms_of_other_sites_are_refused(
    browser: httpx.AsyncClient, codes: Codes, deeds: Deeds, headers: dict[str, str]
) -> None:
    await enter(browser, codes)
    assert (await browser.post("/consent", data={"bundle": "all"}, headers=headers)).status_code == 403
    del browser.headers["origin"]
    assert (await browser.post("/consent", data={"bundle": "all"})).status_code == 403
    assert deeds.done == []


async def test_nobody_gets_in_without_a_code_and_everybody_is_who_their_code_was_for(
    browser: httpx.AsyncClient, codes: Codes, deeds: Deeds
) -> None:
    for path in ("/consent", "/asked", "/passed", "/rights"):
        assert (await browser.get(path)).headers["location"] == "/"
    assert (await browser.post("/consent", data={"bundle": "all"})).status_code == 403
    wrong = await browser.post("/enter", data={"code": "ABCD"})
    assert wrong.status_code == 403 and "This code is not good" in wrong.text
    for user in PEOPLE:
        deeds.history(user).start()
        deeds.history(user).add(0, f"what {user} <b>asked</b>")
    await enter(browser, codes)
    mine = (await browser.get("/asked")).text
    assert "what ann &lt;b&gt;asked" in mine and "bob" not in mine
    await browser.post("/consent", data={"bundle": "all", "user": "bob"})
    assert deeds.done == [("ann", {"bundle": "all", "user": "bob"})]
    stolen = dict(browser.cookies)
    await browser.post("/leave")
    assert (await browser.get("/asked")).status_code == 303
    browser.cookies.update(stolen)
    assert (await browser.get("/asked")).status_code == 303


async def test_every_answer_says_that_nothing_runs_and_the_cookie_is_this_hosts(
    browser: httpx.AsyncClient, codes: Codes
) -> None:
    answers = [await browser.get("/"), await browser.post("/enter", data={"code": codes.make("ann")})]
    cookie = answers[1].headers["set-cookie"]
    assert re.fullmatch(rf"{COOKIE}=[\w-]{{43}}; HttpOnly; Path=/; SameSite=strict; Secure", cookie)
    answers += [
        await browser.get(path) for path in ("/consent", "/asked", "/passed", "/none", "/style.css", "/schema.json")
    ]
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert not re.search(
            r"<script|javascript:|\son\w+=|https?://", answer.text.replace("https://json-schema.org", "")
        )
    assert "script-src 'none'" in HEADERS["content-security-policy"]
    assert json.loads(answers[-1].text)["properties"]["schema"] == {"const": "proxid/personal-data/v1"}


async def test_in_german_too_and_what_fails_is_a_sentence(browser: httpx.AsyncClient, codes: Codes) -> None:
    browser.headers["accept-language"] = "fr-FR,de-DE;q=0.8,en;q=0.5"
    assert 'lang="de"' in (await browser.get("/")).text
    await enter(browser, codes)
    shown = (await browser.get("/consent")).text
    assert (
        "all gilt bis 2026-11-30 00:00 UTC." in shown and "An acme geht unter Ihrem Namen: nach welchen Themen" in shown
    )
    await browser.post("/consent", data={"bundle": "all"})
    assert "&lt;done&gt;" in (await browser.get("/consent")).text
    assert "&lt;done&gt;" not in (await browser.get("/consent")).text
    await browser.post("/language")
    assert "all is in effect until" in (await browser.get("/consent")).text
    await enter(browser, codes, "bob")
    assert "Die Dienste sind gerade nicht zu erreichen" in (await browser.get("/consent")).text


async def test_two_thousand_rows_are_one_page_of_less_than_300_kb(
    browser: httpx.AsyncClient, codes: Codes, deeds: Deeds
) -> None:
    history = deeds.history("ann")
    history.start()
    for at in range(ROWS + 1):
        history.add(at, "set an alarm for seven on every weekday of the coming month and a half, please, thank you")
    await enter(browser, codes)
    await browser.post("/passed")
    for path in ("/asked", "/passed"):
        first, second = await browser.get(path), await browser.get(f"{path}?from={ROWS}")
        assert len(first.content) <= 300_000 and first.text.count("<tr><td>") == ROWS
        assert f"{path}?from={ROWS}" in first.text and second.text.count("<tr><td>") == 1


@pytest.mark.parametrize(
    ("start", "found"), [("", 0), ("-1", 0), ("x", 0), ("1999", 0), ("2000", 2000), ("99999", None), ("²", 0)]
)
def test_where_a_page_begins(start: str, found: int | None) -> None:
    got = part(range(5000), start)
    assert list(got.rows[:1]) == ([] if found is None else [found])


def test_what_was_asked_is_sealed_and_goes_when_it_is_not_wanted(tmp_path: Path) -> None:
    ann, other = OwnHistory(tmp_path, SigningKey(bytes(32))), OwnHistory(tmp_path, SigningKey(bytes([1]) * 32))
    ann.add(1, "not kept")
    assert not ann.kept and [*ann.asked()] == []
    ann.start()
    ann.add(2.5, "why is the sky blue")
    ann.add(3, "zwei")
    file = tmp_path / "asked"
    assert file.stat().st_mode & 0o777 == 0o600 and b"sky" not in file.read_bytes()
    assert [(one.time, one.text) for one in ann.asked()] == [(3, "zwei"), (2, "why is the sky blue")]
    assert [*other.asked()] == []
    file.write_bytes(file.read_bytes()[:-5])  # torn
    assert [one.text for one in ann.asked()] == ["why is the sky blue"]
    ann.stop()
    assert not file.exists() and not ann.kept


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_choice_that_is_not_acknowledged_is_not_said_to_be_in_effect(language: str) -> None:
    words = words_in(language)
    (said,) = standing_of(Choice("all", 1, 0, "", POLICY, pending=True), "", words)
    assert "1970" not in said and meaning_of(POLICY, "nothing", words) == [words["consent"]["nobody"]]
