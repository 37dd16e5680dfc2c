"""A small tagger of personal names: a linear score for each word from itself, its neighbours and the gazetteer.

Trained on the training splits' person slots, on copies of them with other names, and on templates
(scripts/models/tagger.py). Lower-case speech has no capitals to go by, so the context decides whether "mark" is one.
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from proxid.classify.identifiers.gazetteer import UNKNOWN, Grades
from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.identifiers.tables import words as words_in
from proxid.classify.identifiers.weights import EDGE, Weights
from proxid.classify.memory import WordMemory
from proxid.classify.places import Place, longest_from
from proxid.classify.places import load as load_places


def known(gazetteer: dict[str, Grades], word: str) -> Grades:
    """Grades of a word; an inflected form of an ordinary word is an ordinary word."""
    return gazetteer.get(word) or inflected(gazetteer, word) or UNKNOWN


def inflected(gazetteer: dict[str, Grades], word: str) -> Grades | None:
    """Grades of a form of an ordinary word, by that word; None for what is none."""
    for ending in _ENDINGS:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            for base in (stem, stem + "e", stem[:-1] if stem[-2:-1] == stem[-1:] else "", stem + "y"):
                grades = gazetteer.get(base)
                if grades and grades.common >= 2 and grades.given < 2:
                    return Grades(0, 0, grades.common)
    return None


def plain(gazetteer: dict[str, Grades], word: str) -> bool:
    """Whether a word that no list of names has is a form of an ordinary word ("shouted", "employs", "grew") or a label."""
    own = gazetteer.get(word, UNKNOWN)
    if own.given or own.surname:
        return False
    stem = gazetteer.get(word[:-1], UNKNOWN) if word.endswith("s") else UNKNOWN
    plural = stem.common >= 2 and stem.given < 2 and stem.surname < 2
    return plural or word in NO_NAMES or inflected(gazetteer, word) is not None


_ENDINGS = ("ied", "ies", "ing", "ings", "ers", "ed", "er", "est", "es", "ly", "d")
ABBREVIATIONS = words_in("names", "abbreviations")
"""Words of requests that are no names, though they are in no dictionary."""
NO_NAMES = words_in("names", "no_names")
_CONTRACTED = ("'t", "'ll", "'re", "'ve", "'d", "'m", "'clock")


def grades_of(words: Sequence[str], gazetteer: dict[str, Grades]) -> list[str]:
    """For each word its grades as given name, surname, ordinary word and place; `num` for digits, `sym` for marks."""
    places = load_places()
    grades = [_grade(word, gazetteer, places) for word in words]
    _join(words, grades, places)
    return grades


def _join(words: Sequence[str], grades: list[str], places: dict[str, Place]) -> None:
    """Mark the two words of a place's name."""
    longest = longest_from()
    for i in range(len(words) - 1):
        first = words[i]
        if first in longest and grades[i][-1:] != "M" and first[0].isalpha() and f"{first} {words[i + 1]}" in places:
            grades[i], grades[i + 1] = grades[i][:3] + "M", grades[i + 1][:3] + "M"


def _grade(word: str, gazetteer: dict[str, Grades], places: dict[str, Place]) -> str:
    if not word[0].isalpha():
        return "num" if word[0].isdigit() else "'s" if word == "'s" else "sym"
    given, surname, common = known(gazetteer, word)
    place = places.get(word)
    kind = "0" if place is None else str(place.grade)
    if given or surname or common:
        return f"{given}{surname}{common}{kind}"
    if word.endswith("s") and word[:-1] in gazetteer:
        return f"p{gazetteer[word[:-1]].given}{gazetteer[word[:-1]].common}{kind}"
    return "oov" + kind


def candidate(word: str, grades: str) -> bool:
    """Whether a word can be a name at all: in a name list, or not an English word."""
    if not word[0].isalpha() or len(word) < 2 or word.endswith(_CONTRACTED) or word in ABBREVIATIONS:
        return False
    return (
        grades[:3] == "oov"
        or (grades[0] == "p" and grades[1] > "1")
        or (grades[0].isdigit() and (grades[0] != "0" or grades[1] != "0" or grades[2] < "2"))
    )


def token_features(
    words: Sequence[str], grades: Sequence[str], shapes: Sequence[str], i: int, before: bool
) -> list[str]:
    """Features of token `i`; `before` says whether the token before it was tagged a name."""
    n = len(words)
    w, g, s = words[i], grades[i], shapes[i]
    p1, pg, ps = (words[i - 1], grades[i - 1], shapes[i - 1]) if i else (EDGE, EDGE, EDGE)
    n1, ng, ns = (words[i + 1], grades[i + 1], shapes[i + 1]) if i + 1 < n else (EDGE, EDGE, EDGE)
    p2 = words[i - 2] if i > 1 else EDGE
    n2 = words[i + 2] if i + 2 < n else EDGE
    t = "T" if before else "F"
    return [
        "w" + w, "g" + g, "a" + g[:3], "k" + g[2:], f"t{t}{g}", "p" + p1, "n" + n1, f"pp{p2} {p1}", f"nn{n1} {n2}", f"pn{p1} {n1}",
        f"pg{p1} {g}", f"gn{g} {n1}", f"G{pg} {g}", f"N{g} {ng}", f"s{s}", f"S{ps}{s}{ns}", f"sg{s}{g}", f"q{p2}", f"r{n2}",
        f"e{w[-3:]}{g[:1]}", f"b{w[:3]}{g[:1]}", f"tp{t}{p1}", f"c{g[2:]}{p1}", f"w{w} {p1}", f"x{w} {n1}", f"H{t}{pg}{g}{ng}",
    ]  # fmt: skip


def shapes_of(shown: Sequence[str]) -> list[str]:
    """Capital or not, for a text where that means something; `-` everywhere for lower-case, upper-case and titles."""
    letters = [word for word in shown if word[0].isalpha()]
    upper = sum(word[0].isupper() for word in letters)
    if upper == 0 or upper * 10 > len(letters) * 7:
        return ["-"] * len(shown)
    shapes = []
    for i, word in enumerate(shown):
        start = i == 0 or shown[i - 1] in (".", "!", "?", ":", '"')
        shapes.append(("C" if start else "U") if word[0].isupper() else "l")
    return shapes


class Tagger:
    """Weights of features, and the score above which a word is a name."""

    def __init__(self, weights: dict[str, float], bias: float, threshold: float) -> None:
        self.weights, self.bias, self.threshold = Weights(weights), bias, threshold
        self.gazetteer = load_gazetteer()
        self._places = load_places()
        self._known = WordMemory(self._of_word, self.gazetteer)

    def grades(self, words: Sequence[str]) -> tuple[list[str], list[bool]]:
        """`grades_of` and `candidate` of each word."""
        known = [*map(self._known.__getitem__, words)]
        grades = [grade for grade, _ in known]
        _join(words, grades, self._places)
        return grades, [likely for _, likely in known]

    def names(
        self,
        words: Sequence[str],
        grades: Sequence[str],
        candidates: Sequence[bool],
        shapes: Sequence[str],
        raised: float,
    ) -> list[bool]:
        """For each word whether it is (part of) a personal name; `raised` is added to the threshold."""
        found = [False] * len(words)
        least = self.threshold + raised - self.bias
        if True in candidates:
            for i, likely in enumerate(candidates):
                if likely:
                    found[i] = self.weights.score(words, grades, shapes, i, i > 0 and found[i - 1]) > least
        return found

    def _of_word(self, word: str) -> tuple[str, bool]:
        grade = _grade(word, self.gazetteer, self._places)
        return grade, candidate(word, grade) and not plain(self.gazetteer, word)


def _artefact() -> Any:
    return json.loads((files("proxid.classify") / "data" / "tagger.json").read_text())


def weights() -> dict[str, float]:
    """The weight of each feature."""
    raw = _artefact()
    return dict(zip(raw["features"].split("\n"), (value * raw["scale"] for value in raw["weights"]), strict=True))


@cache
def load() -> Tagger:
    """The shipped tagger."""
    raw = _artefact()
    return Tagger(weights(), raw["bias"], raw["threshold"])
