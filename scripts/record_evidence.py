"""Record a short honest day of an earlier release, for today's auditor to judge (`tests/vectors/releases`).

    .venv/bin/python scripts/record_evidence.py COMMIT FORM

FORM is that of its releases, `pairs` or `split`. The services, the household, the parties and the auditor that exports
it are those of COMMIT, checked out into a folder of its own, which is removed at the end; the keys are made for it and
protect nothing. What is needed of that release's tests are `tests.support.trial` and `tests.support.split_house`.
"""

import asyncio
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tests.support.split_house import House

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "tests/vectors/releases"
FORMS: Final[dict[str, dict[str, Any]]] = {
    "pairs": {"form": "pairs", "sybil_margin": 0},
    "split": {"form": "split", "sybil_margin": 0, "level": 2, "min_text_users": 1, "bucket": "1 d"},
}
PEOPLE: Final = ("person-0", "person-1", "person-2")
STAYS, WITHDRAWS, GOES = PEOPLE
_NOT_READ: Final = {"tls.csr", "public.toml", "lock"}
_DAY: Final = "--day"


async def day(trial: "House", folder: Path) -> None:
    """A day and the morning of the next one; halfway the auditor of that release looks, and keeps what it knows."""
    from proxid.protocol.rights import Right

    await trial.consent(people=PEOPLE)
    await trial.ask("news of today", PEOPLE)
    await trial.settle()
    await trial.receive("acme")
    await trial.device.consent(WITHDRAWS, "nothing")
    await trial.exercise(Right.OBJECT, STAYS)
    await trial.ask("health of today", (STAYS,))
    await trial.settle()
    await trial.exercise(Right.RESUME, STAYS)
    await trial.ask("travel of today", (GOES,))
    await trial.settle()
    await export(trial, folder / "halfway")
    await command(trial, "audit", "--from", str(folder / "halfway"), "--no-pipeline", "--json")
    await trial.exercise(Right.ERASE, GOES)
    await trial.close()
    await trial.receive()
    await next_morning(trial)
    await trial.device.consent(STAYS, "everything")
    await trial.ask("news of tomorrow", (STAYS,))
    await trial.settle()
    await trial.exercise(Right.OBJECT, STAYS)
    await trial.ask("travel of tomorrow", (STAYS,))
    await trial.settle()
    await export(trial, folder / "export")


async def next_morning(trial: "House") -> None:
    """Until both services have heard that the next day has begun."""
    from proxid.errors import EpochError, RefusedError

    async with asyncio.timeout(60):
        while True:
            try:
                await trial.device._fetch_route()
                return
            except (EpochError, RefusedError):
                await asyncio.sleep(0.1)


async def command(trial: "House", name: str, *arguments: str) -> None:
    """A `proxid` command of the auditor's, which must accuse nobody; raises SystemExit."""
    from tests.support.trial import run_command

    if await run_command(name, "--config", str(trial.folder / "auditor/auditor.toml"), *arguments) == 1:
        raise SystemExit(f"proxid {name} of that release accuses somebody")


async def export(trial: "House", target: Path) -> None:
    """What the auditor exports, at the time that it is for the services."""
    import auditor.reading.export as exporting

    exporting.time = SimpleNamespace(time=trial.clocks["device"].wall)  # type: ignore[assignment]
    await command(trial, "audit", "--export", str(target))


async def record(folder: Path, form: str) -> None:
    """Fill a folder with what the auditor of that release had, and what it said."""
    from tests.support.split_house import House
    from tests.support.trial import running

    source = folder / "trial"
    async with running(source, House, people=PEOPLE, anonymiser=FORMS[form], epoch_seconds=86_400) as trial:
        await day(trial, folder)
        report, now = await trial.audit(), trial.clocks["device"].wall()
    if report.violations:
        raise SystemExit(f"the audit of that release accuses somebody: {report.as_dict()}")
    shutil.move(source / "auditor", folder / "auditor")
    for path in [*(source / "devices").rglob("receipts.jsonl"), *(source / "parties").rglob("acknowledgements.jsonl")]:
        kept = folder / "receipts" / path.relative_to(source)
        kept.parent.mkdir(parents=True)
        shutil.copy(path, kept)
    (folder / "said.json").write_text(json.dumps({"time": now, "report": report.as_dict()}), "utf-8")
    shutil.rmtree(source)
    shutil.rmtree(folder / "halfway")


def pack(folder: Path, target: Path) -> None:
    """One file, of nobody in particular."""
    with tarfile.open(target, "w:xz", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name not in _NOT_READ:
                info, data = tarfile.TarInfo(path.relative_to(folder).as_posix()), path.read_bytes()
                info.size, info.mtime, info.mode = len(data), int(path.stat().st_mtime), 0o600
                archive.addfile(info, io.BytesIO(data))


def main(commit: str, form: str) -> None:
    """Record a release, in a process that runs its code; raises CalledProcessError."""
    git = ["git", "-C", str(ROOT)]
    short = subprocess.check_output([*git, "rev-parse", "--short=8", commit], text=True).strip()
    with tempfile.TemporaryDirectory() as name:
        code, folder = Path(name) / "code", Path(name) / "recorded"
        folder.mkdir()
        subprocess.check_call([*git, "worktree", "add", "--quiet", "--detach", str(code), short])
        try:
            call = [sys.executable, __file__, _DAY, str(folder), form]
            subprocess.check_call(call, env={**os.environ, "PYTHONPATH": str(code)}, cwd=code)
        finally:
            subprocess.check_call([*git, "worktree", "remove", "--force", str(code)])
        pack(folder, FOLDER / f"{short}-{form}.tar.xz")


if __name__ == "__main__":
    if sys.argv[1] == _DAY:
        asyncio.run(record(Path(sys.argv[2]), sys.argv[3]))
    else:
        main(sys.argv[1], sys.argv[2])
