"""Names by what stands beside them: "aunt petunia", "call nguyen thi hoa", "inge's bedroom".

Where the neighbour says that it is a person, a word that English does not have is a name, and so is an ordinary word that
is a name to some; the lists are in data/rules/names.toml.
"""

from collections.abc import Iterator, Sequence

from proxid.classify.identifiers.gazetteer import UNKNOWN
from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.identifiers.kinds import kinds
from proxid.classify.identifiers.name_contexts import THIRD, ambiguous, closed
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.tagger import ABBREVIATIONS, NO_NAMES, known
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

_SURE = words("names", "kin_sure")
_TITLES_OF_KIN, _KIN = words("names", "kin_titles"), words("names", "kin") | words("names", "more_kin")
_OWNERS = words("names", "owners")
_VERBS, _INNER = words("names", "contact_verbs"), words("names", "inner")
_ROOMS = words("names", "rooms")
_OWNED, _JOINED = words("names", "owned"), frozenset({"and", "or", "&"})
_NAME = kinds("name")
LONGEST = 5
"""Words of a foreign name after a verb of contact."""


def neighbours(u: Utterance, hits: Sequence[bool]) -> Iterator[int]:
    """Tokens that are names for the word before or after them; `hits` says which are known to be names."""
    if not _KIN.isdisjoint(u.bag) or not _TITLES_OF_KIN.isdisjoint(u.bag):
        yield from _of_kin(u)
    if not _VERBS.isdisjoint(u.bag):
        yield from _called(u, hits)
    if not _OWNED.isdisjoint(u.bag):
        yield from _owning(u, hits)


def _of_kin(u: Utterance) -> Iterator[int]:
    """ "aunt petunia", "my sister in law priyanka": the word after a word of kinship."""
    for i, word in enumerate(u.words):
        if word not in _KIN and word not in _TITLES_OF_KIN:
            continue
        owned = (
            word in _TITLES_OF_KIN or u.word(i - 1) in _OWNERS or u.word(i - 2) in _OWNERS or u.word(i - 1) in _VERBS
        )
        after = _past_law(u, i + 1)
        title = word in _TITLES_OF_KIN
        while owned and after < len(u.words) and nameable(u, after) and _person(u, after, title, word in _SURE):
            yield after
            after += 2 if u.word(after + 1) in _JOINED else len(u.words)
        if _introduced(u, i):
            yield _start(u, i)


def _introduced(u: Utterance, index: int) -> bool:
    """Whether a word that English does not have is said to be somebody of one's own: "petunia is my aunt"."""
    first = _start(u, index)
    return first >= 0 and nameable(u, first) and unknown(u.words[first])


def _start(u: Utterance, index: int) -> int:
    """Token before "is my", where a word of kinship at `index` follows these; -1 without."""
    said = u.word(index - 1) in _OWNERS and u.word(index - 2) in ("is", "was", "are", "were")
    return index - 3 if said else -1


def _past_law(u: Utterance, index: int) -> int:
    """Skips "in law" and "-in-law" after a word of kinship, and a comma."""
    rest = [word for word in u.words[index : index + 4] if word != "-"]
    if rest[:2] == ["in", "law"]:
        index += 4 if u.words[index] == "-" else 2
    return index + (u.word(index) == "," and index + 1 < len(u.words))


def _person(u: Utterance, index: int, title: bool, sure: bool) -> bool:
    """Whether a word after a word of kinship is a name; after a `sure` one hardly anything else can be."""
    word = u.words[index]
    grades = known(load_gazetteer(), word)
    if unknown(word) or (grades.given >= 2 and grades.common <= 1):
        return True
    after = u.word(index + 1)
    ends = closed(u, index) or after in THIRD or after.endswith("ed")
    if grades.given >= 3 and title and word not in _MODALS:
        return True
    return ends and (
        (sure and not _form(word)) or word in ambiguous() or grades.given >= 2 or (grades.surname >= 3 and title)
    )


_MODALS = frozenset({"will", "may", "can", "might", "must"})


def _called(u: Utterance, hits: Sequence[bool]) -> Iterator[int]:
    """Words that English does not have after "call", "text" and the like, up to where the name is closed."""
    for i, word in enumerate(u.words[:-1]):
        if word not in _VERBS or (i and u.words[i - 1] in _BEFORE_NOUN) or "what" in u.words[:i]:
            continue
        last = i
        while last - i < LONGEST and last + 1 < len(u.words) and _foreign(u, last + 1, hits):
            last += 1
        while last > i and u.words[last] in _INNER:
            last -= 1
        if last > i and (closed(u, last) or u.word(last + 1) in THIRD or u.word(last + 1) == "'s"):
            yield from range(i + 1, last + 1)


_BEFORE_NOUN = frozenset("a an the this that my your his her our their last next missed new any each every".split())


def _foreign(u: Utterance, index: int, hits: Sequence[bool]) -> bool:
    word = u.words[index]
    if word in lexicon("foreign_words") and word not in _INNER:
        return False
    return hits[index] or (word in _INNER and index + 1 < len(u.words)) or (nameable(u, index) and unknown(word))


def unknown(word: str) -> bool:
    """Whether English hardly has a word, nor one that it is a form of."""
    grades = known(load_gazetteer(), word)
    return grades.common <= 1 and not word.endswith(_CONTRACTED) and not (grades.given < 2 and _form(word))


def _form(word: str) -> bool:
    """Whether a word is a plural or another form of an English one: "throws", "behaved"."""
    stems = [word[: -len(ending)] for ending in _ENDINGS if word.endswith(ending)]
    found = [load_gazetteer().get(stem + more, UNKNOWN) for stem in stems for more in ("", "e", "y")]
    return any(grades.common >= 1 and grades.given < 2 and grades.surname < 3 for grades in found)


_CONTRACTED = ("'t", "'ll", "'re", "'ve", "'d", "'m")
_ENDINGS = ("s", "es", "ies", "d", "ed", "ied", "ing", "ly", "er", "ers")


def _owning(u: Utterance, hits: Sequence[bool]) -> Iterator[int]:
    """ "inge's bedroom", "bryan and inge's room", "emmas light": who owns a room or a thing of a home."""
    for i, word in enumerate(u.words):
        if word in _OWNED:
            owner = _owner(u, i)
            if owner is not None:
                yield owner
                if owner >= 2 and u.words[owner - 1] in _JOINED and _owns(u, owner - 2, hits):
                    yield owner - 2
                elif owner and nameable(u, owner - 1) and known(load_gazetteer(), u.words[owner - 1]).given >= 3:
                    yield owner - 1


def _owner(u: Utterance, index: int) -> int | None:
    """Token of the owner of the thing at `index`, up to two words before it ("sarah's reading lamp")."""
    for i in range(index - 1, max(index - 4, 0), -1):
        if u.words[i] == "'s":
            return i - 1 if _owns(u, i - 1, ()) else None
    word = u.word(index - 1)
    plain = known(load_gazetteer(), word)
    if index and u.words[index] in _ROOMS and plain.given >= 2 and plain.common <= 1 and nameable(u, index - 1):
        return index - 1
    stem = (
        known(load_gazetteer(), word[:-1]) if word.endswith("s") and not known(load_gazetteer(), word).common else None
    )
    return index - 1 if stem is not None and stem.given >= 3 and stem.common <= 2 else None


def _owns(u: Utterance, index: int, hits: Sequence[bool]) -> bool:
    word = u.words[index]
    if not nameable(u, index) or word in _KIN or word in _TITLES_OF_KIN:
        return False
    return (
        (bool(hits) and hits[index]) or unknown(word) or word in ambiguous() or known(load_gazetteer(), word).given >= 3
    )


def nameable(u: Utterance, index: int) -> bool:
    """Whether a word can be a name: no function word, no thing of a home, nothing that is never one."""
    word = u.words[index]
    unlisted = word not in NO_NAMES and word not in ABBREVIATIONS and word not in _OWNED
    named = u.codes[index] in _NAME or (len(word) > 2 and known(load_gazetteer(), word).given >= 2)
    return named and word[0].isalpha() and unlisted and (word not in lexicon("stopwords") or word in ambiguous())
