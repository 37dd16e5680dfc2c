"""Numbers and codes that a keyword announces: "my member id is w two two …", "7ABC123 is my plate".

HIPAA Safe Harbor's numbered identifiers: social security, medical record, health plan, account, certificate and
licence, vehicle, device numbers and any other unique number or code; telephone and fax too when announced.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from proxid.classify.identifiers.digits import Run, measure
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.utterance import NUMBER_CODES, Utterance
from proxid.classify.lexicon import lexicon

_NO = r"(?: ?(?:numbers?|num|no|id|i d|identifier|identification|code|#))"
KEYS = (
    ("SSN", rf"socials?(?: security)?(?: insurance)?{_NO}?|ssn|s s n|sin number|national insurance{_NO}?"),
    ("FAX", rf"fax{_NO}?"),
    ("MRN", rf"(?:medical|health|patient|hospital) records?{_NO}?|mrn|m r n|(?:patient|chart|hospital|encounter|visit|"
            rf"medical|prescription|rx|specimen|lab){_NO}|prescription|chart"),
    ("PLAN", rf"(?:(?:health|medical|dental|vision|insurance|medicare|medicaid|plan|member|membership|subscriber|"
             rf"beneficiary|group|policy|policyholder|claim|coverage|blue cross|aetna|cigna|humana|kaiser)"
             rf"(?: (?:insurance|health|plan|card|policy|member|beneficiary|claim|group))*){_NO}|medicare|medicaid|"
             r"nhs number|health insurance claim|policy|beneficiary"),
    ("DEVICE", rf"(?:serial|imei|meid|iccid|esn|udid|uuid|mac|device|asset|sim|pacemaker|implant|hardware|bluetooth)"
               rf"(?: (?:serial|address|card|tag|device))*{_NO}?"),
    ("IP", r"(?:ip|i p)(?: address)?"),
    ("VEHICLE", rf"vin{_NO}?|v i n(?: number)?|(?:vehicle|chassis|engine)(?: identification)?{_NO}"),
    ("PLATE", rf"(?:licen[cs]e|number|registration|vehicle|car) (?:plates?|tags?){_NO}?|plates?{_NO}?|"
              rf"(?:tag|reg|registration){_NO}|licen[cs]e plate|tags?(?= (?:is|are|reads?|was|number))"),
    ("LICENSE", rf"(?:driver'?s?|drivers|driving|driver 's|pilot'?s?|medical|nursing|bar|business|marriage|birth|death|"
                rf"professional|state|fishing|hunting|gun|firearms?) (?:licen[cs]e|certificate|permit|id){_NO}?|"
                rf"licen[cs]e{_NO}?|(?:passport|visa|permit|certificate|certification|dea|npi|alien|green card|"
                rf"naturalization|national|tax|taxpayer|employer|military|badge|dl|d l|ein|itin|voter){_NO}|passport|"
                r"permit|npi|ein|itin|dl|certificate"),
    ("ACCOUNT", rf"(?:(?:bank|checking|savings|credit|debit|gift|visa|mastercard|amex|american express|discover|loan|"
                rf"mortgage|brokerage|investment|billing|utility|customer|client|member|membership|loyalty|rewards?|"
                rf"frequent flyer|library|paypal|venmo|prepaid|routing|iban|swift|sort|wire|invoice|bitcoin|wallet|"
                rf"account|card|acct)(?: (?:card|account|union|acct|transit|routing|checking|savings|loan|wallet|"
                rf"address|card's|express|credit|debit|bank))*){_NO}?|accounts?|iban|cvv|cvc|c v v"),
    ("PHONE", rf"(?:(?:tele)?phone|cell(?:phone| phone)?|mobile(?: phone)?|landline|home|work|office|whatsapp|pager|"
              rf"contact|callback|call back|emergency contact|direct line|extension|ext){_NO}|"
              r"extension|ext|area code|(?:my|his|her|their|our) (?:cell|mobile|phone|landline|telephone|pager|number)"),
    ("ZIP", rf"zip(?: ?code)?s?|postal{_NO}?|postcode"),
    ("ID", rf"(?:pin|pass ?code|pass ?word|pass ?phrase|security|access|entry|gate|door|alarm|lock|verification|"
           rf"confirmation|authori[sz]ation|activation|unlock|voicemail|booking|reservation|record locator|tracking|"
           rf"shipment|order|reference|ref|case|ticket|docket|employee|student|staff|personnel|user|login|locker|"
           rf"registration|application|invoice|transaction|receipt|file|study|subject|participant|sample|service|"
           rf"garage|safe|vault|key ?pad|combination|wi-?fi|school|university|faculty|worker|inmate|prisoner|"
           rf"client|customer|guest|confirmation|report){_NO}|pin|pass ?code|pass ?word|tracking|combination"),
)  # fmt: skip
_TRIGGERS = frozenset(
    word
    for _, pattern in KEYS
    for found in re.findall(r"[a-z]{2,}", pattern)
    for word in (found, found.removesuffix("s"))
    if word not in ("number", "numbers", "no", "id", "code", "address", "card's", "is", "are", "was", "my", "his", "her", "our")
) | {"number", "id", "code", "licence", "license", "drivers", "accounts", "passcode", "password", "zipcode", "postcode",
     "cellphone", "telephone", "phone", "wifi", "keypad", "plates", "tags", "numbers", "s", "m", "v", "c", "i", "d"}  # fmt: skip
_KEY = re.compile("|".join(rf"(?P<{kind}>\b(?:{pattern})(?![\w]))" for kind, pattern in KEYS))
_WORD = re.compile(r"\b[a-z]+")
_STARTS = frozenset(run[:3] for _, pattern in KEYS for run in re.findall(r"[a-z]+", pattern))
"""The first three letters of every literal of the keywords: a keyword begins with a word that begins with one of them."""
_NUMBER = re.compile(r"\b(?:numbers?|id|i d|code)(?!\w)")
_VALUE = re.compile(r"g?[dtyhnmolbx](?:(?:[kpsurc]|q+|)[dtyhnmolbx])*q*")
_FILLERS = frozenset(
    "number numbers num no id i d code is was are it it's its the of 's ending ends end in with as to : # = , be like "
    "following that's which my a last first four three digits ( ) - for on file reads starts starting would will "
    "this here that and card account plus mine".split()
)
_COUNTED = frozenset(
    "flight bus train channel room chapter page episode season gate track level route highway interstate exit "
    "radio station fm am version verse question problem exercise step model part volume size line platform grade act "
    "section article amendment proposition area atomic mass oxidation model phone hotline emergency".split()
)
NEAR = 8
"""A value is looked for in that many tokens after its keyword."""


@lru_cache(maxsize=1)
def _units() -> frozenset[str]:
    return lexicon("units")


def announced(u: Utterance) -> Iterator[Span]:
    """Values beside a keyword, after it or before it."""
    if not NUMBER_CODES & set(u.codes) and u.codes.count("l") + u.codes.count("b") < 3:
        return
    if not _TRIGGERS & set(u.words):
        return
    starts = {token.start: i for i, token in enumerate(u.tokens)}
    ends = {token.end: i for i, token in enumerate(u.tokens)}
    for match in _keys(u.clean.folded):
        first, last = starts.get(match.start()), ends.get(match.end())
        if first is not None and last is not None:
            yield from _beside(u, first, last, str(match.lastgroup))
    for match in _NUMBER.finditer(u.clean.folded):
        first, last = starts.get(match.start()), ends.get(match.end())
        if first is not None and last is not None and u.word(first - 1) not in _COUNTED:
            yield from _beside(u, first, last, "ID", strict=True)


def _keys(text: str) -> Iterator[re.Match[str]]:
    """`_KEY.finditer(text)`, tried only at the words with which a keyword can begin."""
    end = 0
    for word in _WORD.finditer(text):
        first = word[0]
        if word.start() >= end and (first[:3] in _STARTS or first[:2] in _STARTS):
            match = _KEY.match(text, word.start())
            if match:
                end = match.end()
                yield match


def _beside(u: Utterance, first: int, last: int, kind: str, *, strict: bool = False) -> Iterator[Span]:
    value = _after(u, last + 1, kind, strict=strict) or _before(u, first, kind)
    if value:
        yield Span(*u.span(*value), kind, "keyword")


def _after(u: Utterance, index: int, kind: str, *, strict: bool) -> tuple[int, int] | None:
    """The value that follows a keyword: at once, after filler words, or near it when it is plainly a code."""
    direct = True
    for i in range(index, min(index + NEAR, len(u.words))):
        if not u.glued(i) or u.codes[i - 1] in "crkz":
            value = _value(u, i, kind, direct=direct, strict=strict)
            if value:
                return value
        if u.codes[i] == "z" and u.words[i] in ";?!":
            return None
        direct = direct and u.words[i] in _FILLERS
    return None


def _value(u: Utterance, index: int, kind: str, *, direct: bool, strict: bool) -> tuple[int, int] | None:
    start = index
    if u.codes[index] == "w" and direct and kind in ("PLATE", "LICENSE", "ID", "DEVICE", "PLAN", "MRN", "ACCOUNT"):
        if len(u.words[index]) > 3 or u.words[index] in _FILLERS or u.word(index) in lexicon("stopwords"):
            return None
        index += 1 + (u.word(index + 1) == "-")
    match = _VALUE.match(u.codes, index)
    if not match:
        return None
    last = _trimmed(u, index, match.end() - 1)
    run = measure(u, index, last)
    letters = sum(u.codes[i] in "lobx" for i in range(index, last + 1))
    if _is_value(u, run, letters, kind, direct=direct, strict=strict):
        return start, last
    return None


def _trimmed(u: Utterance, first: int, last: int) -> int:
    """Leave out an article or pronoun that only looks like the last letter of a code, and trailing marks."""
    while last > first and (
        u.codes[last] in "kpsurc"
        or (u.words[last] in ("a", "i") and u.codes[last - 1] not in "lx" and not u.glued(last))
    ):
        last -= 1
    return last


def _is_value(u: Utterance, run: Run, letters: int, kind: str, *, direct: bool, strict: bool) -> bool:
    if _measured(u, run):
        return False
    digits = run.digits
    if strict:
        return digits >= 3 and digits + letters >= 4 and direct and not run.cardinal | (run.codes in ("ty", "tt"))
    if kind == "ZIP":
        return digits + letters >= 5
    if kind in ("PHONE", "FAX"):
        return digits >= (2 if direct else 7)
    if direct:
        least = 2 if kind in ("ID", "SSN", "ACCOUNT") else 3
        return (digits >= least or (digits and digits + letters >= 3) or letters >= 4) and not (
            run.codes in ("l", "ll") or (digits < 3 and run.cardinal)
        )
    return (digits >= 4 and not (run.cardinal and run.codes != "n")) or (
        digits >= 2 and letters >= 1 and digits + letters >= 5
    )


def _measured(u: Utterance, run: Run) -> bool:
    """A quantity, a time, a date or a year, not a code."""
    before, after = u.word(run.first - 1), u.word(run.last + 1)
    if after in _units() or before in ("$", "€", "£") or before in lexicon("months") or after in lexicon("months"):
        return run.digits < 7
    year = run.digits == 4 and run.codes in ("n", "ty", "tyd", "yy", "yyd", "yt", "dhyd", "dhd", "dh", "tt")
    return year and before in ("in", "since", "by", "until", "of", "before", "after", "from", "through", "till")


def _before(u: Utterance, key: int, kind: str) -> tuple[int, int] | None:
    """The value that stands before its keyword: "… is my pin"."""
    i = key - 1
    while i >= 0 and u.words[i] in (
        "my",
        "the",
        "our",
        "his",
        "her",
        "their",
        "your",
        "new",
        "old",
        "a",
        "patient",
        "bank",
    ):
        i -= 1
    if (
        i < 1
        or u.words[i] not in ("is", "was", "'s", "as", "for", "are", "being")
        or u.codes[i - 1] not in "dtynmolxbh"
    ):
        return None
    last = first = i - 1
    while first > 0 and u.codes[first - 1] in "dtyhnmolxbkpsq":
        first -= 1
    while first < last and u.words[first] in ("a", "i", "-", "/", ".", "dot", "dash"):
        first += 1
    run = measure(u, first, last)
    letters = sum(u.codes[j] in "lobx" for j in range(first, last + 1))
    fits = run.digits >= 3 and run.digits + letters >= 4 and not _measured(u, run)
    return (first, last) if fits and not (run.cardinal and run.codes != "n" and kind != "ID") else None
