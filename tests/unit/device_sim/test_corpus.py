"""Files of utterances, the shipped people, and what the simulator makes of them."""

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from device_sim.corpus import Event, read_events, shipped_events
from device_sim.simulate import Simulation
from proxid.errors import InputError

PLANTED = "zebulon quux"


def test_shipped_people() -> None:
    """Issue 2 (6): at least 3,000 utterances, at least 100 people."""
    events = shipped_events()
    assert len(events) >= 3000
    people = Counter(event.user for event in events)
    assert len(people) >= 100
    assert all(event.text and event.scenario for event in events)


def test_massive_layout_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "massive.tsv"
    path.write_text(
        "id\tuserid\tpartition\tscenario\tintent\ttext\tannotation\n0\t1\ttest\talarm\talarm_set\twake me\tx\n"
    )
    (event,) = read_events(path)
    assert (event.user, event.text, event.scenario, event.time) == ("1", "wake me", "alarm", None)


def test_jsonl_times_places_consents_and_compression(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.gz"
    rows = [
        {"user": "ann", "query": "cafe\u0301", "time": "2026-01-02T03:04:05Z", "location": "1,2"},
        {"user": "ann", "consent": "nothing", "time": 1767323046},
    ]
    path.write_bytes(gzip.compress("\n".join(json.dumps(row) for row in rows).encode()))
    ask, consent = read_events(path)
    assert (ask.text, ask.location, ask.time) == ("caf\u00e9", "1,2", 1767323045.0)
    assert (consent.consent, consent.time) == ("nothing", 1767323046.0)


def test_aol_layout(tmp_path: Path) -> None:
    path = tmp_path / "aol.tsv"
    path.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n7\tfoo\t2006-03-01 07:17:12\t\t\n")
    (event,) = read_events(path)
    assert (event.user, event.text, event.time) == ("7", "foo", 1141197432.0)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", f'{{"user": "a", "text": "x"}}\n{{"user": "{PLANTED}"'),
        ("a.jsonl", f'{{"user": "a", "text": "x"}}\n["{PLANTED}"]'),
        ("a.jsonl", f'{{"user": "a", "text": "x"}}\n{{"text": "{PLANTED}"}}'),
        ("a.jsonl", f'{{"user": "a", "text": "x"}}\n{{"user": "a", "text": "x", "time": "{PLANTED}"}}'),
        ("a.tsv", f"userid\ttext\n{PLANTED}\n"),
        ("a.tsv", f"who\ttext\na\t{PLANTED}\n"),
    ],
)
def test_bad_line_is_named_and_not_quoted(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=r"line [12]") as caught:
        list(read_events(path))
    assert PLANTED not in caught.value.rule


def test_unreadable_file(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"\xff")
    for path in (tmp_path / "x.jsonl", tmp_path / "none.tsv"):
        with pytest.raises(InputError):
            list(read_events(path))


def test_event_shows_no_text() -> None:
    assert PLANTED not in repr(Event(PLANTED, PLANTED))


def test_simulation_repeats_texts_across_people_from_a_seed() -> None:
    corpus = shipped_events()
    events = Simulation(seed=3, people=120).events(corpus)
    assert events == Simulation(seed=3, people=120).events(corpus)
    assert events != Simulation(seed=4, people=120).events(corpus)
    issuers, places = defaultdict(set), defaultdict(set)
    for event in events:
        issuers[event.text].add(event.user)
        places[event.user].add(event.location)
    assert len(places) == 120
    assert all(len(found) == 1 and "" not in found for found in places.values())
    # Each person draws 6 of the 12 pool texts: 60 ± 5.5 people a text; 30 is 5 deviations away.
    assert sum(len(people) >= 30 for people in issuers.values()) == 12
