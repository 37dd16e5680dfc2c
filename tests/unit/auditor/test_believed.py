"""What an audit says that it rests on: nothing counts twice, and everything that is believed has a row and words."""

import re
from pathlib import Path
from typing import Any, cast

from auditor.event_log import Log
from auditor.findings import COMPLETENESS, GATEWAY, RECEIPTS, SIGNATURES, Basis, Report
from auditor.report.wording import BELIEVED
from proxid.evidence.events import Event, EventType, encode_header

ROOT = Path(__file__).parents[3]


def test_what_is_not_said_to_rest_on_something_else_was_recomputed() -> None:
    report = Report()
    report.checked[SIGNATURES], report.checked_before[SIGNATURES] = 10, 5
    report.rests(SIGNATURES, Basis.COUNTERSIGNED, 4)
    report.rests(SIGNATURES, Basis.UNREADABLE)
    report.checked[COMPLETENESS] = 3
    report.believe(COMPLETENESS, "texts", 2)
    report.checked[RECEIPTS] = 7
    said = report.as_dict()
    assert said["checks"]["3"] == {"recomputed": 10, "countersigned": 4, "believed": 0, "unreadable": 1}
    assert said["checks"]["7"] == {"recomputed": 1, "countersigned": 0, "believed": 2, "unreadable": 0}
    assert said["checks"]["9"]["countersigned"] == 7 and said["believed"] == {"texts": 2}


def test_every_row_that_is_believed_has_words_and_is_decided() -> None:
    source = "".join(path.read_text() for path in (ROOT / "auditor").rglob("*.py"))
    rows = set(re.findall(r'believe(?:_beside)?\((?:\w+, )?"(\w+)"', source)) | {
        "answers",
        "keys",
        "notices",
        "possibly_held",
    }
    assert rows == BELIEVED.keys()
    decided = (ROOT / "docs/adr/0023-what-an-audit-believes.md").read_text()
    assert set(re.findall(r"^\| `(\w+)` ", decided, re.M)) == rows


def test_whoever_turns_many_away_in_one_entry_turns_many_away() -> None:
    report = Report()
    fields = {"v": 3, "rule": "rate_limited", "kind": "links", "count": 500, "sessions": "00" * 32}
    log = Log(GATEWAY, {}, {}, report, cast(Any, None))
    log._turned_away(Event(1, EventType.REFUSED, bytes(16), encode_header(**fields), b""))  # type: ignore[arg-type]
    assert report.believed == {"turned_away": 500} and report.resting(COMPLETENESS)["believed"] == 1
