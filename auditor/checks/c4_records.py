"""What waits, or would have (checks 4 to 6 of DESIGN 10.4): what was asked, by whom, for whom, as it is read."""

from auditor.checks.c3_links import People
from auditor.checks.c4_pipeline import Pipeline
from auditor.checks.c6_objected import Objected
from auditor.checks.c6_service import ServiceConsents
from auditor.checks.c7_withheld import Asked
from auditor.event_log import check_of
from auditor.findings import COMMITS, CONSENT, Report
from auditor.policies import Policies
from auditor.skew import epoch_skew
from proxid.errors import CommitMismatchError, GroupMismatchError
from proxid.evidence.events import BufferedPayload, Event
from proxid.protocol.request import ANSWERED, Utterance


class Records:
    """Compares a record with the request that it comes of."""

    def __init__(
        self, policies: Policies, people: People, consents: ServiceConsents, objected: Objected, report: Report
    ) -> None:
        self._policies = policies
        self._people = people
        self._consents = consents
        self._objected = objected
        self._report = report
        classifier = policies.trust.classifier
        self._pipeline = None if classifier is None else Pipeline(classifier)

    def verify(self, event: Event, payload: BufferedPayload, received: Asked | None) -> None:
        """Check one.

        Args:
            received: what is known of the request; None if it cannot be read.

        Raises:
            CommitMismatchError: another utterance than was asked, or another reading of it. ConsentError: its person
                allowed that to nobody. GroupMismatchError: another person, epoch, season or pipeline.
        """
        self._report.checked[COMMITS] += 1
        self._report.believe_beside("times")
        with check_of(COMMITS):
            commit = Utterance.from_opening(payload.opening).commit
            if received is not None and received.commit != commit:
                raise CommitMismatchError("buffered utterance does not open the request's commit")
            if self._pipeline is not None and not self._pipeline.verify(payload):
                self._report.counts["pipeline.unknown"] += 1
        if (event.fields["session"], event.fields.get("kind", "general")) != (payload.session.hex(), payload.kind):
            raise GroupMismatchError("record is of another request, or of another kind, than the event says")
        if received is not None and received.prox_id != payload.prox_id:
            raise GroupMismatchError("record is buffered for another person than asked")
        # What would have waited in a slot says its epoch by the request alone.
        epoch = int(str(event.fields.get("epoch", 0 if received is None else received.epoch)))
        judge = self._policies.of(epoch)
        with check_of(CONSENT):
            self._consents.verify_audience(event, payload, judge)
        person = self._people.of_prox(payload.prox_id)
        if received is not None:
            self._objected.waits(event, person.prox_id, epoch, payload.session.hex(), received.time_ms)
        skew = epoch_skew(self._policies, epoch)
        if received is not None and abs(payload.time_ms - received.time_ms) > 1000 * (skew + ANSWERED):
            raise GroupMismatchError("record is of another time than the request")
        if person.epoch != epoch:
            raise GroupMismatchError("record waits in another epoch than its person's")
        if judge is not None and judge.pipeline not in ("", payload.pipeline):
            raise GroupMismatchError("record was made by another pipeline than the policy demands")
        if payload.seasoned != person.seasoned and not self._people.lost.has_two(person.prox_id):
            raise GroupMismatchError("record counts as seasoned otherwise than its credential says")
