"""Exports of assistants' histories, written after the fields that they have, and what was said in each."""

import csv
import io
import json
from typing import Any

SEARCH = "https://www.google.com/search?q="
GOOGLE: list[dict[str, Any]] = [
    {"title": "Said what's the weather in berlin", "titleUrl": f"{SEARCH}weather", "time": "2018-04-16T11:42:52.739Z"},
    {"title": "Asked Gemini why is the sky blue", "header": "Gemini Apps", "time": "2024-04-16T11:42:52Z"},
    {"title": "Prompted  two\nlines", "header": "Gemini Apps", "time": "2024-04-16T11:42:53.123456Z",
     "safeHtmlItem": [{"html": "<p>an answer</p>"}]},
    {"title": "Eingegebener Prompt: Wie spät ist es in Tokio?", "header": "Gemini-Apps",
     "time": "2024-04-16T13:42:54+02:00"},
    {"title": "Etwas mit einem Verb, das niemand kennt", "titleUrl": f"{SEARCH}z%C3%BCrich+bahnhof",
     "time": "2020-01-02 03:04:05 UTC", "locationInfos": [{"name": "From your home"}]},
]  # fmt: skip
"""English and German, with a time in each of five forms."""
SAID_TO_GOOGLE = [
    ("what's the weather in berlin", "2018-04-16T11:42:52.739000Z"),
    ("zürich bahnhof", "2020-01-02T03:04:05Z"),
    ("why is the sky blue", "2024-04-16T11:42:52Z"),
    ("two lines", "2024-04-16T11:42:53.123456Z"),
    ("Wie spät ist es in Tokio?", "2024-04-16T11:42:54Z"),
]
ALEXA_COLUMNS = [
    "Currently Playing Song", "Screen Contents", "Contact Name", "Utterance text", "Utterance Creation Date",
]  # fmt: skip
WHEN = "2024-08-21T13:53:36.929Z"
ALEXA = [
    ("alexa, what's the weather", WHEN),
    ("Echo play jazz", "2024-08-21T13:53:37Z"),
    ("amazon prime costs what", "2024-08-21T13:53:38+00:00"),
    ("alexandria in egypt", "2024-08-21 13:53:39"),
    ("wie wird das wetter, sagt \"bernd\"", "2024-08-21 13:53:40 UTC"),
]  # fmt: skip
"""Two languages, with a time in each of five forms."""
MISSING = ("", "Not Available", "Data Not Available", "Not Applicable", "n/a")
"""What stands for no utterance."""
MARK = b"\xef\xbb\xbf"


def google_export(records: list[Any]) -> bytes:
    """The bytes of a MyActivity.json."""
    common = {"products": ["Assistant"], "header": "Assistant"}
    return json.dumps([common | record if isinstance(record, dict) else record for record in records]).encode()


def alexa_export(rows: list[tuple[str, str]], columns: list[str] | None = None) -> bytes:
    """The bytes of an Intent-2-1.csv with these utterances and times."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns or ALEXA_COLUMNS)
    writer.writerows(("Not Available", "N/A", "Bob", *row) for row in rows)
    return MARK + out.getvalue().encode()
