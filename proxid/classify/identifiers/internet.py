"""E-mail addresses, URLs, IP and MAC addresses: written, and as they are spoken (handles: handles.py).

Written forms are regular expressions. Spoken ones grow from their anchor ("at … dot com", "www dot …") to the left
until a word that cannot be part of an address: a preposition, a pronoun, a verb such as "email".
"""

import re
from collections.abc import Iterator

from proxid.classify.identifiers.kinds import kinds, sequence
from proxid.classify.identifiers.name_neighbours import unknown
from proxid.classify.identifiers.searches import Search, rule
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

TLDS, PROVIDERS = words("internet", "top_level"), words("internet", "providers")
_WRITTEN = (
    ("EMAIL", Search(r"(?<![\w.+%'-])(?:[\w.+%'-]+ ?@ ?[\w-]+(?:\.[\w-]+)+|[\w.+%'-]+@[\w-]+)")),
    ("URL", Search(r"(?:https?|ftp) ?: ?/ ?/ ?\S+|\bwww\.\S+")),
    ("URL", Search(rf"(?<![\w@.-])[\w-]+(?:\.[\w-]+)*\.(?:{'|'.join(sorted(TLDS))})(?![\w-])(?:/\S*)?")),
    ("IP", Search(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d+)?(?![\d])")),
    ("DEVICE", Search(r"\b[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}\b")),
    (
        "IP",
        Search(
            # Hexadecimal groups with at least three colons or a "::" among them, then an IPv4 tail, a zone, a prefix.
            r"(?<![\w:])(?=:*[0-9a-f])(?=[0-9a-f:]*::|(?:[0-9a-f]{1,4}:){3})[0-9a-f:]{2,45}"
            r"(?:\d{1,3}(?:\.\d{1,3}){3}|\.\d{1,3}(?:\.\d{1,3}){2})?(?:%[\w.-]+)?(?:/\d{1,3})?"
        ),
    ),
    ("DEVICE", Search(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")),
    ("PLACE", Search(r"-?\d{1,3}\.\d{3,} ?,? ?-?\d{1,3}\.\d{3,}")),
)
_IP = sequence("(?: <said letter-o>{1,6} <dot> ){3} <said letter-o>{1,6}")
_LABEL, _LINKS, _BRACKETS = kinds("label"), kinds("link"), kinds("bracket")
_DOT, _AT, _NAME, _DIGITS = kinds("dot"), kinds("at"), kinds("name"), kinds("said")
_LETTERS, _WORD = kinds("letters"), kinds("word")
_IN_LOCAL, _IN_HOST, _IN_PATH = kinds("number letters"), kinds("bracket dash"), kinds("slash dot underscore dash")
_OWNED = frozenset({"'", "'s"})
"""End the word for whose an address is: "my parents' lou at …"."""
_ARTICLES, _BEFORE_LETTER, _AFTER_LETTER = (
    frozenset({"a", "i"}),
    kinds("letters link repeat"),
    kinds("letter letter-o link repeat"),
)
_SIGN = frozenset({"sign", "symbol"})
_NO_HOST, _PAYMENTS = words("internet", "no_host"), words("internet", "payments")
LONGEST = 5
"""Words that a spoken local part or host may have without a link between them."""


@rule(kinds="figures dot at underscore dash slash colon bracket mark")
def written(u: Utterance) -> Iterator[Span]:
    """Addresses in their written form."""
    text = u.clean.folded
    yield from _bracketed(text)
    for kind, search in _WRITTEN:
        for match in search.matches(text):
            yield Span(match.start(), match.end() - (match.group()[-1] in ".,;:!?)'\""), kind, "written")


_OPEN, _SHUT = r"[\[({<*_-]", r"[\])}>*_-]"
_BRACKETED = Search(rf" ?{_OPEN} ?(?:at|@) ?{_SHUT} ?")
_JOINT = rf"(?:\.| ?{_OPEN} ?(?:dot|\.) ?{_SHUT} ?| dot )"
_HOST = re.compile(rf"[a-z0-9-]+(?:{_JOINT}[a-z0-9-]+)+|(?:{'|'.join(sorted(PROVIDERS))})\b")
_LOCAL = re.compile(
    rf"[\w+%'-]+(?:(?:\.| ?{_OPEN} ?(?:dot|\.|underscore|dash) ?{_SHUT} ?| (?:dot|underscore|dash) )[\w+%'-]+)*$"
)
LONGEST_LOCAL = 80
"""Characters before an "[at]" that are looked at."""


def _bracketed(text: str) -> Iterator[Span]:
    """Addresses that hide from harvesters: "john [at] gmail [dot] com", "jane(at)example.org"."""
    for mark in _BRACKETED.matches(text):
        host = _HOST.match(text, mark.end())
        begin = max(mark.start() - LONGEST_LOCAL, 0)
        local = _LOCAL.search(text[begin : mark.start()])
        if host and local:
            yield Span(begin + local.start(), host.end(), "EMAIL", "bracketed")


@rule(words=PROVIDERS | _PAYMENTS | {"u"}, kinds="dot")
def spoken(u: Utterance) -> Iterator[Span]:
    """Addresses read aloud."""
    for match in _IP.finditer(u.codes):
        yield Span(*u.span(match.start(), match.end() - 1), "IP", "spoken")
    done = -1
    for i in range(len(u.words) - 1):
        if i > done and _www(u, i):
            last = _last_domain(u, i)
            if last is not None:
                done = _path_end(u, last)
                yield Span(*u.span(_scheme(u, i), done), "URL", "www")
    done = -1
    for i, code in enumerate(u.codes):
        if code == _AT and i > done:
            last = _host_end(u, _skip(u, i + 1))
            if last is not None:
                first = _left(u, i - 1)
                yield Span(*u.span(first if first is not None else i + 1, last), "EMAIL", "spoken")
                done = last
        elif code == _DOT and i > done and u.word(i + 1) in TLDS and i and _dot(u, i):
            last = _path_end(u, i + 1)
            first = _left(u, i - 1)
            if first is not None:
                yield Span(*u.span(_scheme(u, first), last), "URL", "spoken")
                done = last


def _dot(u: Utterance, index: int) -> bool:
    """A dot of an address: the word, or a mark without spaces around it."""
    return u.words[index] != "." or (u.glued(index) and u.glued(index + 1))


def _skip(u: Utterance, index: int) -> int:
    """ "at the rate of", "at sign" are how some say @."""
    if u.words[index : index + 2] == ["the", "rate"]:
        return index + 2 + (u.word(index + 2) == "of")
    if u.word(index) in _SIGN:
        index += 1
    while u.word(index) in (")", "]"):
        index += 1
    return index


def _host_end(u: Utterance, index: int) -> int | None:
    """Last token of a host that begins at `index`: labels parted by dots, the last one a top-level domain."""
    if (u.word(index) in PROVIDERS or _bank(u, index)) and _DOT not in u.codes[index + 1 : index + 3]:
        return index
    dots = 0
    end = None
    for i in range(index, min(index + 12, len(u.words))):
        code = u.codes[i]
        if code == _DOT:
            dots += 1
            if u.word(i + 1) in TLDS:
                end = i + 1
        elif code in _IN_HOST or (
            code in _LABEL and (dots == 0 or i == (end or 0) or u.codes[i - 1] in _DOT + _BRACKETS)
        ):
            if dots == 0 and i - index >= 4:
                return None
        else:
            break
    return end if dots and u.words[index] not in _NO_HOST else None


def _bank(u: Utterance, index: int) -> bool:
    """Whether a word that English does not have may be the bank of a payment address: "her u p i is … at okbank"."""
    paid = not _PAYMENTS.isdisjoint(u.bag) or " u p i " in u.clean.folded
    return paid and u.codes[index : index + 1] == _WORD and unknown(u.words[index])


def _www(u: Utterance, index: int) -> bool:
    """Whether "www dot" begins at a token, said as a word or letter by letter."""
    return (u.words[index] == "www" and u.codes[index + 1] == _DOT) or (
        u.words[index : index + 3] == ["w", "w", "w"] and u.codes[index + 3 : index + 4] == _DOT
    )


def _last_domain(u: Utterance, index: int) -> int | None:
    """Token of the top-level domain that ends the host begun at `index`, whatever its words are."""
    ends = [
        i + 1
        for i in range(index + 2, min(index + 14, len(u.words) - 1))
        if u.codes[i] == _DOT and u.words[i + 1] in TLDS
    ]
    return ends[0] if ends else None


def _scheme(u: Utterance, first: int) -> int:
    """Take in "https colon slash slash" before a host."""
    i = first
    while i > 0 and u.codes[i - 1] in kinds("slash colon"):
        i -= 1
    for size, scheme in ((1, "http https ftp"), (4, "http"), (5, "https")) if i < first else ():
        said = u.words[max(i - size, 0) : i]
        if said and (said[0] in scheme.split() if size == 1 else "".join(said) == scheme):
            return i - size
    return first


def _path_end(u: Utterance, index: int) -> int:
    """Last token of a URL whose top-level domain stands at `index`: more labels, then slashes and names."""
    while index + 2 < len(u.words) and u.codes[index + 1] == _DOT and u.words[index + 2] in TLDS:
        index += 2
    while index + 2 < len(u.words) and u.codes[index + 1] in _IN_PATH and u.codes[index + 2] in _LABEL:
        if u.words[index + 1] == "/" and not u.glued(index + 2):
            break
        index += 2
        while index + 1 < len(u.words) and u.codes[index + 1] in _DIGITS + _LETTERS:
            index += 1
    return index + (index + 1 < len(u.words) and u.codes[index + 1] == kinds("slash"))


def _left(u: Utterance, index: int) -> int | None:
    """First token of the address part that ends at `index`, None when no word there can be part of one."""
    while index >= 0 and u.codes[index] in _BRACKETS:
        index -= 1
    if index < 0 or u.codes[index] not in _LABEL or (u.codes[index] not in _DIGITS and _stops(u, index)):
        return None
    first, free = index, 0
    while first > 0:
        before = u.codes[first - 1]
        if before in _LINKS and first > 1 and u.codes[first - 2] in _LABEL:
            first -= 2
        elif before in _IN_LOCAL and not (u.words[first - 1] in _ARTICLES and u.codes[first] == kinds("word")):
            first -= 1
        elif before in _NAME and not _stops(u, first - 1) and free < LONGEST:
            first, free = first - 1, free + 1
        else:
            break
    while first < index and u.words[first] in _ARTICLES and u.codes[first + 1] not in _AFTER_LETTER:
        first += 1
    return first


def _stops(u: Utterance, index: int) -> bool:
    """Whether a word ends an address to its left: function words, what one does with an address, whose it is.

    "a" and "i" are letters after another letter or a link: "s a r a at gmail", "j dash i at gmail".
    """
    if u.words[index] in _ARTICLES and index and u.codes[index - 1] in _BEFORE_LETTER:
        return False
    owned = u.words[index] in _OWNED and not u.glued(index + 1)
    return owned or u.words[index] in lexicon("stopwords") or u.words[index] in lexicon("boundaries")
