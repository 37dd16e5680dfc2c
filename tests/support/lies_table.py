"""The table of lies in docs/evidence.md: `python -m tests.support.lies_table` prints it anew."""

import inspect

import tests.integration.auditor.test_tampering  # noqa: F401 - registers all lies
from tests.support.lies import LIES, UNSEEN


def rows() -> list[str]:
    """The lies in order of the check that names them, then those that are rows of the report."""
    found = []
    for item in LIES:
        check, tell = item.values
        hides = ", `unchecked`" if "liar.hides = True" in inspect.getsource(tell) else ""
        found.append((check, _told(tell.__name__), f"{check}{hides}"))
    lines = [f"| {told} | {by} |" for _, told, by in sorted(found)]
    unseen = sorted((_told(item.values[1].__name__), item.values[0]) for item in UNSEEN)
    return [*lines, *(f"| {told} | believed: `{row}` |" for told, row in unseen)]


def table() -> str:
    """The whole table."""
    return "\n".join(["| lie | found by check |", "|---|---|", *rows()]) + "\n"


def _told(name: str) -> str:
    return name.replace("_", " ").replace("screener", "gateway")


if __name__ == "__main__":
    print(table(), end="")
