"""HTML that reads aloud and prints: tables with caption and header cells, text that is always escaped."""

import html
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

STYLE: Final = """
:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.25rem;margin-top:2.2rem}h3{font-size:1.05rem;margin-top:1.4rem}
table{border-collapse:collapse;width:100%;margin:.5rem 0 1rem}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{border:1px solid #767676;padding:.3rem .6rem;text-align:left;vertical-align:top;overflow-wrap:break-word}
th[scope=row]{font-weight:500}
td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code{font-size:.9em}code.long{overflow-wrap:anywhere}
dt{font-weight:600}dd{margin:0 0 .5rem 1.5rem}
.verdict{border:2px solid;padding:.6rem 1rem;font-size:1.2rem;font-weight:600}
@page{size:A4;margin:16mm}
@media print{:root{color-scheme:light}body{max-width:none;margin:0;padding:0;font-size:9.5pt}nav{display:none}
a{color:inherit;text-decoration:none}th,td{padding:.15rem .35rem}h2{margin-top:1.2rem}
h2,h3,caption,dt{break-after:avoid}table,tr,li,dd,.verdict{break-inside:avoid}table.long{break-inside:auto}thead{display:table-header-group}}
"""

_LONG: Final = 20
"""Letters of a key that is never broken, and rows of a table that prints on one page; longer ones may be."""


class Section(NamedTuple):
    """A part of the page under a heading of its own, which the contents link to by its name."""

    name: str
    title: str
    body: "Html"

    @property
    def html(self) -> "Html":
        """With its heading."""
        heading = f'<h2 id="{self.name}">{escape(self.title)}</h2>'
        return Html(f'<section aria-labelledby="{self.name}">{heading}{self.body}</section>')


class Html(str):
    """Text that is HTML already; everything else is escaped."""

    __slots__ = ()


def escape(value: object) -> Html:
    """Text, or a number with separators, as HTML."""
    if isinstance(value, Html):
        return value
    return Html(f"{value:,}" if isinstance(value, int) else html.escape(str(value)))


def code(value: str) -> Html:
    """A key or a hash, not to be translated."""
    long = ' class="long"' if len(value) > _LONG else ""
    return Html(f'<code translate="no"{long}>{html.escape(value)}</code>')


def worded(text: str, key: str) -> Html:
    """Words with the raw key beside them."""
    return Html(f"{escape(text)} {code(key)}")


def paragraph(*texts: object) -> Html:
    """One paragraph of some sentences."""
    return Html(f"<p>{' '.join(escape(text) for text in texts)}</p>")


def items(texts: Iterable[object]) -> Html:
    """A list."""
    return Html(f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>")


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Html:
    """A table whose first column heads its rows; a sentence if it has none."""
    lines = [f"<tr>{_row(row)}</tr>" for row in rows]
    if not lines:
        return paragraph(f"{caption}: none.")
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    long = ' class="long"' if len(lines) > _LONG else ""
    inner = f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return Html(f"<table{long}>{inner}</table>")


def _row(row: Sequence[object]) -> str:
    first, *rest = row
    cells = [f'<th scope="row">{escape(first)}</th>']
    cells += [f'<td class="n">{escape(c)}</td>' if isinstance(c, int) else f"<td>{escape(c)}</td>" for c in rest]
    return "".join(cells)


def section(name: str, title: str, *body: str) -> Section:
    """A part of the page."""
    return Section(name, title, Html("".join(body)))


def moment(seconds: float) -> str:
    """A time to the second; always UTC."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
