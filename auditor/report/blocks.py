"""What the report's page is made of, before it is HTML: `page.html.j2` says how each block looks (DESIGN 10.4)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar, Final

_LONG: Final = 20
"""Letters of a key that is never broken, and rows of a table that prints on one page; longer ones may be."""


@dataclass(frozen=True, slots=True)
class Code:
    """A key or a hash, not to be translated."""

    key: str
    kind: ClassVar[str] = "code"

    @property
    def long(self) -> bool:
        """Whether it may be broken."""
        return len(self.key) > _LONG


@dataclass(frozen=True, slots=True)
class Worded:
    """Words with the raw key beside them, and what follows both."""

    text: str
    code: Code
    rest: str = ""
    kind: ClassVar[str] = "worded"


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to another place of the page, or of another page beside it."""

    text: str
    name: str
    page: str = ""
    kind: ClassVar[str] = "link"


Cell = str | int | Code | Worded | Link


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph of some sentences."""

    texts: tuple[str, ...]
    kind: ClassVar[str] = "paragraph"


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    texts: tuple[str, ...]
    kind: ClassVar[str] = "items"


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms with their meanings."""

    meanings: tuple[tuple[str, str], ...]
    kind: ClassVar[str] = "terms"


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first column heads its rows; a sentence if it has none."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    kind: ClassVar[str] = "table"

    @property
    def long(self) -> bool:
        """Whether it may be broken across printed pages."""
        return len(self.rows) > _LONG


@dataclass(frozen=True, slots=True)
class Story:
    """What is told in some sentences, under a name that links lead to."""

    name: str
    title: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stories:
    """One after another."""

    stories: tuple[Story, ...]
    kind: ClassVar[str] = "stories"


Block = Paragraph | Items | Terms | Table | Stories


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page under a heading of its own, which the contents link to by its name."""

    name: str
    title: str
    blocks: tuple[Block, ...]


def code(value: str) -> Code:
    """A key or a hash."""
    return Code(value)


def worded(text: str, key: str, rest: str = "") -> Worded:
    """Words with the raw key beside them."""
    return Worded(text, Code(key), rest)


def paragraph(*texts: str) -> Paragraph:
    """One paragraph of some sentences."""
    return Paragraph(texts)


def items(texts: Iterable[str]) -> Items:
    """A list."""
    return Items(tuple(texts))


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Table:
    """A table whose first column heads its rows."""
    return Table(caption, tuple(columns), tuple(tuple(row) for row in rows))


def section(name: str, title: str, *blocks: Block | None) -> Section:
    """A part of the page; blocks that are None are left out."""
    return Section(name, title, tuple(block for block in blocks if block is not None))


def moment(seconds: float) -> str:
    """A time to the second; always UTC."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
