"""Street addresses, post boxes and postal codes, written or spoken (HIPAA: what is finer than a state)."""

from collections.abc import Iterator

from proxid.classify.identifiers.digit_runs import measure
from proxid.classify.identifiers.kinds import kinds, sequence
from proxid.classify.identifiers.searches import Search, rule
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon
from proxid.classify.places import load as load_places

STRONG, UNITS, DOORS = words("addresses", "sure_types"), words("addresses", "units"), words("addresses", "doors")
DIRECTIONS, STATES = words("addresses", "directions"), words("addresses", "states")
SHORT_STATES = frozenset(state for state in STATES if len(state) == 2)
_PAIRS = frozenset(tuple(pair.split("_")) for pair in words("addresses", "two_word_states"))
NUMBER = sequence(
    "<number> (?: <dash>? <number letter-o> )* (?: <dash>? <letter glued> )? (?: <slash> <digit figures> )?"
)
_CODE = sequence(
    "<figures> (?: <dash> <figures> )? | <digit teen tens letter-o repeat>{3,6} (?: <dash>? <digit teen tens letter-o repeat>{2,4} )?"
)
NOT_NAMES, ADDRESS_WORDS = words("addresses", "no_street_name"), words("addresses", "address_words")
_HOUSES = words("addresses", "houses")
_NO_CODE = lexicon("units") | lexicon("stopwords") | words("names", "titles")
_NO_CITY, _NEAR_ZIP = words("addresses", "no_city"), words("addresses", "near_codes")
_NAME, _FIGURES, _SMALL = kinds("name"), kinds("figures"), kinds("digit teen tens")
_NO_STREET = kinds("slash underscore comma mark digit scale colon plus")
_IN_STREET, _IN_CITY = kinds("word any-letter dash dot"), kinds("name letter comma")
_UNIT_VALUE, _BESIDE = kinds("number any-letter"), kinds("bracket comma colon")
RESIDENCE = Search(
    r"\b(?:(?:i|we|he|she|they|who|that|mom|dad|[a-z]+) (?:lives?|lived|living|resides?|resided|residing|stays?|staying|moved|"
    r"moving|relocated)(?: over| out| back| down| up| now)* (?:at|on|in|to|by)|(?:home|mailing|street|billing|shipping|work|office|my|his|her|their|our|current|"
    r"new|delivery|residential|house|postal|return) address (?:is|was|as|to|:)|address:|(?:deliver|ship|shipped|mail|send|sent|delivered|pick (?:me|us|him|her) up|"
    r"come|drive|ride|cab|taxi|uber|lyft|package)(?: \w+){0,3} (?:to|at|from)|house (?:is )?(?:at|on)|home (?:is )?(?:at|on)|parked (?:at|on)|(?:corner|side|end|intersection|top|bottom) of|(?:corner of (?:\w+ ){1,4}|corner of [\w .]+ )and|off of)"
)
_WRITTEN_CODES = Search(
    r"\b[a-z]{1,2}\d[a-z\d]?[ -]?\d[abd-hjlnp-uw-z]{2}\b|\b[abceghj-nprstvxy]\d[abceghj-nprstv-z][ -]?\d[abceghj-nprstv-z]\d\b"
    r"|\b\d{5}-\d{4}\b"
)
_BEFORE_CITY = Search(
    r"\b(?P<dutch>[1-9]\d{3} ?[a-z]{2})(?= (?P<city>[a-z]+))|(?<=[a-z])[ ,]+(?P<indian>[1-9]\d{2} \d{3})(?![\w-])"
)
_DUTCH = sequence("<digit teen tens letter-o repeat>{2,4} <letter letter-o>{2}")
_BOX = Search(r"\bp\.? ?o\.? box(?: number)?(?= )|\bpost office box(?: number)?(?= )")


@rule(words=STRONG | DOORS | lexicon("street_types") | {"box"})
def addresses(u: Utterance) -> Iterator[Span]:
    """House number, street name and street type, with the unit, city, state and postal code that follow."""
    weak = lexicon("street_types")
    done = -1
    homes = {m.end() for m in RESIDENCE.matches(u.clean.folded)}
    for match in NUMBER.finditer(u.codes):
        first, last = match.start(), match.end() - 1
        if first <= done or (first and u.glued(first) and u.codes[first - 1] not in _BESIDE):
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
                yield from _crossing(u, done + 1)


def _crossing(u: Utterance, index: int) -> Iterator[Span]:
    """The other street of a corner, whose "and" or dot is at `index`."""
    other = next((j for j in range(index + 1, min(index + 5, len(u.words))) if u.words[j] in STRONG), None)
    if u.word(index) in ("and", ".") and other is not None:
        first = index + (u.words[index] == ".")
        yield Span(*u.span(first + (u.words[first] == "and"), tail(u, other)), "ADDRESS", "crossing")


def _street(u: Utterance, index: int, digits: int) -> int | None:
    """Last token of a street name that begins at `index`: up to four words, then its type."""
    weak = lexicon("street_types")
    if u.word(index) == "broadway":
        return index
    for i in range(index, min(index + 6, len(u.words))):
        word = u.words[i]
        if word in NOT_NAMES or u.codes[i] in _NO_STREET:
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
    if not all(u.words[i] not in lexicon("stopwords") and u.codes[i] in _IN_STREET for i in range(first, last)):
        return False
    after = u.word(last + 1)
    place = after in UNITS or after in STATES or u.word(last + 2) in STATES or u.word(last + 3) in STATES
    return place or not ADDRESS_WORDS.isdisjoint(u.bag) or (digits >= 3 and last - first <= 3)


def tail(u: Utterance, end: int) -> int:
    """Extend an address over its unit, its city when a state or a code follows, the state and the code."""
    i = end
    j = _mark(u, i + 1)
    if u.word(j) in UNITS or u.word(j) == "#":
        value = j + 1
        while u.word(value) in ("number", "#", "no", ".", "dot"):
            value += 1
        while value < len(u.words) and u.codes[value] in _UNIT_VALUE and u.words[value] != "i":
            i, value = value, value + 1
        if u.word(j) == "floor":
            i = max(i, j)
    elif u.codes[j : j + 1] in (*kinds("letter glued figures"),) and u.codes[i + 1 : i + 2] == kinds("bracket"):
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
        if u.codes[i] == _FIGURES and len(word) == 5 and i > start:
            return i
        if u.codes[i] not in _IN_CITY or word in _NO_CITY:
            break
    comma = (
        u.word(end + 1) == ","
        and start < len(u.words)
        and u.codes[start] == kinds("word")
        and u.words[start] not in _NO_CITY
    )
    if comma:
        last = start
        while (
            u.word(last + 1)
            and u.codes[last + 1] == kinds("word")
            and u.words[last + 1] not in _NO_CITY
            and last - start < 2
        ):
            last += 1
        at_end = last + 1 >= len(u.words) or u.codes[last + 1] in kinds("comma mark dot")
        return last if at_end else end
    return end


def _short_state(u: Utterance, index: int) -> bool:
    """ "ma", "or", "in" are states only in capitals, or before a code or the end."""
    shown = u.clean.shown[u.tokens[index].start : u.tokens[index].end]
    return (
        shown.isupper()
        or u.codes[index + 1 : index + 2] in (*kinds("figures digit"),)
        or (index + 1 == len(u.words) and u.words[index] not in ("me", "in", "or", "hi", "oh", "ok", "as", "fm", "pr"))
    )


def _code_after(u: Utterance, last: int) -> int:
    """Extend over a postal code of five digits, written or spoken, and its extension."""
    i = last + 1
    while u.word(i) in (",", "."):
        i += 1
    match = _CODE.match(u.codes, i)
    return match.end() - 1 if match and (u.codes[i] != _FIGURES or len(u.words[i]) == 5) else last


def _unit_before(u: Utterance, first: int) -> int:
    """Take in "apartment 4", "number" and a house's name before its number: "rose cottage, 4"."""
    i = first
    if u.word(i - 1) in ("number", "#", "no"):
        i -= 1
    if u.word(i - 1) in UNITS - {"number", "room", "floor", "lot", "po"}:
        i -= 1
    house = i - 1 - (u.word(i - 1) == ",")
    if u.word(house) in _HOUSES:
        i = house
        while house - i < 2 and i and u.codes[i - 1] in _NAME and u.words[i - 1] not in lexicon("stopwords"):
            i -= 1
    return i


def _capital(u: Utterance, index: int) -> bool:
    """Whether a word has a capital in a text that is not all capitals."""
    shown = u.clean.shown
    word = shown[u.tokens[index].start : u.tokens[index].end]
    return u.codes[index] == kinds("word") and word[0].isupper() and not shown.isupper()


def _numbered_after(u: Utterance) -> Iterator[Span]:
    """ "Maple Street 12": the house number after the street, as much of Europe writes it."""
    for i in range(1, len(u.words) - 1):
        if u.words[i] in STRONG and u.codes[i + 1] in _SMALL + _FIGURES and u.words[i - 1] not in NOT_NAMES:
            value = NUMBER.match(u.codes, i + 1)
            named = u.codes[i - 1] in _NAME and u.words[i - 1] not in lexicon("stopwords")
            if value and named and u.word(value.end()) not in lexicon("units"):
                first = i - 1
                while first and u.codes[first - 1] in _NAME and _capital(u, first - 1) and i - first < 3:
                    first -= 1
                yield Span(*u.span(first, tail(u, value.end() - 1)), "ADDRESS", "number after")


def _boxes(u: Utterance) -> Iterator[Span]:
    for match in _BOX.matches(u.clean.folded):
        value = NUMBER.match(u.codes, u.after(match.end()))
        if value:
            yield Span(*u.span(u.after(match.start()), _city(u, value.end() - 1)), "ADDRESS", "box")


def _home_street(u: Utterance, index: int, homes: set[int]) -> int | None:
    """First token of "maple street" after "i live on": the words since the phrase that says whose home it is."""
    for i in range(index - 1, max(index - 6, -1), -1):
        if u.tokens[i].end in homes:
            first = i + 1
            while u.word(first) in ("the", "a", "corner", "of", "number"):
                first += 1
            return first if first < index and not NOT_NAMES & set(u.words[first:index]) else None
    return None


@rule(kinds="figures digit teen tens")
def postal_codes(u: Utterance) -> Iterator[Span]:
    """Postal codes by their form or by what stands beside them: a state, a preposition, a place."""
    if _FIGURES in u.kinds:
        yield from _in_figures(u)
    for i, word in enumerate(u.words):
        if word in STATES and len(word) > 2 and u.codes[i + 1 : i + 2] in (*_SMALL,):
            last = _code_after(u, i)
            if last > i:
                yield Span(*u.span(i + 1, last), "ZIP", "place")
    for match in _DUTCH.finditer(u.codes):
        first, last = match.start(), match.end() - 1
        half = u.words[last - 1] in ("a", "p") and u.words[last] == "m"
        if not half and u.word(last + 1) in load_places() and measure(u, first, last - 2).digits == 4:
            yield Span(*u.span(first, last), "ZIP", "place")


def _in_figures(u: Utterance) -> Iterator[Span]:
    text = u.clean.folded
    for match in _WRITTEN_CODES.matches(text):
        yield Span(match.start(), match.end(), "ZIP", "written")
    for match in _BEFORE_CITY.matches(text):
        before = text[: match.start()].rpartition(" ")[2]
        if match["dutch"] and match["city"] in load_places() and match["dutch"][-2:] not in _NO_CODE:
            yield Span(*match.span("dutch"), "ZIP", "place")
        elif match["indian"] and before in load_places():
            yield Span(*match.span("indian"), "ZIP", "place")
    for i, word in enumerate(u.words):
        five = u.codes[i] == _FIGURES and len(word) == 5 and not word.endswith("000") and i > 0
        if five and not u.glued(i) and not u.glued(i + 1) and _near(u, i) and u.word(i + 1) not in lexicon("units"):
            yield Span(*u.span(i, i), "ZIP", "place")


def _near(u: Utterance, index: int) -> bool:
    """Whether what stands before five digits says that they are a postal code."""
    two, before = u.word(index - 2), u.words[index - 1]
    places = load_places()
    stated = before in _NEAR_ZIP or before in STATES or (before == "," and two in STATES)
    return stated or _capital(u, index - 1) or before in places or f"{two} {before}" in places
