"""What was withheld for what it said, opened by who asked it: rightly withheld, that accuses nobody."""

from pathlib import Path

from auditor.checks.c9_receipts import Presented
from auditor.findings import Verdict
from proxid.classify import Classification
from proxid.protocol.opened import OpenedRequest
from proxid.protocol.request import Utterance
from tests.support.trial import PEOPLE, FixedClassifier, Trial, running


class Fragile(FixedClassifier):
    """Fails on `broken …`."""

    def classify(self, text: str) -> Classification:
        if text.startswith("broken"):
            raise ValueError(text)
        return super().classify(text)


class Fails(Trial):
    classifier = Fragile()


async def test_what_was_rightly_withheld_and_what_nobody_asked_accuse_nobody(tmp_path: Path) -> None:
    async with running(tmp_path, Fails) as trial:
        await trial.consent()
        own = trial.device.history(PEOPLE[1])
        own.start()
        for text in ("broken question", "secret question", "node1 question"):
            await trial.ask(text, PEOPLE[:2])
        await trial.settle()
        released, withheld, failed = own.asked()
        signed = OpenedRequest.decode(withheld.opening).signed
        other = OpenedRequest(signed, Utterance.new("node1 question", signed.header.time_ms))
        shown = [withheld.opening, failed.opening, released.opening, other.encode(), b"nonsense"]
        report = await trial.audit(receipts=[Presented("opening", b"", one) for one in shown])
    assert report.verdict is Verdict.CLEAN, (report.violations, report.missing)
    assert report.counts["openings.recomputed"] == 2 and report.counts["receipts.unproven"] == 2
    assert report.believed["texts"] == 4 and report.counts["withheld.classifier_failed"] == 2
    assert signed.session_id == withheld.session and withheld.text == "secret question"
