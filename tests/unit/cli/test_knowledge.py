"""What the demo says each party knew: nobody's column holds what that party must not know."""

from typing import Any

import pytest

from proxid.cli.demo.knowledge import NOTHING, Known, Told

ASKED = Known(
    "ann", "px1abc", 36_000.0, 2051, "what is new in brazil", ("news", "world"), ("new in brazil",), "general"
)
ROW = {"user": "ann", "category": "news", "text": "", "time": "1970-01-01T06:00:00Z", "mode": "split"}


@pytest.mark.parametrize(
    ("row", "contents", "beside"),
    [
        (ROW, {"text": "new in brazil", "records": 7}, "“new in brazil”, 7 times, by nobody"),
        (ROW, None, NOTHING),
        (
            ROW | {"mode": "mix", "user": "bob", "text": "new in brazil"},
            None,
            "“new in brazil”, beside the name of bob",
        ),
        (ROW | {"mode": "mix", "user": "bob"}, None, "no text, beside the name of bob"),
    ],
    ids=["split", "split without a text", "pairs", "pairs without a text"],
)
def test_a_column_holds_what_its_party_knew(row: dict[str, Any], contents: dict[str, Any] | None, beside: str) -> None:
    rows = Told(ASKED, "acme", row, contents).rows()
    _, gateway, service, party = ([cell[i] for cell in rows] for i in range(1, 5))
    assert gateway == ["ann", NOTHING, NOTHING, "10:00:00", "2051", NOTHING]
    assert not any("ann" in cell for cell in service) and ASKED.said in service[1]
    assert ASKED.said not in " ".join(party) and party[-1] == beside
    assert (party[0] == "ann") == (row["mode"] == "split")
