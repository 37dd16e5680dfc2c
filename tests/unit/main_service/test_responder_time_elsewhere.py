"""Time and date of a named place are that place's, or it is said that they are not known: never UTC for elsewhere."""

import asyncio
import datetime

import pytest

from main_service.responder import BuiltInSkills, Context

JANUARY = datetime.datetime(2026, 1, 15, 18, 30, tzinfo=datetime.UTC)
JULY = datetime.datetime(2026, 7, 15, 18, 30, tzinfo=datetime.UTC)


def said(text: str, when: datetime.datetime = JANUARY) -> str:
    return asyncio.run(BuiltInSkills().answer(text, Context(int(when.timestamp() * 1000), "en-US"))).text


@pytest.mark.parametrize(
    ("place", "january", "july"),
    [
        ("tokyo", "03:30", "03:30"), ("london", "18:30", "19:30"), ("new york", "13:30", "14:30"),
        ("boston", "13:30", "14:30"), ("munich", "19:30", "20:30"), ("mumbai", "00:00", "00:00"),
        ("germany", "19:30", "20:30"), ("japan", "03:30", "03:30"), ("sydney", "05:30", "04:30"),
        ("buenos aires", "15:30", "15:30"), ("kathmandu", "00:15", "00:15"), ("california", "10:30", "11:30"),
        ("san francisco", "10:30", "11:30"), ("washington", "13:30", "14:30"), ("beijing", "02:30", "02:30"),
        ("phoenix", "11:30", "11:30"), ("honolulu", "08:30", "08:30"), ("lyon", "19:30", "20:30"),
        ("paris france", "19:30", "20:30"), ("tokyo japan", "03:30", "03:30"), ("chicago illinois", "12:30", "13:30"),
        ("the united kingdom", "18:30", "19:30"), ("england", "18:30", "19:30"), ("utc", "18:30", "18:30"),
        ("são paulo", "15:30", "15:30"),
    ],
)  # fmt: skip
def test_the_time_of_a_known_place_is_its_own(place: str, january: str, july: str) -> None:
    """By the tz database; with summer time where there is one."""
    for phrase in ("what time is it in {}", "what's the time in {}?", "what is the current time in {} right now"):
        for when, expected in ((JANUARY, january), (JULY, july)):
            assert f"It is {expected} in" in said(phrase.format(place), when)


@pytest.mark.parametrize(
    "text",
    [
        "what time is it in middle earth", "what time is it at my mother's place", "what time is it on mars",
        "what time is it here", "what time is it in the united states", "what time is it in russia",
        "what time is it over there", "what's the time in xqzzy", "what day is it in el dorado or so",
        "what is the date in texas", "what time is it for grandma in ohio or so", "tell me what time is it in nowhere",
    ],
)  # fmt: skip
def test_a_place_without_one_known_time_is_said(text: str) -> None:
    """Unknown places, and known ones with several time zones: no time is given."""
    answer = said(text)
    assert "UTC" not in answer and ":" not in answer and "know" in answer


def test_day_and_date_are_the_place_s_too() -> None:
    late = datetime.datetime(2026, 1, 15, 23, 30, tzinfo=datetime.UTC)
    assert said("what day is it in tokyo", late) == "It is Friday in Tokyo."
    assert said("what's the date in auckland", late) == "It is Friday, 16 January 2026 in Auckland."
    assert said("what day is it today in london", late) == "It is Thursday in London."


def test_without_a_place_it_is_utc_and_says_so() -> None:
    for text in ("what time is it", "what time is it now", "what's the time", "what time is it please"):
        assert said(text) == "It is 18:30 UTC."
    assert said("what day is it") == "It is Thursday."
    assert said("what day is it today") == "It is Thursday."
