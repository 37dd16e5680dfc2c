"""What an audit takes at a service's word, by which row of docs/adr/0023; and what nothing names, with the reason.

Each is a pattern of a mutation's name (`LOG/EVENT/FIELD/HOW`, and the event behind where two changed places, or the
last one of its session where one was left out). The first that fits counts. docs/evidence.md has the same list.
"""

import re
from typing import Any, Final

ROWS: Final[tuple[tuple[str, str], ...]] = (
    (r"main-service/REFUSED/header\.rule/", "turned_away"),
    (r"gateway/REFUSED/", "turned_away"),
    (r"main-service/SUPPRESSED/header\.reason/enum-(rejected|no_category|unprocessable|classifier_failed|no_place|no_shape)",
     "texts"),
    (r"main-service/SUPPRESSED/header\.kind/", "texts"),
    (r"gateway/ANSWERED/payload\.original\.blocks\[[23]\]/", "answers"),
    (r"gateway/ANSWERED/payload\.original\.header\.(nonce|time_ms)/", "answers"),
    (r"main-service/EPOCH_OPENED/payload\.feeds\[\]\.sealed/", "seals"),
    (r"main-service/.*/header\.(time|close)/(more|less|other-)", "times"),
    (r"main-service/EPOCH_OPENED/payload\.time_ms/(more|less)", "times"),
    (r"main-service/(BUFFERED|SUPPRESSED)/payload\.time_ms/", "times"),
    (r"gateway/NOTICED/event/left out", "notices"),
    (r".*/event/told after the next ", "order"),
)  # fmt: skip
"""Rows of the report. `order` is counted where requests are taken up otherwise than they came; of two neighbours that
rest on nothing of each other either order is an honest one."""

_LIST: Final = (
    "order and repetitions of a list of names say nothing, and one that is left out where it is empty says the same"
)
NAMED: Final[tuple[tuple[str, str], ...]] = (
    (r"gateway/.*/header\.(feeds|notices|forgotten|tags|dropped|removed|untold)/(turned|the first|abs)", _LIST),
    (r"gateway/.*/header\.entries/turned", _LIST),
    (r".*/payload\.(feeds|disclosed\.owner_salts)/(turned|the first twice)", _LIST),
    (r"gateway/ERASED/header\.feeds", "EPOCH_OPENED says it of the same feeds"),
    (r"gateway/(OBJECTED/header\.person|ERASED/header\.tombstone)/", "a name under a key of the gateway's, for itself"),
    (r"gateway/LINKED/payload\.part/", "it was drawn, and nobody has an alias of it"),
    (r".*/EXPIRED/header\.(count|until)/", "it is old enough to have expired, gone or not"),
    (r"gateway/EXPIRED/event/", "how many groups of before left the feeds is counted alone"),
    (r".*/header\.v/(absent|less)", "an entry of an earlier version says less; what that leaves open is `unchecked`"),
    (r"main-service/REFUSED/event/told twice", "a request that was refused twice was refused"),
    (r"main-service/REFUSED/header\.v/more", "the gateway's have come to say a third form"),
    (r"gateway/UNREACHED/event/told twice", "what is tried twice may not arrive twice"),
    (r"gateway/ERASED/header\.(dropped|removed)", "DROPPED and DELIVERED say it"),
    (r"gateway/(EXPIRED/header\.first|OBJECTED/header\.last)/absent", "an entry of an earlier version says less"),
    (r"gateway/EXPIRED/header\.first/less", "nobody was linked in that epoch"),
    (r"gateway/UNREACHED/event/left out", "it was tried again, received and answered; else that counts as turned away"),
    (r"gateway/ALIASED/event/told twice", "it says the same again, as once a period's record of it has ended"),
    (r"gateway/LINKED/event/left out", "nothing was done under it"),
    (r"main-service/ERASED/event/told twice", "a main service that is asked twice forgets twice"),
    (r"main-service/EXPIRED/event/told twice", "a main service that is killed before it is gone says so again"),
    (r"main-service/RAISED/event/left out WITHDRAWN", "moved up or not, it was taken back, and nothing of it left"),
    (r"main-service/(SUPPRESSED/header\.pipeline|EPOCH_OPENED/header\.held)/absent",
     "an entry of an earlier version says less"),
    (r"gateway/ENROLLED/header\.time/", "who is enrolled first has no key before, which would be over since then"),
    (r"gateway/DROPPED/header\.reason/", "whoever objects has both: the drop was due"),
)  # fmt: skip
"""What ends clean and is no row."""


def believed_as(mutation: Any) -> str:
    """The row; empty if there is none."""
    return _first(ROWS, mutation)


def reason_of(mutation: Any) -> str:
    """Why nothing names it; empty if it must be found."""
    return _first(NAMED, mutation)


def _first(table: tuple[tuple[str, str], ...], mutation: Any) -> str:
    name = f"{mutation.name} {mutation.beside}".rstrip()
    return next((said for pattern, said in table if re.match(pattern, name)), "")
