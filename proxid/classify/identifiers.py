"""Direct identifiers in written and spoken text, replaced by typed slots (DESIGN 6, HIPAA Safe Harbor)."""

import re

from proxid.classify.text import Clean, Token

_DIGIT = "(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple|[0-9]+)"
_PATTERNS = (
    ("URL", r"\b(?:https?://|www\.)\S+|\b(?:w w w|www) dot \w+(?: dot \w+)+"),
    ("EMAIL", r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b\w+(?: (?:dot|underscore|dash) \w+)* at \w+(?: dot \w+)+"),
    ("IP", r"\b\d{1,3}(?:\.\d{1,3}){3}\b"),
    ("SSN", r"\b\d{3}-\d{2}-\d{4}\b"),
    ("PHONE", r"(?:\+?\d{1,2}[ .-]?)?\(?\b\d{3}\)?[ .-]?\d{3}[ .-]\d{4}\b"),
    ("NUMBER", rf"\b{_DIGIT}(?:[ -]+{_DIGIT}){{4,}}\b|\b\d[\d -]{{4,}}\d\b"),
    ("ADDRESS", r"\b\d+ (?:\w+ ){1,3}(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|way)\b"),
)
_RULES = tuple((kind, re.compile(pattern)) for kind, pattern in _PATTERNS)
Span = tuple[int, int, str]


def by_pattern(text: Clean) -> list[Span]:
    """Spans of identifiers that have a form of their own."""
    return [(m.start(), m.end(), kind) for kind, rule in _RULES for m in rule.finditer(text.folded)]


def by_name(tokens: list[Token], first: frozenset[str], last: frozenset[str], common: frozenset[str]) -> list[Span]:
    """Given names, with the surname that follows; common words that are also names need a surname."""
    spans: list[Span] = []
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        surname = after is not None and after.text in last and after.text not in common
        if token.text in first and (surname or token.text not in common):
            spans.append((token.start, after.end if surname and after else token.end, "NAME"))
    return spans


def mask(shown: str, spans: list[Span]) -> str:
    """The text with every span replaced by its slot; overlapping spans become one, of the first's kind."""
    out, end = [], 0
    for start, stop, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= end:
            out += [shown[end:start], f"<{kind}>"]
        end = max(end, stop)
    return "".join(out) + shown[end:]
