"""An auditor's desk: two trials that ran, and copies to make mistakes with."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from auditor.reading.manifest import write_manifest
from tests.support.trial import run_command, running

FOREIGN, STATE, UNREADABLE = "evidence_foreign", "audit_state_damaged", "evidence_unreadable"


def two_trials(here: Path, there: Path) -> dict[str, Path]:
    """Two trials that ran for an evening, each with an export; nobody serves any more."""
    folders = {"here": here, "there": there}

    async def evening(folder: Path) -> None:
        async with running(folder) as trial:
            await trial.busy(1)
            config = str(folder / "auditor/auditor.toml")
            assert await run_command("audit", "--config", config, "--export", str(folder / "export")) == 0

    for folder in folders.values():
        asyncio.run(evening(folder))
    return folders


class Desk:
    """An auditor's desk: copies of its own folder and of an export, to make mistakes with."""

    def __init__(self, folder: Path, trials: dict[str, Path], capfd: pytest.CaptureFixture[str]) -> None:
        self.trials, self._capfd = trials, capfd
        self.auditor, self.export = folder / "auditor", folder / "export"
        shutil.copytree(trials["here"] / "auditor", self.auditor)
        shutil.copytree(trials["here"] / "export", self.export)
        self.error = ""

    def exported(self) -> None:
        """Take what lies in the export now for what was exported: then the services showed it so."""
        write_manifest(self.export)

    def run(self, *more: str, config: Path | None = None) -> tuple[int, str]:
        """Exit status and output of an audit of the export."""
        self._capfd.readouterr()
        path = config or self.auditor / "auditor.toml"
        status = asyncio.run(
            run_command("audit", "--config", str(path), "--from", str(self.export), "--no-pipeline", *more)
        )
        out, self.error = self._capfd.readouterr()
        return status, out

    def audit(self, *more: str, config: Path | None = None) -> tuple[int, Any]:
        """Exit status and JSON report."""
        status, out = self.run(*more, "--json", config=config)
        return status, json.loads(out.splitlines()[-1])

    def unchecked(self, *more: str, config: Path | None = None) -> Any:
        """Why it could not be checked: the one reason."""
        status, report = self.audit(*more, config=config)
        assert (status, report["verdict"], report["violations"]) == (2, "unchecked", [])
        (reason,) = report["unchecked"]
        return reason


def flipped(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
