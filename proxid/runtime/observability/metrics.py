"""Prometheus metrics (DESIGN 16): labels come from closed lists, so that none can carry data.

Several workers write to files in one folder (`PROMETHEUS_MULTIPROC_DIR`, set by the parent before they start), and
the parent serves their sum (`endpoint.py`).
"""

from functools import cache
from typing import Final

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

from proxid.errors import Code

disable_created_metrics()  # type: ignore[no-untyped-call]  # a series more for each, that no rule reads

FOLDER_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
OK: Final = "ok"
GONE: Final = "caller_gone"
"""Code of a call whose caller went away before it was answered."""
_CODES: Final = frozenset(code.value for code in Code) | {OK, GONE}
TYPES: Final = frozenset({"general", "location", "command", "unknown"})
REASONS: Final = frozenset({
    "access", "capped", "classifier_failed", "consent_changed", "epoch_end", "epoch_over", "erased", "expired",
    "no_category", "no_consent", "no_place", "no_shape", "place_budget", "rejected", "repeated", "restricted",
    "restriction", "slot_quota", "tick_uniform", "too_few", "unprocessable", "unseasoned",
})  # fmt: skip
"""Why the Main Service withholds a record."""
OTHER: Final = "other"
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

CALLS: Final = Counter("proxid_calls", "Calls served, by method and result code.", ["method", "code"])
CALL_SECONDS: Final = Histogram("proxid_call_seconds", "Duration of a call.", ["method"], buckets=_SECONDS)

RESPONDER_CALLS: Final = Counter("proxid_responder_calls", "Questions for the upstream, by outcome.", ["outcome"])
RESPONDER_SECONDS: Final = Histogram("proxid_responder_seconds", "Duration of a question.", buckets=_SECONDS)

AGENT_DROPPED: Final = Counter("proxid_agent_dropped", "What assistants sent and proxid does not carry.", ["kind"])

# Of several workers one keeps the gauges, another one after it died: the newest value counts.
WAITING: Final = Gauge(
    "proxid_waiting_people", "People with a record that waits for its group, by type.", ["type"],
    multiprocess_mode="mostrecent",
)  # fmt: skip
WITHHELD: Final = Gauge(
    "proxid_withheld_records", "Records withheld since the store was made, by type and reason.", ["type", "reason"],
    multiprocess_mode="mostrecent",
)  # fmt: skip
BACKLOG: Final = Gauge(
    "proxid_feed_backlog_groups", "Groups in a party's feed that it has not acknowledged.", ["party"],
    multiprocess_mode="mostrecent",
)  # fmt: skip
WORK: Final = Gauge(
    "proxid_waiting_work", "What is still to be done: requests to be classified, events to be encrypted.", ["kind"],
    multiprocess_mode="mostrecent",
)  # fmt: skip

DAMAGED: Final = Gauge(
    "proxid_damaged_leaves", "Entries of the service's own log that its files do not hold any more.",
    multiprocess_mode="mostrecent",
)  # fmt: skip

UNHEARD: Final = Gauge(
    "proxid_peer_unheard", "1 if it serves and has not compared signed heads with the other service since its start.",
    multiprocess_mode="mostrecent",
)  # fmt: skip

BEHIND: Final = Gauge(
    "proxid_policy_behind", "1 if the epoch goes by an older policy because this side does not hold the newest one.",
    ["side"], multiprocess_mode="mostrecent",
)  # fmt: skip


def set_policy_behind(side: str, behind: bool) -> None:
    """Whether a side, `gateway` or `main-service`, keeps the epoch at an older policy."""
    BEHIND.labels(side).set(int(behind))


READY: Final = Gauge(
    "proxid_ready", "Processes that take requests; 0 while starting, ending or not fit.", multiprocess_mode="livesum"
)
STORE_AWAY: Final = Gauge(
    "proxid_store_away", "1 while the service's own store cannot be read or written.", multiprocess_mode="mostrecent"
)
LOG_BLOCKED: Final = Gauge(
    "proxid_log_blocked", "1 while the service's own log cannot be written: nothing new is taken.",
    multiprocess_mode="mostrecent",
)  # fmt: skip
LOG_ENTRIES: Final = Gauge(
    "proxid_log_entries", "Entries of the log that is written to.", multiprocess_mode="mostrecent"
)
COSIGNED: Final = Gauge(
    "proxid_log_cosigned_timestamp_seconds", "When a witness cosigned the log last, since the start.",
    multiprocess_mode="mostrecent",
)  # fmt: skip
NOTICES: Final = Gauge(
    "proxid_due_notices", "Notices of people's rights that a party should have and has not acknowledged.", ["party"],
    multiprocess_mode="mostrecent",
)  # fmt: skip
OPEN_EPOCHS: Final = Gauge(
    "proxid_open_epochs", "Epochs whose secrets exist: today's, and any that has not been closed yet.",
    multiprocess_mode="mostrecent",
)  # fmt: skip
OLDEST_EPOCH: Final = Gauge(
    "proxid_oldest_open_epoch_end_timestamp_seconds", "When the oldest open epoch ends or ended; 0 if none is open.",
    multiprocess_mode="mostrecent",
)  # fmt: skip
AUDITED: Final = Gauge("proxid_audit_end_timestamp_seconds", "When the last audit of this process ended.")
AUDIT_STATUS: Final = Gauge(
    "proxid_audit_status", "Exit status of the last audit: 0 nothing was found, 1 a violation, 2 it could not be done."
)

CLOCK_DOUBTED: Final = Gauge(
    "proxid_clock_doubted", "1 while the service cannot rely on its clock: no epoch begins, ends or expires.",
    multiprocess_mode="mostrecent",
)  # fmt: skip


def set_ready(ready: bool) -> None:
    """Whether this process takes requests."""
    READY.set(int(ready))


def set_store_away(away: bool) -> None:
    """Whether the service's own store cannot be read."""
    STORE_AWAY.set(int(away))


def set_log(entries: int, blocked: bool) -> None:
    """How long the log is that is written to, and whether it cannot be written."""
    LOG_ENTRIES.set(entries)
    LOG_BLOCKED.set(int(blocked))


def set_cosigned(seconds: float) -> None:
    """At which Unix second a witness cosigned the log."""
    COSIGNED.set(seconds)


def set_open_epochs(count: int, oldest_end: float) -> None:
    """How many epochs are open, and when the oldest of them ends, Unix seconds."""
    OPEN_EPOCHS.set(count)
    OLDEST_EPOCH.set(oldest_end)


def set_audited(status: int, seconds: float) -> None:
    """With which exit status an audit ended, and when."""
    AUDIT_STATUS.set(status)
    AUDITED.set(seconds)


def set_unclassified(requests: int) -> None:
    """How many answered requests wait to be classified."""
    WORK.labels("classification").set(requests)


def set_events_waiting(events: int) -> None:
    """How many events a service's store holds that are not in its log yet."""
    WORK.labels("evidence").set(events)


def set_damaged(leaves: int) -> None:
    """How many leaves of a service's log are damaged."""
    DAMAGED.set(leaves)


def set_clock_doubted(doubted: bool) -> None:
    """Whether the service cannot rely on its clock."""
    CLOCK_DOUBTED.set(int(doubted))


def set_unheard(unheard: bool) -> None:
    """Whether the other service was away when this one started, and still is."""
    UNHEARD.set(int(unheard))


def set_waiting(kind: str, people: int) -> None:
    """How many people wait with a record of a type."""
    WAITING.labels(kind if kind in TYPES else OTHER).set(people)


def set_withheld(kind: str, reason: str, records: int) -> None:
    """How many records of a type were withheld for a reason so far."""
    WITHHELD.labels(kind if kind in TYPES else OTHER, reason if reason in REASONS else OTHER).set(records)


def set_backlog(party: str, groups: int, notices: int) -> None:
    """How many groups, and due notices, a party has not acknowledged; `party` must be a configured name."""
    BACKLOG.labels(party).set(groups)
    NOTICES.labels(party).set(notices)


def observe_call(method: str, code: str, seconds: float) -> None:
    """Count one call.

    Args:
        method: name of the servicer's method, a constant of the source. code: `ok`, `caller_gone` or a code of
            `proxid.errors`; anything else counts as `internal`.
    """
    calls, durations = _measured(method, code if code in _CODES else Code.INTERNAL.value)
    calls.inc()
    durations.observe(seconds)


@cache
def _measured(method: str, code: str) -> tuple[Counter, Histogram]:
    """Looking a child up by its labels costs more than counting."""
    return CALLS.labels(method, code), CALL_SECONDS.labels(method)
