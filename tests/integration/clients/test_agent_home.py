"""A household whose agent runs: its commands go through the agent's socket, and nobody else opens the keys."""

import io
import json
import stat
from pathlib import Path

import httpx
import pytest

pytest.importorskip("starlette")

from device_sim.commands.ask import HELP
from proxid.clients.household.household import Household
from proxid.clients.household.remote_home import agent_socket
from proxid.errors import HouseholdBusyError
from tests.support.addresses import free_address
from tests.support.agent import running_agent
from tests.support.trial import run_command, running


async def test_commands_go_through_the_agent_and_nobody_else_opens_the_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as trial:
        config_file = str(tmp_path / "devices/household-1/device.toml")

        async def said(*words: str, status: int = 0, user: bool = True) -> str:
            capsys.readouterr()
            who = ("-u", "person-0") if user else ()
            assert await run_command("device", *words, "--config", config_file, *who) == status
            out, error = capsys.readouterr()
            # Another test's loop that was closed under gRPC may be told of in between.
            out = "".join(line for line in out.splitlines(keepends=True) if "library message" not in line)
            return out if status == 0 else error

        metrics_at = free_address()
        async with running_agent(trial, f'metrics_listen = "{metrics_at}"\ncommands = "share"') as (config, _):
            socket = agent_socket(config.data_dir)
            assert stat.S_IMODE(socket.stat().st_mode) == 0o600
            with pytest.raises(HouseholdBusyError, match="stop it first"):
                Household.open(config)
            assert await said("ask", "six times seven") == "It is 42.\n"
            async with httpx.AsyncClient(trust_env=False) as client:
                metrics = (await client.get(f"http://{metrics_at}/metrics")).text
            assert "proxid_agent_dropped_total" in metrics and "person" not in metrics
            assert "in effect until" in await said("consent", "everything", "--until-withdrawn")
            assert "person-0: everything until withdrawn" in await said("status", user=False)
            assert json.loads(await said("rights", "access"))["main_service"]["bundle"] == "everything"
            assert "erasure: none" in await said("rights", "status")
            assert "household_busy" in await said("enrol", status=2)
            # What fails is told as it failed there: the agent's rule, or who refused it.
            assert "there are: aliased, everything" in await said("consent", "all-of-it", status=2)
            assert "the text to ask is empty" in await said("ask", " ", status=2)
            await said("rights", "object")
            assert "objected" in await said("consent", "everything", status=2)
            assert await said("status", user=False) == "".join(
                f"person-{i}: chooses anew each epoch\n" for i in range(8)
            )
        assert not socket.exists()
        await said("rights", "object", "--resume")
        assert await said("ask", "two plus three") == "It is 5.\n"  # with keys of its own, now that they are free
        spoken = "two plus three\n\n/consent searches\n/consent x\n\x07\n/what\n/bye\nnever asked\n"
        monkeypatch.setattr("sys.stdin", io.StringIO(spoken))
        first, chosen, ends, wrong, *rest = (await said("ask")).splitlines()
        assert (first, wrong) == ("It is 5.", "There is no such choice: x.")
        assert chosen.startswith("searches is in effect until") and ends.startswith("Then nobody is told anything")
        assert rest[-2:] == ["Sorry, I have no answer to that.", HELP] and "  nothing: Nobody is told anything." in rest
        busy = Household.open(config)
        assert "wait until it ends" in await said("ask", "hello", status=2)
        await busy.close()
        await trial.settle()
        report = await trial.audit()
        assert report.violations == []
