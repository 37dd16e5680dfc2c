"""The main job with real processes, stores and keys)."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from device_sim.corpus import shipped_events
from proxid.cli.demo.trial import PARTIES
from proxid.clients.subscriber.ledger import read_groups
from tests.support.processes import processes_under, wait_until_gone

DEADLINE = 120


def python_processes(folder: Path) -> list[str]:
    """Without those that `setpriv` has not become yet: the kernel does not tie them to their parent before."""
    return [line for line in processes_under(folder) if "setpriv" not in line]


def demo(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "proxid.cli.main", "demo", "--dir", str(folder), *arguments]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    """A demo for people to read, which runs beside the other: both wait more than they work."""
    arguments = demo(tmp_path_factory.mktemp("shown"), "--people", "20", "--rate", "400", "--seconds", "2")
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        yield run
        run.kill()


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, shown: subprocess.Popen[str]) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("demo")
    run = subprocess.run(
        demo(folder, "--people", "60", "--rate", "400", "--json"), capture_output=True, timeout=DEADLINE, check=False
    )
    assert run.returncode == 0, run.stderr.decode()
    return folder, json.loads(run.stdout)


def test_every_request_is_accounted_for_and_the_audit_is_clean(done: tuple[Path, dict[str, Any]]) -> None:
    _, result = done
    assert (result["audit"], result["violations"]) == ("clean", [])
    assert result["requests"] == 60 * 16
    assert result["released"] + result["withheld"] == result["requests"]
    assert sum(result["withheld_by_reason"].values()) + result["waiting"] == result["withheld"]
    # All bundles but `nothing` allow all three parties, and it ends when nothing is left that will be released.
    assert result["pending"] == 0
    assert 0 < result["delivered"] == 3 * result["released"]
    for kinds in result["kinds"].values():
        assert 3 * sum(kinds.values()) == result["delivered"]


def test_form_split_shows_who_asked_and_apart_from_it_what(tmp_path: Path) -> None:
    """An epoch that ends within the demo: entries at its ticks, contents at its close; an audit repeats both."""
    arguments = demo(tmp_path, "--form", "split", "--people", "60", "--rate", "400", "--seconds", "10", "--json")
    run = subprocess.run(arguments, capture_output=True, timeout=2 * DEADLINE, check=False)
    assert run.returncode == 0, run.stderr.decode()
    result = json.loads(run.stdout)
    assert (result["audit"], result["violations"]) == ("clean", [])
    assert result["released"] + result["withheld"] == result["requests"] == 60 * 16
    entries, contents = [], []
    for group in read_groups(tmp_path / f"parties/{PARTIES[0]}/data/feed.jsonl"):
        entries += [row for row in group["records"] if row["mode"] == "split"]
        contents += [group["contents"]] if "contents" in group else []
    assert entries
    assert {(row["text"], row["category"].count("/")) for row in entries} == {("", 0)}
    (shown,) = contents
    assert any(row["text"] for row in shown["rows"])
    assert 0 < sum(row["records"] for row in shown["rows"]) <= len(entries)


def test_all_three_rungs_of_the_ladder_are_seen(done: tuple[Path, dict[str, Any]]) -> None:
    _, result = done
    for rungs in result["rungs"].values():
        assert min(rungs["text"], rungs["unit"], rungs["category"]) > 0


def test_nothing_personal_in_any_output_of_the_services(done: tuple[Path, dict[str, Any]]) -> None:
    """Texts of the corpus, answers and pseudonyms are searched for in all logs and outputs of both services."""
    folder, _ = done
    printed = "".join(
        (folder / "logs" / f"{name}.{kind}").read_text()
        for name in ("gateway", "main-service")
        for kind in ("out", "err")
    )
    assert printed
    # Texts of three words and more: a single word, "stop" say, is a word of our own log lines too.
    texts = {event.text for event in shipped_events() if event.text.count(" ") >= 2}
    assert len(texts) > 1000
    assert [text for text in texts if text in printed] == []
    assert re.findall(r"px1[a-z2-7]{32}", printed) == []


def test_store_files_of_the_gateway_hold_no_text(done: tuple[Path, dict[str, Any]]) -> None:
    """IS must never learn an utterance: its append-only file is searched for the texts that were published."""
    folder, _ = done
    texts = {
        row["text"].encode()
        for line in (folder / "parties/acme/data/feed.jsonl").read_text().splitlines()
        for row in json.loads(line)["records"]
        if row["text"].count(" ") >= 1
    }
    assert texts
    gateway = b"".join(path.read_bytes() for path in (folder / "gateway/data/store").rglob("*") if path.is_file())
    assert b"main-service" in gateway
    assert [text for text in texts if text in gateway] == []


def test_no_process_is_left(done: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = done
    assert processes_under(folder) == []


def test_last_line(shown: subprocess.Popen[str]) -> None:
    output, errors = shown.communicate(timeout=DEADLINE)
    assert shown.returncode == 0, errors
    last = output.splitlines()[-1]
    assert re.fullmatch(r"demo: \d+ requests, \d+ released, \d+ delivered, \d+ withheld, audit clean", last)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_demo_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        demo(tmp_path, "--people", "20", "--rate", "5"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + DEADLINE
        while sum(line.split()[-2:] == ["--follow", "--json"] for line in python_processes(tmp_path)) < len(PARTIES):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(number)
        status = process.wait(DEADLINE)
    assert status == (-signal.SIGKILL if number is signal.SIGKILL else 128 + number)
    assert wait_until_gone(tmp_path) == []


def test_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert subprocess.run(demo(tmp_path), capture_output=True, timeout=DEADLINE, check=False).returncode == 2
