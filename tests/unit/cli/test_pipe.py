"""Output into a pipe whose reader goes away, as `proxid … | head` does: no complaint, and the status of other tools."""

import datetime
import json
import subprocess
import sys
from pathlib import Path

import pytest

from proxid.runtime.provision import TrialOptions, init_trial

ROW = {
    "user": "ann", "kind": "general", "rung": "text", "text": "x" * 60, "category": "a/b",
    "time": "1970-01-01T00:15:00Z", "mode": "split",
}  # fmt: skip


@pytest.fixture(scope="module")
def party(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A party that received far more than a pipe holds."""
    folder = tmp_path_factory.mktemp("trial")
    init_trial(folder, TrialOptions(parties=("acme",)), datetime.datetime.now(datetime.UTC))
    data = folder / "parties/acme/data"
    data.mkdir()
    lines = [json.dumps({"epoch": 1, "group": n, "cursor": n, "records": [ROW] * 4}) for n in range(1, 1500)]
    (data / "feed.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "parties/acme/party.toml"


@pytest.mark.parametrize("layout", ["table", "jsonl", "tsv"])
def test_reader_that_goes_away(party: Path, layout: str) -> None:
    words = ["-m", "proxid.cli.main", "subscribe", "--config", str(party), "--all", "--format", layout]
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stderr is not None
        assert child.stdout.readline()
        child.stdout.close()
        errors = child.stderr.read()
        assert (child.wait(60), errors) == (141, b"")


def test_output_that_no_longer_fits_is_named(party: Path) -> None:
    words = ["-m", "proxid.cli.main", "subscribe", "--config", str(party), "--all", "--format", "jsonl"]
    with Path("/dev/full").open("w") as full:
        child = subprocess.run([sys.executable, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert child.returncode == 2 and child.stderr.startswith("proxid: output_failed: ")
