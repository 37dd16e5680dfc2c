"""Prometheus metrics (DESIGN 16): labels come from closed lists, so that none can carry data.

Several workers write to files in one folder (`PROMETHEUS_MULTIPROC_DIR`, set by the parent before they start), and
the parent serves their sum.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector

from proxid.errors import Code
from proxid.runtime.addresses import unusable

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
    "proxid_waiting_work", "What is still to be done: requests to be classified, events to be encrypted.", ["job"],
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


CLOCK_DOUBTED: Final = Gauge(
    "proxid_clock_doubted", "1 while the service cannot rely on its clock: no epoch begins, ends or expires.",
    multiprocess_mode="mostrecent",
)  # fmt: skip


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


def set_backlog(party: str, groups: int) -> None:
    """How many groups a party has not acknowledged; `party` must be a configured name."""
    BACKLOG.labels(party).set(groups)


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


@contextmanager
def metrics_endpoint(address: str | None) -> Iterator[int | None]:
    """Serve `/metrics` at HOST:PORT while the block runs; yields the port, None without an address.

    Raises:
        ConfigError: the address cannot be bound.
    """
    if address is None:
        yield None
        return
    host, _, port = address.rpartition(":")
    try:
        server, thread = start_http_server(int(port), host.strip("[]"), _registry())
    except OSError as error:
        raise unusable("metrics_listen", address, error) from None
    try:
        yield int(server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _registry() -> CollectorRegistry:
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder is None:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
    return registry
