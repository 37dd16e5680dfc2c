"""The closed list of log lines and of the fields they may have.

What is not listed cannot be logged: a raw text, identity or key that slips into an event's name or into a field is
dropped with it. `tests/unit/runtime/test_observability.py` compares the list with the calls in the source.
"""

import re
from typing import Any, Final

EVENTS: Final = frozenset(
    {
        "AOF rewrite was not started",
        "allow-list changed",
        "allow-list kept",
        "an erasure waits",
        "audited",
        "background task ended",
        "no common policy",
        "older policy counts again",
        "policy counts later",
        "policy waits",
        "classifier failed",
        "departures wait",
        "revocations wait",
        "a revocation does not hold",
        "clock doubted",
        "clock relied on again",
        "clocks are not compared",
        "consent not renewed",
        "evidence cannot be written",
        "evidence is damaged",
        "evidence is written again",
        "evidence was not looked at",
        "evidence keys are missing",
        "evidence waits for the store",
        "failed",
        "group refused",
        "promise refused",
        "group withheld",
        "heads wait for the store",
        "heads were not exchanged",
        "library message",
        "notice refused",
        "receipts wait",
        "record not made",
        "refused",
        "refusals are not recorded",
        "release refused",
        "erasures wait",
        "expiry waits for an epoch",
        "expiry waits for the store",
        "releases interrupted",
        "releases resumed",
        "responder failed",
        "serving",
        "session stays open until the store is back",
        "stopped",
        "store died",
        "the main service is owed something",
        "the other service was not heard",
        "store does not start",
        "store is back",
        "uncaught",
        "upstream gave no answer",
        "worker died",
        "worker started",
    }
)
UNLISTED: Final = "unlisted event"

_NUMBER: Final = (int, float, bool, type(None))
_WORD: Final = re.compile(r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$")
_ADDRESS: Final = re.compile(r"^[A-Za-z0-9.:\[\]-]{1,80}$")
_DIGEST: Final = re.compile(r"^[0-9a-f]{0,64}$")
_TRACE: Final = re.compile(r"^(?:[A-Za-z0-9_.<>-]{1,80}:\d{1,7}(?: < )?){0,4}$")

FIELDS: Final[dict[str, re.Pattern[str] | None]] = {
    "address": _ADDRESS,
    "code": _WORD,
    "epoch": None,
    "error_type": _WORD,
    "group": None,
    "kind": _WORD,
    "leaf": None,
    "level": _WORD,
    "library": _WORD,
    "lost": None,
    "method": _WORD,
    "offered": _DIGEST,
    "peers": None,
    "people": None,
    "pid": None,
    "policy": _DIGEST,
    "reason": _WORD,
    "service": _WORD,
    "status": None,
    "timestamp": re.compile(r"^[0-9TZ:.+-]{10,40}$"),
    "where": _TRACE,
    "worker": None,
}
"""Field → the form its text must have; None: numbers only."""


def keep_listed(event: dict[str, Any]) -> dict[str, Any]:
    """The event with what is listed, and nothing else."""
    name = event.get("event")
    kept: dict[str, Any] = {"event": name if isinstance(name, str) and name in EVENTS else UNLISTED}
    kept.update((field, value) for field, value in event.items() if field in FIELDS and _fits(FIELDS[field], value))
    return kept


def _fits(form: re.Pattern[str] | None, value: object) -> bool:
    if isinstance(value, _NUMBER):
        return True
    return form is not None and isinstance(value, str) and form.match(value) is not None
