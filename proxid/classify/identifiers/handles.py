"""Names on social networks and logins: "my twitter handle is blue sky underscore nine", "@john_s", "find me on insta as …"."""

from collections.abc import Iterator

from proxid.classify.identifiers.gazetteer import UNKNOWN
from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.identifiers.kinds import kinds
from proxid.classify.identifiers.numbers import DIGIT
from proxid.classify.identifiers.searches import Search, rule
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.tagger import ABBREVIATIONS
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

PLATFORMS = words("handles", "platforms")
_HANDLE_WORDS = PLATFORMS | words("handles", "keywords")
_LOGIN = Search(
    rf"\b(?:user ?name|gamertag|login id|user id) (\w*\d\w*|\w+(?: (?:{DIGIT}|\w*teen|\w+ty))+(?!\w)|[a-z]{{4,}}(?=$|[.,!?]))"
)
_NETWORK = "|".join(sorted(PLATFORMS))
_HANDLE = Search(
    rf"\b(?:(?:user|screen|gamer|login|skype|profile|account) ?name|username|gamertag|psn|handle|log ?in|user ?id|cash ?(?:app|tag)|upi(?: id)?|"
    rf"u p i(?: id)?|(?:{_NETWORK})(?: (?:id|name|account|handle|login))?)(?: (?:on|for|at) (?:the |my )?\w+)?(?: ?(?:is|as|:|=|'s)) "
    r"(?P<sign>dollar sign |at |@ ?)?(?=\w)"
    r"|\b(?:log|logged|sign|signed) (?:\w+ )?in(?: to (?:\w+ ){1,2}?| )as (?=\w)"
)
_PAIR = Search(
    r"\b(?:user|username|login)(?: is)? (?P<user>[\w.-]+)(?: and)? (?:/|slash|pass|password|pw)(?: is)? (?P<word>\S+)"
)
_AT = Search(r"(?<![\w@.])@[a-z0-9_][\w.]+|(?<![\w$])\$[a-z][\w.]{2,}|(?<![\w#])[a-z][\w.]{1,31}#\d{4}(?!\d)")
_LABEL, _NUMBERS, _LINKS, _NAME = kinds("label glued"), kinds("number glued"), kinds("link"), kinds("name")
_BEGINS, _LONE, _UNDERSCORE = kinds("word any-letter"), kinds("letter letter-o"), kinds("underscore")
_TRIGGERS, _ABOUT, _HASH = words("handles", "starts"), words("handles", "about"), words("handles", "hash")
_NOT_HANDLES, _NO_HANDLES = words("handles", "never"), words("handles", "said_of_it")
_LINK_WORDS = ("at", "as", "is", "under", ":", "=")
LONGEST = 3
"""Words of a handle without a link or a number between them."""


@rule(words=_HANDLE_WORDS, kinds="underscore at bracket")
def handles(u: Utterance) -> Iterator[Span]:
    """Handles by their form, by an underscore, and by the network or the word "handle" beside them."""
    text = u.clean.folded
    for match in _AT.matches(text):
        yield Span(match.start(), match.end(), "HANDLE", "written")
    if _UNDERSCORE in u.codes:
        yield from _underscored(u)
    if _HANDLE_WORDS.isdisjoint(u.bag):
        return
    for match in _HANDLE.matches(text):
        yield from _told(u, u.after(match.end()), bool(match["sign"]))
    for match in _LOGIN.matches(text):
        if match[1].split()[0] not in lexicon("stopwords"):
            yield Span(match.start(1), match.end(1), "HANDLE", "keyword")
    for match in _PAIR.matches(text):
        yield Span(*match.span("user"), "HANDLE", "login")
        yield Span(*match.span("word"), "ID", "login")
    yield from _on_networks(u)


def _told(u: Utterance, first: int, sign: bool) -> Iterator[Span]:
    """The handle that begins at a token, and the password behind a slash after it."""
    run = _run(u, first)
    if run is None or (u.words[first] in _NO_HANDLES and not (run[1] or sign)):
        return
    yield Span(*u.span(first, run[0]), "HANDLE", "keyword")
    secret = run[0] + 2
    if u.word(run[0] + 1) in ("/", "slash") and secret < len(u.words):
        end = u.clean.folded.find(" ", u.tokens[secret].start)
        yield Span(u.tokens[secret].start, len(u.clean.folded) if end < 0 else end, "ID", "login")


def _underscored(u: Utterance) -> Iterator[Span]:
    """What an underscore holds together, with the words before it back to "at", "is" or "as", and the numbers after it."""
    done = -1
    for i, code in enumerate(u.codes):
        if code != _UNDERSCORE or i <= done or i == 0 or i + 1 == len(u.codes):
            continue
        first, last = i, i
        while first > done + 1 and ((u.codes[first - 1] in _LABEL and (u.codes[first] in _LINKS or u.glued(first)))
                         or (u.codes[first - 1] in _LINKS and first > 1 and u.codes[first - 2] in _LABEL)):  # fmt: skip
            first -= 1
        while last + 1 < len(u.codes) and _goes_on(u, last):
            last += 1
        done = last
        if first < i < last and not _identifier_of_a_program(u, first, last):
            yield Span(*u.span(_from_trigger(u, first), last), "HANDLE", "underscore")


def _identifier_of_a_program(u: Utterance, first: int, last: int) -> bool:
    """ "client_ip": ordinary words only, written together, in a text that speaks of no handle."""
    words = u.words[first : last + 1 : 2]
    written = all(u.glued(i) for i in range(first + 1, last + 1)) and set(u.codes[first + 1 : last + 1 : 2]) == {
        _UNDERSCORE
    }
    plain = all(load_gazetteer().get(word, UNKNOWN).common >= 2 or word in ABBREVIATIONS for word in words)
    return written and plain and _HANDLE_WORDS.isdisjoint(u.bag)


def _goes_on(u: Utterance, last: int) -> bool:
    """Whether the token after `last` belongs to a handle that an underscore has begun."""
    code = u.codes[last + 1]
    if code in _LINKS:
        return u.words[last + 1] != "." or (u.glued(last + 1) and u.glued(last + 2))
    linked = u.codes[last] in _LINKS or u.glued(last + 1)
    return code in _LABEL and (linked or code in _NUMBERS)


def _from_trigger(u: Utterance, first: int) -> int:
    for i in range(first, max(first - LONGEST, 0), -1):
        if u.words[i - 1] in _TRIGGERS:
            return i
        if u.codes[i - 1] not in _NAME or _plain(u, i - 1):
            break
    return first


def _plain(u: Utterance, index: int) -> bool:
    word = u.words[index]
    return word in lexicon("stopwords") or word in lexicon("boundaries") or word in _NOT_HANDLES


def _on_networks(u: Utterance) -> Iterator[Span]:
    """ "on twitter at john smith", "my insta is dancing queen nine", "add ninja42 on xbox"."""
    networks = [i for i, word in enumerate(u.words) if word in PLATFORMS]
    for i in networks:
        start = i + 1
        while u.word(start) in _ABOUT and start < i + 3:
            start += 1
        link = u.word(start)
        if link in _LINK_WORDS:
            start += 1 + (u.word(start + 1) in ("at", "@"))
            run = _run(u, start)
            if run is not None and (run[1] or link in ("at", "as", "under")):
                yield Span(*u.span(start, run[0]), "HANDLE", "network")
    for i, code in enumerate(u.codes if networks else ""):
        if (
            code == kinds("glued")
            and len(u.words[i]) > 2
            and u.words[i] not in PLATFORMS
            and u.word(i + 1).isdigit()
            and u.glued(i + 1)
        ):
            yield Span(*u.span(i, i + 1), "HANDLE", "network")


def _run(u: Utterance, start: int) -> tuple[int, bool] | None:
    """Last token of a handle that begins at `start`, and whether a link or a number says that it is one."""
    if start >= len(u.words) or u.codes[start] not in _BEGINS or _plain(u, start):
        return None
    i, free, sure = start, 1, False
    while i + 1 < len(u.words):
        code = u.codes[i + 1]
        linked = (code in _LINKS or u.words[i + 1] in _HASH) and u.codes[i + 2 : i + 3] in (*_LABEL,)
        if linked:
            i, sure = i + 2, True
        elif code in _NUMBERS or (code in _LONE and u.words[i + 1] not in ("a", "i")):
            i, sure = i + 1, True
        elif code in _NAME and free < LONGEST and not _plain(u, i + 1):
            i, free = i + 1, free + 1
        else:
            break
    return i, sure
