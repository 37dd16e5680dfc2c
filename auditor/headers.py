"""What a header may say (check 7 of DESIGN 10.4): the fields of its type in their forms, and nothing else, as headers
stay for ever.

Whatever else stands there is kept when its person is erased, for whoever reads the log: a name in the place of a
party's, what was asked in the place of a word, spaces between the digits of a hash, a number written in another way. A
later release may say more, so that is unchecked, like a form that is not known. So is a payload where the type has
none: it is under nobody's key.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from auditor.checks.c7_reasons import ACCESS, CHANGED, OVER, RECORDS, TEXTS, TOLD
from auditor.findings import GATEWAY, MAIN_SERVICE
from auditor.trust import Trust
from proxid.anonymise.mix.types import Reason
from proxid.anonymise.slotted.types import SlotReason
from proxid.anonymise.split.types import SplitReason
from proxid.errors import EncodingError
from proxid.evidence.events import Event, EventType, encode_header
from proxid.protocol.consent import TYPES, parse_audience
from proxid.protocol.record import kind_and_number

IsParty = Callable[[str], bool]
_Form = Callable[[object, IsParty], bool]
_E: Final = EventType


class Documents(Protocol):
    """`auditor.policies.Policies`, as far as they name parties."""

    @property
    def trust(self) -> Trust: ...
    @property
    def named(self) -> Mapping[int, bytes]: ...
    def parties_of(self, epoch: int) -> tuple[str, ...]: ...


def _ways(*texts: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(text.split()) for text in texts)


_BOTH: Final = {
    _E.EXPIRED: _ways("first kind until", "count kind"),
    _E.DAMAGED: _ways("first last reason"),
    _E.SUCCEEDED: _ways("head held store"),
}
_FIELDS: Final[dict[str, dict[EventType, tuple[frozenset[str], ...]]]] = {
    GATEWAY: _BOTH | {
        _E.ENROLLED: _ways("time v"),
        _E.REVOKED: _ways("statement time"),
        _E.LINKED: _ways("epoch owner"),
        _E.KEYED: _ways("commitment party period"),
        _E.ALIASED: _ways("party"),
        _E.CONSENT: _ways("epoch message phase version"),
        _E.FORWARDED: _ways("session"),
        _E.ANSWERED: _ways("session"),
        _E.SENT: _ways("epoch group party", "audience epoch group party", "audience entries epoch group party"),
        _E.DELIVERED: _ways("ack epoch group party v"),
        _E.DROPPED: _ways(
            "epoch group party reason", "audience epoch group party reason time",
            "audience entries epoch group left party reason",
        ),
        _E.UNREACHED: _ways("session v"),
        _E.REFUSED: _ways("count kind limit minute rule sessions v", "rule session"),
        _E.ERASED: _ways("dropped feeds forgotten last notices removed request tags tombstone untold v"),
        _E.OBJECTED: _ways("last notices person request right v"),
        _E.ACCESSED: _ways("request v"),
        _E.NOTICED: _ways("notice party"),
        _E.EPOCH_OPENED: _ways("commitment epoch feeds last policy"),
    },
    MAIN_SERVICE: _BOTH | {
        _E.EPOCH_OPENED: _ways("commitment epoch held opening policy time"),
        _E.EPOCH_CLOSED: _ways("believed epoch opening time v"),
        _E.CONSENT: _ways("epoch message version"),
        _E.RECEIVED: _ways("session"),
        _E.REFUSED: _ways("rule session v"),
        _E.BUFFERED: _ways("epoch kind session"),
        _E.RAISED: _ways("epoch session source target time", "close epoch kind session source target"),
        _E.RELEASED: _ways(
            "audience epoch group node raised", "audience close epoch group kind node",
            "audience epoch group kind tick",
        ),
        _E.TICKED: _ways("epoch tick time"),
        _E.BATCHED: _ways("audience digest epoch group rounds withheld"),
        _E.SUPPRESSED: _ways(
            "kind pipeline reason session v", "epoch kind reason session v", "epoch reason session time",
            "close epoch kind reason session", "epoch reason session tick",
        ),
        _E.WITHDRAWN: _ways("epoch kind session", "epoch left session"),
        _E.RESTRICTED: _ways("begins word"),
        _E.ERASED: _ways("tag"),
    },
}  # fmt: skip
_BARE: Final = {
    GATEWAY: frozenset({_E.SENT, _E.DROPPED, _E.UNREACHED, *_BOTH}),
    MAIN_SERVICE: frozenset(
        {_E.EPOCH_CLOSED, _E.REFUSED, _E.RAISED, _E.TICKED, _E.BATCHED, _E.WITHDRAWN, _E.ERASED, *_BOTH}
    ),
}
"""Types without a payload."""
_UNORDERED: Final = frozenset({_E.SENT, _E.DROPPED, _E.EXPIRED})
"""Types whose fields the gateway's store writes, in whichever order."""
_OF_GROUPS: Final = {
    "entries": _ways("audience entries epoch group left party reason", "audience epoch group kind tick"),
    "contents": _ways("audience epoch group party reason time"),
}
"""What is said of portions and contents; of groups `_OF_OTHERS`, and of those in slots more."""
_OF_OTHERS: Final = _ways("epoch group party reason", "audience epoch group node raised")
_OF_SLOTS: Final = _ways("audience close epoch group kind node")
_KINDS: Final = frozenset({"general", "location", "command", "unknown"})
_REASONS: Final = frozenset(
    {*TEXTS, *RECORDS, *TOLD, ACCESS, OVER, CHANGED, "no_consent", "unseasoned", "place_budget", "restriction"}
    | {*Reason, *SlotReason, *SplitReason}
)
_LIMITED: Final = frozenset({"requests", "consents", "links", "rights", "acknowledgements"})
"""What the gateway turns people and parties away for too much of."""
_MOST: Final = 2**53
_LONGEST: Final = 32
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")
_HEX: Final = re.compile(r"([0-9a-f]{2})*")
_VERSION: Final = re.compile(r"[A-Za-z0-9+._/-]{1,100}")
_ROUNDS: Final = re.compile(r"[^:]+:((0|[1-9][0-9]*)(,[1-9][0-9]*)*)?:(0|[1-9][0-9]*)")
_SESSION: Final = re.compile(r"[0-9a-f]{128}")


def says_more(log: str, event: Event, is_party: IsParty) -> bool:
    """Whether an event holds something of which this auditor does not know what it says, or says it in another form.

    Args:
        is_party: whether a name is that of a party.
    """
    fields = event.fields
    if event.type in _BARE[log] and event.tags:
        return True
    if not any(fields.keys() <= names for names in _FIELDS[log].get(event.type, ())):
        return True
    return not (_is_of_its_kind(event) and _is_written_once(event) and _all_in_form(event, is_party))


def parties_of(policies: Documents) -> IsParty:
    """Whether a name is that of a party: one whose keys are known, or that the document of an epoch lists."""

    listed, looked = set[str](), set[int]()

    def is_party(name: str) -> bool:
        if name in policies.trust.party_keys or name in listed:
            return True
        if len(looked) < len(policies.named):  # a document is read once for each epoch that goes by it
            for epoch in policies.named.keys() - looked:
                listed.update(policies.parties_of(epoch))
                looked.add(epoch)
        return name in listed

    return is_party


def _is_of_its_kind(event: Event) -> bool:
    """Whether the fields of an event that is of several kinds of groups, or of requests, are those of its kind."""
    fields, type_ = event.fields, event.type
    if type_ is _E.SUPPRESSED:  # of what never waited, the epoch stands beside what would have
        return not {"v", "epoch"} <= fields.keys() or bool(event.tags)
    if type_ not in (_E.SENT, _E.DROPPED, _E.RELEASED):
        return True
    group = fields.get("group")
    kind = kind_and_number(group)[0] if type(group) is int else ""
    allowed = _OF_GROUPS.get(kind) or (_OF_SLOTS if type_ is _E.RELEASED and kind in TYPES[1:] else _OF_OTHERS)
    return any(fields.keys() <= names for names in allowed)


def _is_written_once(event: Event) -> bool:
    """Whether the bytes of a header are those that a service writes: no spaces, nothing escaped that need not be."""
    data, fields = event.header, event.fields
    if event.type not in _UNORDERED and data == encode_header(**fields):
        return True
    if b"\\/" in data:  # as the stores write it, always or never
        if data.count(b"\\/") != data.count(b"/"):
            return False
        data = data.replace(b"\\/", b"/")
    said = fields if event.type in _UNORDERED else dict(sorted(fields.items()))
    return data in (_compact(said, True), _compact(said, False))


def _compact(fields: Mapping[str, object], ascii_only: bool) -> bytes:
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")


def _all_in_form(event: Event, is_party: IsParty) -> bool:
    own = _OF_TYPE.get(event.type, {})
    return all((own.get(name) or _FORMS[name])(value, is_party) for name, value in event.fields.items())


def _is_whole(value: object, _: IsParty) -> bool:
    return type(value) is int and abs(value) < _MOST


def _is_time(value: object, is_party: IsParty) -> bool:
    """Unix seconds: a whole number, or a text of a float as both languages write it."""
    if not isinstance(value, str):
        return _is_whole(value, is_party)
    if len(value) > _LONGEST or not _NUMBER.fullmatch(value):
        return False
    return value in (repr(float(value)), f"{float(value):.17g}")


def _is_flag(value: object, _: IsParty) -> bool:
    return isinstance(value, bool)


def _is_flag_or_whole(value: object, is_party: IsParty) -> bool:
    return isinstance(value, bool) or _is_whole(value, is_party)


def _is_text(value: object, _: IsParty) -> bool:
    return isinstance(value, str)


def _is_hex(value: object, _: IsParty) -> bool:
    return isinstance(value, str) and _HEX.fullmatch(value) is not None


def _hex(size: int) -> _Form:
    """Lower-case hexadecimal digits of so many bytes."""
    return _matches(re.compile(f"[0-9a-f]{{{2 * size}}}"))


def _word(*words: str) -> _Form:
    known = frozenset(words)
    return lambda value, _: isinstance(value, str) and value in known


def _matches(pattern: re.Pattern[str]) -> _Form:
    return lambda value, _: isinstance(value, str) and pattern.fullmatch(value) is not None


_DIGEST: Final = _hex(32)


def _listed(form: _Form) -> _Form:
    return lambda value, is_party: isinstance(value, list) and all(form(item, is_party) for item in value)


def _is_party(value: object, is_party: IsParty) -> bool:
    return isinstance(value, str) and is_party(value)


def _is_audience(value: object, is_party: IsParty) -> bool:
    """`TYPE|PARTY:FIDELITY,…`"""
    kind, bar, parties = str(value).partition("|")
    try:
        named = parse_audience(parties)
    except EncodingError:
        return False
    return bar == "|" and kind in TYPES and all(is_party(party) for party, _ in named)


def _is_waiting(value: object, is_party: IsParty) -> bool:
    """`PARTY:COUNT`"""
    party, _, count = str(value).rpartition(":")
    return is_party(party) and count.isdecimal() and count == str(int(count))


def _is_notice(value: object, is_party: IsParty) -> bool:
    """`PARTY:DIGEST`"""
    party, _, digest = str(value).rpartition(":")
    return is_party(party) and _DIGEST(digest, is_party)


def _is_delivery(value: object, is_party: IsParty) -> bool:
    """`EPOCH/GROUP/PARTY`"""
    *numbers, party = str(value).split("/", 2)
    return len(numbers) == 2 and is_party(party) and all(n.isdecimal() and n == str(int(n)) for n in numbers)


def _is_last(value: object, is_party: IsParty) -> bool:
    return value == "" or _is_delivery(value, is_party)


_FORMS: Final[dict[str, _Form]] = {
    **dict.fromkeys(
        ("count", "epoch", "first", "group", "held", "limit", "minute", "period", "tick", "until", "v", "version",
         "withheld"), _is_whole,
    ),
    **dict.fromkeys(("time", "close"), _is_time),
    **dict.fromkeys(("begins", "believed"), _is_flag),
    **dict.fromkeys(("left", "raised"), _is_flag_or_whole),
    **dict.fromkeys(("commitment", "owner", "request", "statement", "notice", "digest", "sessions"), _hex(32)),
    "message": _hex(64),
    **dict.fromkeys(("tombstone", "tag"), _hex(16)),
    **dict.fromkeys(("tags", "forgotten", "entries"), _listed(_hex(16))),
    **dict.fromkeys(("dropped", "removed"), _listed(_is_delivery)),
    **dict.fromkeys(("node", "source", "target"), _listed(_is_text)),
    **dict.fromkeys(("head", "rule"), _is_text),
    "ack": _hex(32),
    "audience": _is_audience,
    "feeds": _listed(_is_waiting),
    "kind": _word(*_KINDS),
    "last": _is_last,
    "notices": _listed(_is_notice),
    "opening": _is_hex,
    "party": _is_party,
    "person": _hex(32),
    "phase": _word("received", "acknowledged"),
    "pipeline": _matches(_VERSION),
    "policy": _hex(32),
    "reason": _word(*_REASONS),
    "right": _word("object", "resume"),
    "rounds": _listed(_matches(_ROUNDS)),
    "session": _is_text,  # `names_session` has looked at it
    "store": _word("kept", "lost"),
    "untold": _listed(_is_party),
    "word": _matches(re.compile("([0-9a-f]{64})?")),  # none where the gateway was a release of before
}  # fmt: skip
_OF_TYPE: Final[dict[EventType, dict[str, _Form]]] = {
    _E.EXPIRED: {"kind": _word("payloads", "links", "feeds")},
    _E.RELEASED: {"kind": _word("location", "command", "entries")},
    _E.REFUSED: {"kind": _word(*_LIMITED)},
    _E.DAMAGED: {"last": _is_whole, "reason": _is_text},
    _E.DROPPED: {"reason": _is_text},
}
"""Where a name says something else. A refusal's rule and a drop's reason are looked at where they are counted."""


def names_session(event: Event) -> bool:
    """Whether an event that names a session names it whole: the sets compare half of its hash."""
    session = event.fields.get("session")
    return session is None or (isinstance(session, str) and _SESSION.fullmatch(session) is not None)
