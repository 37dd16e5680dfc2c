"""The main job with real processes, stores and keys, in both forms of a release."""

import html
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
from proxid.clients.subscriber.kept import read_groups
from tests.support.processes import processes_under, wait_until_gone

DEADLINE = 300
ASKING = 40
"""People of the default demo."""


def python_processes(folder: Path) -> list[str]:
    """Without those that `setpriv` has not become yet: the kernel does not tie them to their parent before."""
    return [line for line in processes_under(folder) if "setpriv" not in line]


def demo(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "proxid.cli.main", "demo", "--dir", str(folder), *arguments]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    """A demo of pairs for people to read, which runs beside the other: both wait more than they work."""
    few = ("--form", "pairs", "--people", "20", "--rate", "100", "--seconds", "8")
    arguments = demo(tmp_path_factory.mktemp("shown"), *few)
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        yield run
        run.kill()


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, shown: subprocess.Popen[str]) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("demo")
    run = subprocess.run(
        demo(folder, "--people", str(ASKING), "--rate", "400", "--json"),
        capture_output=True,
        timeout=DEADLINE,
        check=False,
    )
    assert run.returncode == 0, run.stderr.decode()
    return folder, json.loads(run.stdout)


def test_every_request_is_accounted_for_and_the_audit_is_clean(done: tuple[Path, dict[str, Any]]) -> None:
    _, result = done
    assert (result["audit"], result["violations"]) == ("clean", [])
    assert result["requests"] == ASKING * 16
    assert result["released"] + result["withheld"] == result["requests"]
    assert sum(result["withheld_by_reason"].values()) + result["waiting"] == result["withheld"]
    # All bundles but `nothing` allow all three parties, and it ends when nothing is left that will be released.
    assert result["pending"] == 0
    assert 0 < result["delivered"] == 3 * result["released"]
    for kinds in result["kinds"].values():
        assert 3 * sum(kinds.values()) == result["delivered"]


def test_who_asked_is_shown_apart_from_what(done: tuple[Path, dict[str, Any]]) -> None:
    """The default: entries at the ticks of an epoch that ends within the demo, contents at its close."""
    folder, _ = done
    for party in PARTIES:
        entries, contents = [], []
        for group in read_groups(folder / f"parties/{party}/data/feed.jsonl"):
            entries += [row for row in group["records"] if row["mode"] == "split"]
            contents += [group["contents"]] if "contents" in group else []
        assert entries
        assert {(row["text"], row["category"].count("/")) for row in entries} == {("", 0)}
        (shown,) = contents
        assert any(row["text"] for row in shown["rows"]) and not all(row["text"] for row in shown["rows"])
        assert 0 < sum(row["records"] for row in shown["rows"]) <= len(entries)


def test_it_ends_with_what_each_knew_of_one_request(done: tuple[Path, dict[str, Any]]) -> None:
    folder, result = done
    who, said, _, _, _, apart = result["one_request"]
    _, device, gateway, service, party, auditor = who
    assert device == gateway == party == auditor and service.startswith("pseudonym px1")
    assert said[1] == said[3] == said[5] != "–" and said[2] == said[4] == "–"
    assert apart[4].endswith("by nobody")
    page = (folder / "demo.html").read_text()
    assert 'href="report.html#short"' in page and said[1].strip("“”") in html.unescape(page)
    assert 'id="short"' in (folder / "report.html").read_text()


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
        for group in read_groups(folder / "parties/acme/data/feed.jsonl")
        for row in group.get("contents", {"rows": []})["rows"]
        if row["text"].count(" ") >= 1
    }
    assert texts
    gateway = b"".join(path.read_bytes() for path in (folder / "gateway/data/store").rglob("*") if path.is_file())
    assert b"main-service" in gateway
    assert [text for text in texts if text in gateway] == []


def test_no_process_is_left(done: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = done
    assert processes_under(folder) == []


def test_last_line_of_pairs(shown: subprocess.Popen[str]) -> None:
    output, errors = shown.communicate(timeout=DEADLINE)
    assert shown.returncode == 0, errors
    assert "what each party knew of one request" in output
    last = output.splitlines()[-1]
    found = re.fullmatch(r"demo: (\d+) requests, (\d+) released, (\d+) delivered, \d+ withheld, audit clean", last)
    assert found is not None
    assert 0 < 3 * int(found[2]) == int(found[3]) <= 3 * int(found[1])


@pytest.mark.parametrize(
    "number",
    [pytest.param(signal.SIGINT, marks=pytest.mark.slow), pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
     signal.SIGKILL],
)  # fmt: skip
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
