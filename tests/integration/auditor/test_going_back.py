"""An operator goes back to the release before, whose entries say less: each audit tells of it, and accuses nobody."""

import asyncio
import dataclasses
import json
from pathlib import Path

import pytest

from auditor.findings import Verdict
from proxid.evidence.events import EventType
from proxid.runtime.evidence_log.encryptor import PlainEvent
from tests.integration.gateway.test_keys_of_people import enrol
from tests.support.lies import GATEWAY, MAIN, PREFIX, Liar, store_of
from tests.support.trial import PEOPLE, running

E = EventType
LESS = {E.ENROLLED: ("v", "time"), E.SUPPRESSED: ("v", "pipeline", "kind")}
"""What the release before did not say."""


def before(event: PlainEvent) -> PlainEvent:
    """An entry as the release before made it."""
    said = json.loads(event.fields)
    kept = {name: value for name, value in said.items() if name not in LESS.get(event.type, ())}
    return dataclasses.replace(event, fields=json.dumps(kept, sort_keys=True, separators=(",", ":")).encode())


@pytest.mark.parametrize("floor", [pytest.param(3, marks=pytest.mark.slow), 0])
async def test_who_goes_back_to_the_release_before_is_told_of_and_not_accused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, floor: int
) -> None:
    async with running(tmp_path) as trial:
        config = trial.folder / "auditor/auditor.toml"
        config.write_text(config.read_text().replace("[floors]", f"[floors]\nrollbacks = {floor}"))
        liar = Liar(trial, monkeypatch)
        back = False
        for role in (GATEWAY, MAIN):
            liar.records(role, lambda events: [before(event) if back else event for event in events])

        async def day(newcomer: str) -> None:
            enrol(trial, newcomer)
            anew = trial.device.open(trial.device._config)
            await anew.session(newcomer)
            await anew.close()
            await trial.consent("everything", PEOPLE[:1])
            await trial.ask("secret question", PEOPLE[:1])
            await trial.settle()
            for role, prefix in PREFIX.items():
                store = await store_of(liar, role)
                while await store.xlen(f"{prefix}:events"):  # noqa: ASYNC110 - until all of it is in the log
                    await asyncio.sleep(0.02)
                await store.aclose()

        await day("anna")
        assert (await trial.audit(state=True)).verdict is Verdict.CLEAN
        back = True
        await day("berta")
        back = False
        await day("clara")
        for kept in (False, True, True):  # from nothing, going on, and going on with nothing new
            report = await trial.audit(state=kept)
            if not floor:
                assert report.verdict is Verdict.VIOLATION
                continue
            assert report.violations == []
            assert {reason.code for reason in report.reasons} == {"evidence_older"}
            assert {reason.log for reason in report.reasons} >= {GATEWAY, MAIN}
            assert sum("earlier release once" in reason.text for reason in report.reasons) == 2
