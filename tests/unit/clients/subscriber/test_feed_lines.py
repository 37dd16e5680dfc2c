"""Printed lines keep to the schema, and docs/feed.md's recipes run on them."""

import datetime
import json
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from proxid.cli.main import main
from proxid.clients.subscriber import subscriber
from proxid.clients.subscriber.group import OpenedRecord
from proxid.clients.subscriber.kept import read_groups
from proxid.clients.subscriber.ledger import GroupId, Kept, Ledger
from proxid.clients.subscriber.rows import lines_of, notice_entry, notice_line
from proxid.protocol.contents import ContentsBody, ContentsRow
from proxid.protocol.notice import Notice
from proxid.protocol.record import Mechanism, group_number
from proxid.runtime.provision import TrialOptions, init_trial
from tests.support.addresses import free_address
from tests.unit.clients.subscriber.test_feed import BODY

SCHEMA = json.loads(files("proxid.clients.subscriber").joinpath("feed.schema.json").read_text("utf-8"))
PAGE = (Path(__file__).parents[4] / "docs/feed.md").read_text("utf-8")


@pytest.fixture
def lines(tmp_path: Path) -> list[dict[str, Any]]:
    """Every kind of line, as a feed of three people gives them; also in feed.lines."""
    entry = replace(BODY, rung=2, text="", path=("News",), mechanism=Mechanism("split", 3, 1, 1, 1))
    place = replace(BODY, kind="location", mechanism=Mechanism("slots", 3, 1, 7, 5))
    contents = ContentsBody("aa" * 16, (3, 1, 1, 4), 7, 2, (ContentsRow(("News",), "brazil", 5),))
    with Ledger(tmp_path / "feed.jsonl") as ledger:
        for number, body in enumerate((entry, BODY, place), 1):
            people = [OpenedRecord(user, "user_id", body) for user in ("ann", "bob", "cem")]
            ledger.add(Kept(GroupId(7, number), number, bytes(32)), people)
        ledger.add(Kept(GroupId(7, group_number("contents", 1)), 4, bytes(32)), [], contents)
    found = [line for group in read_groups(tmp_path / "feed.jsonl") for line in lines_of(group)]
    found.append(notice_line(notice_entry(Notice("erase", "main-service", "acme", "dan", 5, bytes(16)))))
    (tmp_path / "feed.lines").write_text("".join(json.dumps(line) + "\n" for line in found))
    return found


def test_every_line_is_of_one_kind_of_the_schema(lines: list[dict[str, Any]]) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    validator = Draft202012Validator(SCHEMA)
    for line in lines:
        validator.validate(line)
        kinds = [name for name in ("entry", "pair", "slotted", "contents", "notice") if _is(line, name)]
        assert len(kinds) == 1
    assert {"listed_user"} & lines[3].keys() and "user" not in lines[3], "the listed person is not who asked"
    assert not validator.is_valid({**lines[0], "asked": "something"})


def _is(line: dict[str, Any], name: str) -> bool:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}).is_valid(line)


def test_the_page_explains_every_field(lines: list[dict[str, Any]]) -> None:
    named = {name for kind in SCHEMA["$defs"].values() for name in kind.get("properties", {})}
    assert not [
        name for name in named - {"contents", "mode", "notice"} if f"`{name}`" not in PAGE.split("## Delivery")[0]
    ]


def test_its_recipes_run(lines: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    subjects, asked = (part for part in _blocks("sql")[0].split(";") if part.strip())
    assert duckdb.sql(subjects).fetchall() == [(7, "News", 3, 3)]
    assert duckdb.sql(asked).fetchall() == [("brazil", 5)]
    pytest.importorskip("pandas")
    space: dict[str, Any] = {}
    exec(_blocks("python")[0], space)
    assert space["table"].to_dict() == {"News": {"ann": 1, "bob": 1, "cem": 1}}


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def party(lines: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The TOML of a party that has this feed, then a notice and a group after it, and a gateway that is down."""
    init_trial(tmp_path / "trial", TrialOptions(("acme",), ()), datetime.datetime.now(datetime.UTC))
    folder = tmp_path / "trial/parties/acme"
    (folder / "data").mkdir(exist_ok=True)
    (tmp_path / "feed.jsonl").rename(folder / "data/feed.jsonl")
    with Ledger(folder / "data/feed.jsonl") as ledger:
        ledger.note(Notice("erase", "main-service", "acme", "cem", 5, bytes(16)))
        ledger.add(Kept(GroupId(8, 1), 5, bytes(32)), [OpenedRecord("cem", "user_id", BODY)])
    monkeypatch.setenv("PROXID_PARTY__GATEWAY", free_address())
    monkeypatch.setattr(subscriber, "_ATTEMPTS", 1)
    return folder / "party.toml"


@pytest.mark.parametrize(("since", "before"), [("--all", 7), ("--from=4", 0), ("--from=5", None)])
def test_a_notice_is_printed_again_at_its_place(
    party: Path, capsys: pytest.CaptureFixture[str], since: str, before: int | None
) -> None:
    """Whoever reads the lines in their order keeps what came of the same name later."""
    assert main(["subscribe", "--config", str(party), since, "--json"]) == 2
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    told = {"schema": "proxid/feed/v1", "notice": "erase", "user": "cem", "time_ms": 5}
    assert [at for at, line in enumerate(found) if line == told] == ([] if before is None else [before])
    assert len(found) == (0 if before is None else before + 2)


def test_a_gateway_that_is_down_is_told_in_words(party: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["subscribe", "--config", str(party), "--json"]) == 2
    said = json.loads(capsys.readouterr().err)["error"]
    assert said["why"].endswith(": nobody listens there") and said["next"].startswith("see that it is started")
