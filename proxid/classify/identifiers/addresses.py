"""Street addresses, post boxes and postal codes, written or spoken (HIPAA: what is finer than a state)."""

import re
from collections.abc import Iterator

from proxid.classify.identifiers.digits import measure
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon
from proxid.classify.places import load as load_places

STRONG = frozenset(
    "street st avenue ave av road rd drive dr lane ln boulevard blvd court ct terrace ter parkway pkwy highway hwy "
    "crescent close".split()
)
UNITS = frozenset("apartment apt unit suite ste floor room number lot building bldg flat po".split())
DIRECTIONS = frozenset("north south east west northeast northwest southeast southwest n s e w ne nw se sw".split())
STATES = frozenset(
    "alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois "
    "indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri "
    "montana nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington "
    "wisconsin wyoming al ak az ar ca co ct de fl ga hi id il ia ks ky la md ma mi mn ms mo mt ne nv nh nj nm ny nc "
    "nd oh ok pa ri sc sd tn tx ut vt va wa wv wi wy dc as fm gu mh mp pw pr vi aa ae ap".split()
)
SHORT_STATES = frozenset(state for state in STATES if len(state) == 2)
_PAIRS = frozenset({("new", "york"), ("new", "jersey"), ("new", "mexico"), ("new", "hampshire"), ("rhode", "island"),
                    ("north", "carolina"), ("south", "carolina"), ("north", "dakota"), ("south", "dakota"),
                    ("west", "virginia"), ("district", "of")})  # fmt: skip
NUMBER = re.compile(r"[dtyhnm](?:k?[dtyhnmo])*[lx]?(?:s[dn])?")
NOT_NAMES = frozenset(
    "minute minutes min mins hour hours second seconds day days week weeks month months year years mile miles km "
    "kilometers meters feet foot block blocks people way ways times time pm am percent dollars degrees o'clock of to "
    "on from in for and or the a an at is are was with by if that this my your his her our as per than then more "
    "less bedroom bedrooms bed bath story car cars lanes hour's minute's day's long short scenic best worst good "
    "great nice easy new closest nearest next which what how where when why".split()
)
RESIDENCE = re.compile(
    r"\b(?:(?:i|we|he|she|they|who|that|mom|dad|[a-z]+) (?:lives?|lived|living|resides?|resided|residing|stays?|staying|moved|"
    r"moving|relocated)(?: over| out| back| down| up| now)* (?:at|on|in|to|by)|(?:home|mailing|street|billing|shipping|work|office|my|his|her|their|our|current|"
    r"new|delivery|residential|house|postal|return) address (?:is|was|as|to|:)|address:|(?:deliver|ship|shipped|mail|send|sent|delivered|pick (?:me|us|him|her) up|"
    r"come|drive|ride|cab|taxi|uber|lyft|package)(?: \w+){0,3} (?:to|at|from)|house (?:is )?(?:at|on)|home (?:is )?(?:at|on)|parked (?:at|on)|(?:corner|side|end|intersection|top|bottom) of|(?:corner of (?:\w+ ){1,4}|corner of [\w .]+ )and|off of)"
)
_WRITTEN_CODES = re.compile(
    r"\b[a-z]{1,2}\d[a-z\d]? ?\d[abd-hjlnp-uw-z]{2}\b|\b[abceghj-nprstvxy]\d[abceghj-nprstv-z][ -]?\d[abceghj-nprstv-z]\d\b"
    r"|\b\d{5}-\d{4}\b"
)
_NEAR_ZIP = frozenset("in for near at around code zip zipcode area to from within".split())


def addresses(u: Utterance) -> Iterator[Span]:
    """House number, street name and street type, with the unit, city, state and postal code that follow."""
    weak = lexicon("street_types")
    if STRONG.isdisjoint(u.words) and weak.isdisjoint(u.words) and DOORS.isdisjoint(u.words) and "box" not in u.words:
        return
    done = -1
    homes = {m.end() for m in RESIDENCE.finditer(u.clean.folded)}
    for match in NUMBER.finditer(u.codes):
        first, last = match.start(), match.end() - 1
        if first <= done or (first and u.glued(first) and u.codes[first - 1] not in "rvc"):
            continue
        end = _street(u, last + 1, measure(u, first, last).digits)
        if end is not None:
            done = tail(u, end)
            yield Span(*u.span(_unit_before(u, first), done), "ADDRESS", "street")
    yield from _boxes(u)
    yield from _numbered_after(u)
    for i, word in enumerate(u.words):
        if i > done and i and homes and (word in STRONG or word in weak):
            start = _home_street(u, i, homes)
            if start is not None:
                done = tail(u, i)
                yield Span(*u.span(start, done), "ADDRESS", "residence")
                other = next((j for j in range(done + 2, min(done + 6, len(u.words))) if u.words[j] in STRONG), None)
                if u.word(done + 1) in ("and", ".") and other is not None:
                    yield Span(*u.span(done + 1 + (u.word(done + 1) == "and"), tail(u, other)), "ADDRESS", "crossing")


def _street(u: Utterance, index: int, digits: int) -> int | None:
    """Last token of a street name that begins at `index`: up to four words, then its type."""
    weak = lexicon("street_types")
    if u.word(index) == "broadway":
        return index
    for i in range(index, min(index + 6, len(u.words))):
        word = u.words[i]
        if word in NOT_NAMES or (u.codes[i] in "acgsuvzdh" and not (u.codes[i] == "a" and word == "@")):
            return None
        if word == ".":
            continue
        if i > index and (word in STRONG or word in weak):
            end = _ended(u, i)
            if word in STRONG or _plain_weak(u, index, end, digits):
                return end
    return None


def _ended(u: Utterance, index: int) -> int:
    """Last token of a street type and what belongs to it: another type, a direction, an abbreviation's dot."""
    short = u.words[index] in STRONG and len(u.words[index]) < 5
    while u.word(index + 1) in STRONG or u.word(index + 1) in DIRECTIONS or (u.word(index + 1) == "." and short):
        index += 1
    return index


def _plain_weak(u: Utterance, first: int, last: int, digits: int) -> bool:
    """A type that is also a common word ("way", "hill") needs a house number of three digits or a sign of an address."""
    if not all(u.words[i] not in lexicon("stopwords") and u.codes[i] in "wblxkp" for i in range(first, last)):
        return False
    words = set(u.words)
    after = u.word(last + 1)
    place = after in UNITS or after in STATES or u.word(last + 2) in STATES or u.word(last + 3) in STATES
    return place or not ADDRESS_WORDS.isdisjoint(words) or (digits >= 3 and last - first <= 3)


ADDRESS_WORDS = frozenset(
    "address live lives lived living reside resides deliver delivered ship mail send sent moved moving "
    "pick meet house home located located drop taxi cab uber lyft directions navigate".split()
)


def tail(u: Utterance, end: int) -> int:
    """Extend an address over its unit, its city when a state or a code follows, the state and the code."""
    i = end
    j = _mark(u, i + 1)
    if u.word(j) in UNITS or u.word(j) == "#":
        value = j + 1
        while u.word(value) in ("number", "#", "no", ".", "dot"):
            value += 1
        while (
            value < len(u.words)
            and (u.codes[value] in "dtyhnmoxlb")
            and not (u.codes[value] == "l" and u.words[value] == "i")
        ):
            i, value = value, value + 1
        if u.word(j) == "floor":
            i = max(i, j)
    elif u.codes[j : j + 1] in ("l", "x", "n") and u.codes[i + 1 : i + 2] == "r":
        i = j
    return _city(u, i)


def _mark(u: Utterance, index: int) -> int:
    """Skip one comma or dot."""
    return index + 1 if u.word(index) in (",", ".", "in", "#") and u.word(index + 1) else index


def _city(u: Utterance, end: int) -> int:
    start = _mark(u, end + 1)
    for i in range(start, min(start + 5, len(u.words))):
        word = u.words[i]
        state = word in STATES and (word not in SHORT_STATES or _short_state(u, i))
        pair = (word, u.word(i + 1)) in _PAIRS
        if state or pair:
            last = i + (2 if word == "district" else 1 if pair else 0)
            return _code_after(u, last)
        if u.codes[i] == "n" and len(word) == 5 and i > start:
            return i
        if u.codes[i] not in "wblv" or word in _STOP_CITY:
            break
    comma = (
        u.word(end + 1) == "," and start < len(u.words) and u.codes[start] == "w" and u.words[start] not in _STOP_CITY
    )
    if comma:
        last = start
        while (
            u.word(last + 1) and u.codes[last + 1] == "w" and u.words[last + 1] not in _STOP_CITY and last - start < 2
        ):
            last += 1
        at_end = last + 1 >= len(u.words) or u.codes[last + 1] in "vzp"
        return last if at_end else end
    return end


_STOP_CITY = frozenset(
    "and or is was for please to at the a by from with on my i you we he she it that if so but then when can could tomorrow "
    "today tonight now thanks thank as of not will would there who which please's".split()
)


def _short_state(u: Utterance, index: int) -> bool:
    """ "ma", "or", "in" are states only in capitals, or before a code or the end."""
    shown = u.clean.shown[u.tokens[index].start : u.tokens[index].end]
    return (
        shown.isupper()
        or u.codes[index + 1 : index + 2] in ("n", "d")
        or (index + 1 == len(u.words) and u.words[index] not in ("me", "in", "or", "hi", "oh", "ok", "as", "fm", "pr"))
    )


def _code_after(u: Utterance, last: int) -> int:
    """Extend over a postal code of five digits, written or spoken, and its extension."""
    i = last + 1
    while u.word(i) in (",", ".", "zip", "code", "zipcode"):
        i += 1
    match = re.compile(r"(?:n(?:kn)?|[dtyom]{3,6}(?:k?[dtyom]{2,4})?)").match(u.codes, i)
    return match.end() - 1 if match and (u.codes[i] != "n" or len(u.words[i]) == 5) else last


def _unit_before(u: Utterance, first: int) -> int:
    """Take in "apartment 4" or "number" before the house number."""
    i = first
    if u.word(i - 1) in ("number", "#", "no"):
        i -= 1
    if u.word(i - 1) in UNITS - {"number", "room", "floor", "lot", "po"}:
        i -= 1
    return i


DOORS = frozenset({"apt", "apartment", "suite", "ste", "flat"})


def _capital(u: Utterance, index: int) -> bool:
    """Whether a word has a capital in a text that is not all capitals."""
    shown = u.clean.shown
    word = shown[u.tokens[index].start : u.tokens[index].end]
    return u.codes[index] == "w" and word[0].isupper() and not shown.isupper()


def _numbered_after(u: Utterance) -> Iterator[Span]:
    """ "Maple Street 12": the house number after the street, as much of Europe writes it."""
    for i in range(1, len(u.words) - 1):
        if u.words[i] in STRONG and u.codes[i + 1] in "dtyn" and u.words[i - 1] not in NOT_NAMES:
            value = NUMBER.match(u.codes, i + 1)
            named = u.codes[i - 1] in "wb" and u.words[i - 1] not in lexicon("stopwords")
            if value and named and u.word(value.end()) not in lexicon("units"):
                first = i - 1
                while first and u.codes[first - 1] in "wb" and _capital(u, first - 1) and i - first < 3:
                    first -= 1
                yield Span(*u.span(first, tail(u, value.end() - 1)), "ADDRESS", "number after")


def _boxes(u: Utterance) -> Iterator[Span]:
    for match in re.finditer(r"\bp\.? ?o\.? box(?: number)?(?= )|\bpost office box(?: number)?(?= )", u.clean.folded):
        first = next((i for i, t in enumerate(u.tokens) if t.start >= match.end()), None)
        start = next((i for i, t in enumerate(u.tokens) if t.start >= match.start()), None)
        value = NUMBER.match(u.codes, first) if first is not None else None
        if value and start is not None:
            yield Span(*u.span(start, _city(u, value.end() - 1)), "ADDRESS", "box")


def _home_street(u: Utterance, index: int, homes: set[int]) -> int | None:
    """First token of "maple street" after "i live on": the words since the phrase that says whose home it is."""
    for i in range(index - 1, max(index - 6, -1), -1):
        if u.tokens[i].end in homes:
            first = i + 1
            while u.word(first) in ("the", "a", "corner", "of", "number"):
                first += 1
            return first if first < index and not NOT_NAMES & set(u.words[first:index]) else None
    return None


def postal_codes(u: Utterance) -> Iterator[Span]:
    """Postal codes by their form or by the state or preposition before them."""
    if not {"n", "d"} & set(u.codes):
        return
    if "n" in u.codes:
        for match in _WRITTEN_CODES.finditer(u.clean.folded):
            yield Span(match.start(), match.end(), "ZIP", "written")
    for i, word in enumerate(u.words):
        before = u.word(i - 1)
        if u.codes[i] == "n" and len(word) == 5 and not u.glued(i) and not u.glued(i + 1) and before:
            near = before in _NEAR_ZIP or before in STATES or (before == "," and u.word(i - 2) in STATES)
            near = near or _capital(u, i - 1) or before in load_places() or f"{u.word(i - 2)} {before}" in load_places()
            if near and u.word(i + 1) not in lexicon("units") and not word.endswith("000"):
                yield Span(*u.span(i, i), "ZIP", "place")
        elif word in STATES and len(word) > 2 and u.codes[i + 1 : i + 2] in ("d", "t", "y"):
            last = _code_after(u, i)
            if last > i:
                yield Span(*u.span(i + 1, last), "ZIP", "place")
