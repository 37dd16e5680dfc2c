"""Home Assistant, unchanged, with its own Wyoming integration: it asks the agent, and acts at home by itself."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("homeassistant")

from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.setup import async_setup_component

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "turn on the kitchen light"


@pytest.fixture(scope="session")
def house() -> Iterator[dict[str, Any]]:
    """The services and the agent, in processes that have proxid's packages."""
    python = os.environ.get("PROXID_PYTHON", str(ROOT / ".venv/bin/python"))
    with subprocess.Popen(
        [python, "-m", "tests.homeassistant.house"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        yield json.loads(process.stdout.readline())
        process.stdin.close()


def answered(house: dict[str, Any]) -> int:
    """How many questions left the house: each leaves a receipt of its answer; others are of the day's key, say."""
    file = Path(house["receipts"])
    lines = file.read_text().splitlines() if file.exists() else []
    return sum(json.loads(line)["kind"] == "response" for line in lines)


@pytest.fixture
async def home(hass: HomeAssistant, house: dict[str, Any], socket_enabled: None) -> HomeAssistant:
    """Home Assistant with a light in the kitchen, and the agent added as its user adds it: by host and port."""
    for component in ("homeassistant", "conversation", "assist_pipeline", "light"):
        assert await async_setup_component(hass, component, {})
    flow = await hass.config_entries.flow.async_init("wyoming", context={"source": "user"})
    done = await hass.config_entries.flow.async_configure(flow["flow_id"], {"host": "127.0.0.1", "port": house["port"]})
    assert (done["type"], done["title"]) == ("create_entry", "proxid")
    await hass.async_block_till_done()
    assert hass.states.get("conversation.proxid") is not None
    hass.states.async_set("light.kitchen", "off", {"friendly_name": "kitchen light"})
    return hass


def speech(result: Any) -> str:
    return str(result.response.speech["plain"]["speech"])


async def test_a_question_is_answered(home: HomeAssistant, house: dict[str, Any]) -> None:
    before = answered(house)
    result = await conversation.async_converse(
        home, "what is six times seven", None, Context(), language="en", agent_id="conversation.proxid"
    )
    assert speech(result) == "It is 42." and answered(house) == before + 1


async def test_a_command_is_carried_out_at_home_and_never_sent(
    home: HomeAssistant, house: dict[str, Any], hass_ws_client: Any
) -> None:
    calls: list[ServiceCall] = []
    home.services.async_register("light", "turn_on", calls.append)
    before, client = answered(house), await hass_ws_client(home)
    pipeline = {
        "name": "proxid", "language": "en", "conversation_engine": "conversation.proxid", "conversation_language": "en",
        "stt_engine": None, "stt_language": None, "tts_engine": None, "tts_language": None, "tts_voice": None,
        "wake_word_entity": None, "wake_word_id": None, "prefer_local_intents": True,
    }  # fmt: skip
    await client.send_json_auto_id({"type": "assist_pipeline/pipeline/create", **pipeline})
    created = await client.receive_json()
    assert created["success"], created
    said = {text: await run(client, created["result"]["id"], text) for text in (COMMAND, "what is six times seven")}
    assert [call.data["entity_id"] for call in calls] == [["light.kitchen"]]
    assert said[COMMAND]["response"]["response_type"] == "action_done"
    assert said["what is six times seven"]["response"]["speech"]["plain"]["speech"] == "It is 42."
    assert answered(house) == before + 1


async def test_a_command_that_comes_to_the_agent_all_the_same_is_not_sent_either(
    home: HomeAssistant, house: dict[str, Any]
) -> None:
    before = answered(house)
    result = await conversation.async_converse(
        home, COMMAND, None, Context(), language="en", agent_id="conversation.proxid"
    )
    assert result.response.error_code == "failed_to_handle" and answered(house) == before
    assert speech(result) == "That is for your home to do: it was not sent anywhere."


async def run(client: Any, pipeline: str, text: str) -> dict[str, Any]:
    """What the pipeline's intent stage ends with."""
    await client.send_json_auto_id({
        "type": "assist_pipeline/run", "start_stage": "intent", "end_stage": "intent", "input": {"text": text},
        "pipeline": pipeline,
    })  # fmt: skip
    while True:
        told = await client.receive_json()
        if told["type"] == "event" and told["event"]["type"] == "intent-end":
            return dict(told["event"]["data"]["intent_output"])
        assert told.get("success", True) and told.get("event", {}).get("type") != "error", told
