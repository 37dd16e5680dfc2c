"""What an audit believes of the main service's own clock is counted (docs/adr/0041), and nothing that is computed."""

import json
from typing import Any

import pytest

from proxid.evidence.events import Event, EventType, encode_header
from tests.unit.auditor.test_epochs import BUCKET, EPOCHS, Told, ticked
from tests.unit.auditor.test_expired_events import gone, service

SESSION, EPOCH = "11" * 64, 10


def waited(event_type: EventType, **said: Any) -> Event:
    """An event of what waited in an epoch that cannot be read any more."""
    return Event(1, event_type, bytes(16), encode_header(epoch=EPOCH, session=SESSION, **said), b"")


@pytest.mark.parametrize(
    ("event", "believed"),
    [
        (waited(EventType.RAISED, source=["a", "b"], target=["a"], time="864010.5"), 1),
        (waited(EventType.RAISED, kind="location", source=["a", "b"], target=["a"], close="864010.5"), 1),
        (waited(EventType.SUPPRESSED, reason="expired", time="864010.5"), 1),
        (waited(EventType.SUPPRESSED, reason="epoch_end", time="864010.5"), 0),
        (waited(EventType.SUPPRESSED, kind="location", reason="too_few", close="864010.5"), 1),
        (waited(EventType.RELEASED, kind="location", group=1, audience="location|acme:alias", close="864010.5"), 1),
    ],
    ids=lambda value: json.dumps(value.fields) if isinstance(value, Event) else "",
)
def test_each_time_of_what_waits_is_counted_that_the_replay_does_not_give(event: Event, believed: int) -> None:
    opened = gone(1, EventType.EPOCH_OPENED, encode_header(epoch=EPOCH))
    waits = gone(2, EventType.BUFFERED, encode_header(epoch=EPOCH, session=SESSION))
    _, report = service(opened, waits, event)
    assert report.believed.get("times", 0) == believed
    assert report.resting(5)["believed"] == 0  # that it moved, and which, was computed


def test_so_is_each_time_of_an_epoch() -> None:
    told = Told().opened(EPOCH)
    ticked(told, 1, EPOCHS.start(EPOCH) + BUCKET)
    told.closed(EPOCH)
    told.times.verify_received(EPOCH + 1, EPOCHS.end(EPOCH) * 1000)  # a device's
    assert told.report.believed == {"times": 3}
