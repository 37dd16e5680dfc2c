"""Arguments that are none: each is refused with a code and what to try, and none is a fault that nobody foresaw."""

import json
from pathlib import Path

import pytest

from proxid.errors import Code
from tests.support.fuzzing.stock import said

BYTES = b"x\xff".decode("utf-8", "surrogateescape")
"""As Python reads an argument that is no UTF-8."""
CASES = {
    "a host's name that is no ASCII": ("init", "{new}", "--host", "münchen"),
    "bytes for an address": ("init", "{new}", "--gateway", BYTES),
    "bytes for a user": ("device", "ask", "--config", "{house}/none", "-u", BYTES, BYTES),
    "entries of five thousand digits": ("mend", "damaged", "--config", "{house}/gateway/gateway.toml", "--leaves",
                                        "9" * 5_000, "--reason", "disk"),
    "entries of a log that was never begun": ("mend", "damaged", "--config", "{house}/gateway/gateway.toml",
                                              "--leaves", "1", "--reason", "disk"),
    "a digest that no file's name could be": ("policy", "show", "--config", "{house}/gateway/gateway.toml",
                                              "x" * 9_999),
    "a folder under a file": ("init", "{house}/policy.toml/x"),
}  # fmt: skip


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house") / "house"
    assert said("init", str(folder), "--only", "gateway,main-service")[0] == 0
    return folder


@pytest.mark.parametrize("case", CASES)
def test_an_argument_that_is_none_is_refused(house: Path, tmp_path: Path, case: str) -> None:
    words = [word.replace("{house}", str(house)).replace("{new}", str(tmp_path / "new")) for word in CASES[case]]
    status, _, errors = said(*words, "--json")
    told = json.loads(errors.splitlines()[-1])["error"]
    assert status == 2
    assert told["code"] in set(Code) - {Code.INTERNAL} and told["why"] and told["next"]
