"""`proxid device consent` without a bundle: what is in effect, until when, and what each choice allows whom."""

import json
from pathlib import Path

import pytest

from tests.support.trial import run_command, running


async def test_what_is_in_effect_and_what_is_offered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with running(tmp_path):
        config = ("--config", str(tmp_path / "devices/household-1/device.toml"), "-u", "person-0")

        async def said(*words: str) -> str:
            capsys.readouterr()
            assert await run_command("device", "consent", *config, *words) == 0
            return capsys.readouterr().out

        before = json.loads((await said("--json")).splitlines()[-1])
        assert (before["bundle"], before["version"]) == ("nothing", 0) and before["until"]
        assert {"party": "acme", "type": "location", "as": "user_id"} in before["offered"]["everything"]
        assert before["offered"]["nothing"] == []
        await said("searches")
        text = await said()
        assert "searches is in effect until" in text
        assert "everything: To acme and globex goes, under your name: " in text and "; about where you are" in text
        assert "nothing: Nobody is told anything." in text
        assert "Your name stands beside what somebody of a group asked" in text
        assert await run_command("subscribe", "--config", str(tmp_path / "parties/acme/party.toml")) == 0
        assert "no new groups" in capsys.readouterr().err
        with pytest.raises(AssertionError):
            await said("all-of-it")
        assert "there are: aliased, everything, nothing" in capsys.readouterr().err


async def test_a_choice_that_was_refused_is_not_in_effect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with running(tmp_path):
        config = ("--config", str(tmp_path / "devices/household-1/device.toml"), "-u", "person-0")
        assert await run_command("device", "consent", *config, "searches") == 0
        assert await run_command("device", "rights", "object", *config) == 0
        assert await run_command("device", "consent", *config, "everything") == 2
        capsys.readouterr()
        assert await run_command("device", "consent", *config) == 0
        said = capsys.readouterr().out
        assert "nothing is in effect until" in said and "You object to any passing on since 20" in said
        assert "proxid device rights object -u person-0 --resume" in said
        assert await run_command("device", "consent", *config, "--json") == 0
        assert json.loads(capsys.readouterr().out.splitlines()[-1])["objects_since"] > 0
        assert await run_command("device", "rights", "status", *config) == 0
        assert "objection: since 20" in capsys.readouterr().out
