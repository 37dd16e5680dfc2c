"""Bad input: nothing raises, nothing leaks, time is linear, other languages are rejected."""

import random
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.classify import load_default
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.text import MAX_CHARS, clean

PHONE = "six one seven five five five oh one two three"
HIDDEN = ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u0301"]
FOREIGN = (
    "wie wird das wetter morgen in berlin",
    "quelle heure est il a paris maintenant",
    "quién es el presidente de francia",
    "stel een wekker in voor zeven uur morgenochtend",
    "qual è la capitale della germania",
    "jaka jutro będzie pogoda",
    "qual a previsão do tempo para amanhã",
    "yarın hava nasıl olacak söyler misin",
    "привет как дела",
    "今日の天気は",
    "مرحبا كيف حالك",
    "vad blir det för väder i morgon",
    "milyen idő lesz holnap budapesten",
)
ENGLISH = (
    "play some jazz",
    "call xiaoming and oluwaseun",
    "what does schadenfreude mean",
    "order pad thai",
    "hello",
    "yes",
)


@pytest.mark.parametrize("mark", HIDDEN)
def test_invisible_characters_do_not_hide_an_identifier(mark: str) -> None:
    text = "my number is " + mark.join(PHONE) + " call me"
    found = load_default().classify(text)
    assert found.masked is None or "<PHONE>" in found.masked


@pytest.mark.parametrize(
    "text",
    [
        "mail jоhn.smith@gmаil.cоm now",
        "my ssn is １２３-４５-６７８９",
        "call ٦١٧ ٥٥٥ ٠١٢٣ please",
        "my ssn is 123‑45‑6789",
    ],
    ids=["cyrillic letters", "full-width digits", "arabic digits", "odd hyphens"],
)
def test_look_alikes_are_seen_through(text: str) -> None:
    found = load_default().classify(text)
    assert found.masked is None or "<" in found.masked
    assert found.masked is None or not any(part in found.masked for part in ("@", "617", "6789"))


@pytest.mark.parametrize("text", FOREIGN)
def test_other_languages_are_rejected(text: str) -> None:
    found = load_default().classify(text)
    assert found.type is None
    assert found.masked is None


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_not_rejected_as_foreign(text: str) -> None:
    assert load_default().classify(text).masked is not None


@pytest.mark.parametrize("numbers", [" ".join(map(str, range(500))), " ".join(["seven"] * 500), "1" * 500])
def test_five_hundred_numbers(numbers: str) -> None:
    masked = load_default().classify("remember " + numbers).masked
    assert masked is None or len(masked) < 60


@pytest.mark.parametrize("text", ["a" * 100_000, "call me " * 12_500, "\u202e" * 100_000, "@" * 100_000, "\x00" * 50])
def test_long_and_odd_texts_are_withheld(text: str) -> None:
    assert load_default().classify(text).masked is None


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=" abcdefghijklmnopqrstuvwxyz0123456789@.-_/:+()'#,\u200b\u0430", max_size=400))
def test_spans_are_ascending_and_inside(text: str) -> None:
    cleaned = clean(text)
    if cleaned is None:
        return
    spans = load_default().understood(Utterance.of(cleaned)).spans
    assert all(0 <= s.start < s.end <= len(cleaned.shown) for s in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]),
        min_size=7,
        max_size=20,
    ),
    st.sampled_from(["call {}", "my number is {} thanks", "{}", "text {} that i am late"]),
)
def test_no_spoken_number_of_seven_digits_gets_through(digits: list[str], frame: str) -> None:
    masked = load_default().classify(frame.format(" ".join(digits))).masked
    assert masked is None or " ".join(digits[:7]) not in masked


@pytest.mark.parametrize(
    "piece", ["call john at five five five one two ", "a@b.c dot com at ", "1 2 3-", "12 main st. apt 4 "]
)
def test_time_grows_no_faster_than_length(piece: str) -> None:
    """Processor time of a text and of one eight times as long; quadratic time would be a ratio of 64, we allow 24."""
    pipeline = load_default()
    short, long = piece * (MAX_CHARS // 8 // len(piece)), piece * (MAX_CHARS // len(piece))

    def seconds(text: str) -> float:
        best = float("inf")
        for _ in range(5):
            start = time.thread_time()
            pipeline.classify(text)
            best = min(best, time.thread_time() - start)
        return best

    assert seconds(long) < 24 * max(seconds(short), 2e-4)


def test_noise_never_raises() -> None:
    rng = random.Random(4)
    for _ in range(300):
        text = "".join(
            chr(rng.choice([rng.randrange(32, 127), rng.randrange(0x2FFF), 0x1F600])) for _ in range(rng.randrange(80))
        )
        load_default().classify(text)
