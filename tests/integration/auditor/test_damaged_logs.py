"""A log with damaged leaves: the rest is audited, nobody is accused, nothing is clean, admitted or not."""

import asyncio
import itertools
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import Report, Verdict
from auditor.reading.manifest import write_manifest
from proxid.cli.main import main
from proxid.errors import EvidenceUnreadableError, LogDamagedError
from proxid.evidence.events import EventType
from proxid.evidence.leaf import LeafHeader
from proxid.runtime.evidence_log.places import Places, locate
from proxid.runtime.evidence_log.scrub import Scrubber
from proxid.runtime.evidence_log.segments import read_leaves
from tests.support.trial import Trial, running

ROLES = ["gateway", "main-service"]


def last_segment(trial: Trial, role: str) -> Path:
    return sorted((trial.folder / role / "data/evidence/segments").iterdir())[-1]


def place(trial: Trial, role: str, kind: EventType, name: str) -> tuple[int, Path, int]:
    """Number, file and offset of the data of the second leaf of a type."""
    folder = last_segment(trial, role)
    places = locate(folder, int(folder.name))
    leaves = read_leaves(folder.parent, 1, max(places.leaves) + 1)
    number = [n for n, leaf in enumerate(leaves, 1) if LeafHeader.decode(leaf.header).type is kind][1]
    return number, folder / name, _records(places, name)[number].begin


def _records(places: Places, name: str) -> dict[int, Any]:
    return places.leaves if name == "leaves" else places.parts


def flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


KINDS = {
    "gateway": (EventType.LINKED, EventType.FORWARDED, EventType.CONSENT, EventType.DELIVERED),
    "main-service": (EventType.RECEIVED, EventType.BUFFERED, EventType.RELEASED),
}


@pytest.mark.parametrize("role", ["gateway", pytest.param("main-service", marks=pytest.mark.slow)])
async def test_damage_is_unchecked_whatever_it_hides(tmp_path: Path, role: str) -> None:
    """One byte of each file and kind after the other; what was damaged is whole again before the next."""
    async with running(tmp_path) as trial:
        await trial.busy(2)
        before = await trial.audit()
        for kind, name, shift in itertools.product(KINDS[role], ("leaves", "parts"), (2, 20)):
            number, path, at = place(trial, role, kind, name)
            flip(path, at + shift)
            await _stays_unchecked(trial, number, before)
            flip(path, at + shift)
            shutil.rmtree(trial.config("auditor").data_dir / "audit")
        assert (await trial.audit()).verdict is Verdict.CLEAN


async def _stays_unchecked(trial: Trial, number: int, before: Report) -> None:
    report = await trial.audit()
    assert (report.verdict, report.violations) == (Verdict.UNCHECKED, [])
    assert any(f"leaf {number}" in reason.text for reason in report.reasons)
    assert report.counts["leaves.damaged"] == 1 and report.counts["leaves.admitted"] == 0
    # The audit goes on with the rest, behind it too.
    for log in ROLES:
        assert report.scope.logs[log].size >= before.scope.logs[log].size
    assert sum(report.checked.values()) > 0.7 * sum(before.checked.values())
    # An audit that goes on from this one is not clean either.
    assert (await trial.audit(state=True)).verdict is Verdict.UNCHECKED
    again = await trial.audit(state=True)
    assert (again.verdict, again.violations) == (Verdict.UNCHECKED, [])


@pytest.mark.parametrize("name", ["leaves", "parts"])
@pytest.mark.parametrize("role", ROLES)
async def test_admitted_damage_goes_on_and_stays_unchecked(
    tmp_path: Path, role: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await trial.audit()
        await trial.halt(role)
        kind = EventType.FORWARDED if role == "gateway" else EventType.RECEIVED
        number, path, at = place(trial, role, kind, name)
        flip(path, at + 2)
        size = path.stat().st_size
        with pytest.raises(LogDamagedError, match=rf"{name}: leaf {number} .*--leaves {number} --reason"):
            await trial.serve(role)
        assert path.stat().st_size == size
        config = ["--config", str(tmp_path / role / f"{role}.toml"), "--reason", "disk"]
        # What is whole cannot be admitted: damage is no cover.
        assert await asyncio.to_thread(main, ["mend", "damaged", *config, "--leaves", str(number - 1)]) == 2
        assert await asyncio.to_thread(main, ["mend", "damaged", *config, "--leaves", str(number)]) == 0
        await trial.serve(role)
        await trial.ask("node9 question")
        await trial.settle()
        for state in (False, True, True):
            report = await trial.audit(state=state)
            assert (report.verdict, report.violations) == (Verdict.UNCHECKED, [])
            assert any(f"leaves {number} are damaged, as the service admits (disk)" in r.text for r in report.reasons)
            assert report.counts["leaves.admitted"] == 1
        # It starts again, says it once, and the export says the same.
        await trial.halt(role)
        await trial.serve(role)
        report = await trial.audit()
        assert report.counts[f"{role}.DAMAGED"] == 1
        assert path.stat().st_size > size
        auditor = str(tmp_path / "auditor/auditor.toml")
        folder = str(tmp_path / "export")
        assert await asyncio.to_thread(main, ["audit", "--config", auditor, "--export", folder]) == 0
        capsys.readouterr()
        from_folder = ["audit", "--config", auditor, "--from", folder, "--no-pipeline", "--no-state"]
        assert await asyncio.to_thread(main, from_folder) == 2
        assert f"leaves {number} are damaged" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["leaves", "parts"])
async def test_damage_that_is_not_admitted_for_a_week_is_a_violation_until_it_is(tmp_path: Path, name: str) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        number, path, at = place(trial, "gateway", EventType.FORWARDED, name)
        flip(path, at + 2)
        for days, verdict in ((0, Verdict.UNCHECKED), (6, Verdict.UNCHECKED), (2, Verdict.VIOLATION)):
            trial.clocks["device"].passed += days * 86_400  # the audit's, too
            report = await trial.audit(state=True)
            assert report.verdict is verdict
        assert [(v.rule, v.event) for v in report.violations] == [(2, number)]
        assert (await trial.audit()).verdict is Verdict.UNCHECKED  # which has only just seen it
        await trial.halt("gateway")
        config = ["--config", str(tmp_path / "gateway/gateway.toml"), "--reason", "disk", "--leaves", str(number)]
        assert await asyncio.to_thread(main, ["mend", "damaged", *config]) == 0
        await trial.serve("gateway")
        report = await trial.audit(state=True)
        assert (report.verdict, report.violations) == (Verdict.UNCHECKED, [])


async def test_a_changed_leaf_stays_a_violation_beside_a_damaged_one(tmp_path: Path) -> None:
    """Whoever admits damage does not get away with a history that is another."""
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await trial.audit(state=True)
        _, path, at = place(trial, "gateway", EventType.FORWARDED, "leaves")
        flip(path, at + 20)
        folder = tmp_path / "export"
        auditor = str(tmp_path / "auditor/auditor.toml")
        assert await asyncio.to_thread(main, ["audit", "--config", auditor, "--export", str(folder)]) == 0
        leaves = bytearray((folder / "gateway/leaves").read_bytes())
        leaves[40] ^= 1
        (folder / "gateway/leaves").write_bytes(leaves)
        write_manifest(folder)
        from_folder = ["audit", "--config", auditor, "--from", str(folder), "--no-pipeline", "--no-state"]
        assert await asyncio.to_thread(main, from_folder) == 1


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("part", ["tree/0", "tree/1", "tree/3", "index", "checkpoint"])
async def test_what_is_derived_rots_while_the_service_runs(tmp_path: Path, role: str, part: str) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await trial.settle()  # an event that is still on its way would write another head
        await trial.audit(state=True)
        evidence = trial.folder / role / "data/evidence"
        path = last_segment(trial, role) / "index" if part == "index" else evidence / part
        flip(path, 20)
        if part == "checkpoint":
            # A head that is damaged shows nothing; the next event writes another, and so does the scrubber when it
            # comes by, which may be just now.
            try:
                assert (await trial.audit(state=True)).verdict is Verdict.CLEAN
            except EvidenceUnreadableError as error:
                assert "log_damaged" in str(error)
            await trial.ask("node5 question")
            await trial.settle()
        report = await trial.audit(state=True)
        assert report.verdict is Verdict.CLEAN
        await trial.halt(role)
        await trial.serve(role)
        assert (await trial.audit()).verdict is Verdict.CLEAN


async def test_what_is_cosigned_and_rots_accuses_nobody(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        command = ["-m", "proxid.cli.main", "witness", "--config", str(tmp_path / "witness/witness.toml"), "--once"]
        process = await asyncio.create_subprocess_exec(sys.executable, *command)
        assert await process.wait() == 0
        assert (await trial.audit(witness=True)).verdict is Verdict.CLEAN
        cosigned = trial.folder / "gateway/data/evidence/cosigned"
        for note in filter(Path.is_file, cosigned.rglob("*")):  # the newest, and each day's
            flip(note, 5)
        report = await trial.audit(witness=True)
        assert (report.verdict, report.violations) == (Verdict.UNCHECKED, [])


@pytest.mark.parametrize("name", ["leaves", "parts"])
async def test_the_scrubber_names_what_is_damaged(tmp_path: Path, name: str) -> None:
    from tests.unit.runtime.evidence_log.test_damage import flip as flip_bit
    from tests.unit.runtime.evidence_log.test_log import fill

    log = fill(tmp_path / "log", 21, segment_bytes=1_200)
    scrubber = Scrubber(log)
    assert await scrubber.step() == set()
    first, *_, last = sorted((tmp_path / "log/segments").iterdir())
    flip_bit(first / name, 20)
    flip_bit(last / name, 20)
    flip_bit(first / "index", 3)
    flip_bit(tmp_path / "log/tree/0", 3)
    flip_bit(tmp_path / "log/checkpoint", 3)
    found = await scrubber.step()
    assert {(item.leaf, item.file) for item in found} == {(1, name), (int(last.name), name)}
    flip_bit(first / name, 20)
    flip_bit(last / name, 20)
    assert await scrubber.step() == set()
    log.close()
    # Index, tree and head are as they were: the log opens, and every leaf is read.
    fill(tmp_path / "log", 22).close()
