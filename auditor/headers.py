"""What a header may say (check 7 of DESIGN 10.4): the fields of its type, and nothing else, as headers stay for ever.

Whatever else stands there is kept when its person is erased, for whoever reads the log. A later release may say more,
so that is unchecked, like a form that is not known. So is a payload where the type has none: it is under nobody's key.
"""

import re
from typing import Final

from auditor.findings import GATEWAY, MAIN_SERVICE
from proxid.evidence.events import Event, EventType

_E: Final = EventType


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BOTH: Final = {
    _E.EXPIRED: _names("count first kind until"),
    _E.DAMAGED: _names("first last reason"),
    _E.SUCCEEDED: _names("head held store"),
}
_FIELDS: Final[dict[str, dict[EventType, frozenset[str]]]] = {
    GATEWAY: _BOTH | {
        _E.ENROLLED: _names("time v"),
        _E.REVOKED: _names("statement time"),
        _E.LINKED: _names("epoch owner"),
        _E.KEYED: _names("commitment party period"),
        _E.ALIASED: _names("party"),
        _E.CONSENT: _names("epoch message phase version"),
        _E.FORWARDED: _names("session"),
        _E.ANSWERED: _names("session"),
        _E.SENT: _names("audience entries epoch group party"),
        _E.DELIVERED: _names("ack epoch group party v"),
        _E.DROPPED: _names("audience entries epoch group left party reason time"),
        _E.UNREACHED: _names("session v"),
        _E.REFUSED: _names("count kind limit minute rule session sessions v"),
        _E.ERASED: _names("dropped feeds forgotten last notices removed request tags tombstone untold v"),
        _E.OBJECTED: _names("last notices person request right v"),
        _E.ACCESSED: _names("request v"),
        _E.NOTICED: _names("notice party"),
        _E.EPOCH_OPENED: _names("commitment epoch feeds last policy"),
    },
    MAIN_SERVICE: _BOTH | {
        _E.EPOCH_OPENED: _names("commitment epoch held opening policy time"),
        _E.EPOCH_CLOSED: _names("believed epoch opening time v"),
        _E.CONSENT: _names("epoch message version"),
        _E.RECEIVED: _names("session"),
        _E.REFUSED: _names("rule session v"),
        _E.BUFFERED: _names("epoch kind session"),
        _E.RAISED: _names("close epoch kind session source target time"),
        _E.RELEASED: _names("audience close epoch group kind node raised tick"),
        _E.TICKED: _names("epoch tick time"),
        _E.BATCHED: _names("audience digest epoch group rounds withheld"),
        _E.SUPPRESSED: _names("close epoch kind pipeline reason session tick time v"),
        _E.WITHDRAWN: _names("epoch kind left session"),
        _E.RESTRICTED: _names("begins word"),
        _E.ERASED: _names("tag"),
    },
}  # fmt: skip
_BARE: Final = {
    GATEWAY: frozenset({_E.SENT, _E.DROPPED, _E.UNREACHED, *_BOTH}),
    MAIN_SERVICE: frozenset(
        {_E.EPOCH_CLOSED, _E.REFUSED, _E.RAISED, _E.TICKED, _E.BATCHED, _E.WITHDRAWN, _E.ERASED, *_BOTH}
    ),
}
"""Types without a payload."""
_NUMBERS: Final = _names("close count epoch first group left limit minute period tick time until version withheld")
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")
"""What they may be as text, too: no more than a number, also where an event's type has it and nothing rests on it."""
_LONGEST: Final = 32
_SESSION: Final = re.compile(r"[0-9a-f]{128}")


def says_more(log: str, event: Event) -> bool:
    """Whether an event holds something of which this auditor does not know what it says."""
    named, fields = _FIELDS[log].get(event.type, frozenset()), event.fields
    if not fields.keys() <= named or (event.type in _BARE[log] and event.tags):
        return True
    return not all(_is_number(fields[name]) for name in fields.keys() & _NUMBERS)


def _is_number(value: object) -> bool:
    text = str(value)
    if isinstance(value, bool):  # of an entry that had `left`
        return True
    return isinstance(value, int | float | str) and len(text) <= _LONGEST and _NUMBER.fullmatch(text) is not None


def names_session(event: Event) -> bool:
    """Whether an event that names a session names it whole: the sets compare half of its hash."""
    session = event.fields.get("session")
    return session is None or (isinstance(session, str) and _SESSION.fullmatch(session) is not None)
