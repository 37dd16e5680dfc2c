"""What was sent to parties (check 6 of DESIGN 10.4): consent counts when it was SENT, acknowledged or not.

The step that takes something out of a feed asks everybody's consent and records SENT. So nothing is sent to a party
behind the choice that takes it back, by the numbers of the log.
"""

import hashlib
from collections.abc import Mapping
from typing import Final

from auditor.checks.c3_links import People
from auditor.checks.c6_consents import Consents, Standing
from auditor.checks.c7_completeness import Sets
from auditor.checks.c7_entries import Which
from auditor.checks.c8_obligations import Obligations
from auditor.findings import CONSENT, ERASURE, GATEWAY, Report

_SIZE: Final = 16


def name_of_person(prox_id: str) -> bytes:
    """What a PROX_ID is remembered by, 16 bytes."""
    return hashlib.sha256(prox_id.encode()).digest()[:_SIZE]


def names_of(people: bytes) -> list[bytes]:
    """The names of those of a group."""
    return [people[i : i + _SIZE] for i in range(0, len(people), _SIZE)]


def check_sent(
    sets: Sets, consents: Consents, people: People, obligations: Obligations, report: Report
) -> set[Which]:  # fmt: skip
    """Hold what was sent and not delivered against what everybody had chosen then; what was delivered has been.

    Of its person's objections a party is told that was sent an entry which was then cut, and got the rest (check 8).

    Returns:
        what should not have been sent.
    """
    by_name: dict[bytes, str] | None = None
    wrong = set[Which]()
    for sent in sets.sent_only():
        if by_name is None:
            by_name = {name_of_person(prox): prox for prox in consents.standing}
        kind, _, fidelity = sent.grant.partition("|")
        for name in names_of(sent.people):
            if not any(name) or name in people.gone:
                continue  # erased since
            at = consents.standing.get(by_name.get(name, ""), Standing())
            if sent.id and at.user_id:
                obligations.told.was_sent(sent.party, at.user_id, sent.event, _made(obligations, at.user_id))
            allowed = consents.allowed(at, (sent.party, kind, fidelity), sent.event)
            if not allowed or obligations.has_objected(at.user_id, sent.event):
                report.add(CONSENT, GATEWAY, sent.event, "SENT: a party was sent what somebody does not allow it")
                wrong.add(sent.which)
                break
    report.checked[CONSENT] += sets.rows("SELECT COUNT(*) FROM deliveries WHERE sent IS NOT NULL")[0][0]
    return wrong


def tell(
    sets: Sets, people: People, erased: Mapping[bytes, int], obligations: Obligations, report: Report
) -> None:  # fmt: skip
    """Of who objects or is erased, a party is told that was sent records and did not acknowledge them (check 8).

    So is one that was sent a whole portion, of which entries were cut before it acknowledged the others. Whom of the
    erased a portion was sent of that had been cut before, nobody can read. Behind an ERASED nothing of the person is
    sent.

    Args:
        erased: subject tag → number of ERASED.
    """
    for named, sent, tags, acknowledged in sets.filed.sent_to():
        ids = sets.shown.sent_of(named)
        whole = len(ids) == len(tags) if ids else not acknowledged
        names = set() if whole else {one.people for one in sets.entries.among(named, sent, ids)}
        for tag in tags:
            person = people.of_tag(tag)
            if person is not None and (whole or name_of_person(person.prox_id) in names):
                made = _made(obligations, person.user_id)
                obligations.told.was_sent(named[2], person.user_id, sent, made)
            elif whole and tag in erased:
                obligations.told.was_sent(named[2], "", sent, (erased[tag],))
                if sent > erased[tag]:
                    report.add(ERASURE, GATEWAY, sent, "SENT: a party was sent what is of somebody who had been erased")


def _made(obligations: Obligations, user_id: str) -> list[int]:
    """Numbers of a user's objections."""
    return [begun for _, begun, _ in obligations.objections.get(user_id, ())]
