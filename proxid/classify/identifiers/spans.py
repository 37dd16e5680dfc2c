"""Spans of identifiers: merged when they touch or overlap, then replaced by typed slots."""

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """Characters `start` up to `end` of a text are an identifier of this kind, found by this rule."""

    start: int
    end: int
    kind: str
    rule: str


_RANK = {
    kind: rank
    for rank, kind in enumerate(
        ["EMAIL", "URL", "DEVICE", "IP", "SSN", "MRN", "PLAN", "FAX", "LICENSE", "PLATE", "VEHICLE", "ACCOUNT", "PHONE",
         "ADDRESS", "ZIP", "DATE", "AGE", "HANDLE", "PLACE", "ID", "NUMBER", "NAME"]
    )
}  # fmt: skip


def merge(spans: Iterable[Span]) -> list[Span]:
    """Overlapping spans become one, of the most specific kind among them; ascending."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            # A kind that is not the product's is an operator's own: he knows what it is.
            best = min(last, span, key=lambda s: _RANK.get(s.kind, -1))
            merged[-1] = Span(last.start, max(last.end, span.end), best.kind, best.rule)
        else:
            merged.append(span)
    return merged


def mask(shown: str, spans: Iterable[Span]) -> str:
    """The text with every (merged, ascending) span replaced by its slot."""
    out, end = [], 0
    for span in spans:
        out += [shown[end : span.start], f"<{span.kind}>"]
        end = span.end
    return "".join([*out, shown[end:]])
