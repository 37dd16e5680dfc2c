"""Trains the tagger of personal names and writes tagger.json.

Training text: utterances with slots (persons, authors and artists are names), copies of them with other names drawn
from the gazetteer by frequency, and sentences from name_templates.txt and plain_templates.txt. Words whose label is
doubtful (events and lists named after people, songs, films) are left out of the loss. The threshold is chosen on a
fifth of the utterances held out by text.
"""

import hashlib
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from proxid.classify import corpora
from proxid.classify.identifiers import gazetteer
from proxid.classify.identifiers.tagger import candidate, grades_of, shapes_of, token_features
from proxid.classify.places import load as load_places
from proxid.classify.text import tokenise
from proxid.ontology import wordnet
from scripts.models import sources
from scripts.models.gazetteer import given_names, surnames
from scripts.models.output import write_json

_SLOT = re.compile(r"\[(\w+) : ([^\]]+)\]")
NAMES = frozenset({"person", "artist_name", "audiobook_author"})
DOUBTFUL = frozenset({"event_name", "list_name", "email_address", "song_name", "movie_name", "news_topic", "playlist_name",
                      "podcast_name", "audiobook_name", "music_album", "game_name", "personal_info", "definition_word",
                      "podcast_descriptor", "radio_name", "music_descriptor"})  # fmt: skip
TITLES = "dr doctor mr mrs ms miss professor dr. mr. mrs.".split()
Piece = tuple[str, str]
"""Words, and what they are: `name`, `doubt` or `plain`."""
COPIES, DRAWS, PLAIN_DRAWS, GLOSSES = 4, 20, 14, 20_000
NOT_PEOPLE = frozenset({"all", "everyone", "everybody", "tesla", "cat", "someone", "somebody", "people", "anyone"})
C = 0.7
THRESHOLD = -1.0


class Names:
    """Random names: given names and surnames by frequency, flattened so that rare ones are seen too."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        given = Counter({name: n for name, n in given_names().items() if n >= 200})
        last = Counter({name: n for name, n in surnames().items() if n >= 0.001})
        self.given, self.given_weights = list(given), [n**0.4 for n in given.values()]
        self.last, self.last_weights = list(last), [n**0.4 for n in last.values()]
        self.pool_given = rng.choices(self.given, self.given_weights, k=200_000)
        self.pool_last = rng.choices(self.last, self.last_weights, k=200_000)

    def first(self) -> str:
        """A given name, sometimes one that is in no list."""
        name = self.rng.choice(self.pool_given)
        return _twisted(name, self.rng) if self.rng.random() < 0.04 else name

    def surname(self) -> str:
        """A surname, sometimes two with a hyphen or one that is in no list."""
        name = self.rng.choice(self.pool_last)
        if self.rng.random() < 0.03:
            return f"{name}-{self.rng.choice(self.pool_last)}"
        return _twisted(name, self.rng) if self.rng.random() < 0.06 else name

    def full(self) -> str:
        """A given name and a surname, with an initial or a particle now and then."""
        chance = self.rng.random()
        middle = "" if chance < 0.85 else f" {self.rng.choice('abcdefghjklmnprstw')}" if chance < 0.92 else ""
        if chance > 0.95:
            middle = " " + self.rng.choice(["van", "de", "de la", "von", "al", "bin", "del", "da", "mc", "st.", "el"])
        return f"{self.first()}{middle} {self.surname()}"

    def any(self) -> str:
        """A full name, a given name, or a title with a surname."""
        chance = self.rng.random()
        return self.full() if chance < 0.5 else self.first() if chance < 0.9 else self.titled()

    def titled(self) -> str:
        """A title and a surname."""
        return f"{self.rng.choice(TITLES)} {self.surname()}"


def _twisted(name: str, rng: random.Random) -> str:
    """A name with a few letters changed, so that it is in no list."""
    letters = list(name)
    for _ in range(2):
        letters[rng.randrange(len(letters))] = rng.choice("aeiouklmnrstvyz")
    return "".join(letters)


def annotated(row: corpora.Row) -> list[Piece]:
    """Pieces of an annotated utterance."""
    pieces: list[Piece] = []
    end = 0
    for match in _SLOT.finditer(row.annotation):
        pieces.append((row.annotation[end : match.start()], "plain"))
        slot, words = match[1], match[2].strip()
        kind = "name" if slot in NAMES and words not in NOT_PEOPLE else "doubt" if slot in DOUBTFUL else "plain"
        if slot == "artist_name" and not any(_known_given(w) for w in words.split()):
            kind = "doubt"  # a band
        pieces.append((words, kind))
        end = match.end()
    return [*pieces, (row.annotation[end:], "plain")]


def fold(text: str) -> int:
    """Which fifth a text belongs to; the fifth 0 is held out."""
    return int(hashlib.md5(corpora.normal(text).encode(), usedforsecurity=False).hexdigest(), 16) % 5


def _known_given(word: str) -> bool:
    return gazetteer.load().get(word.removesuffix("'s"), gazetteer.UNKNOWN).given >= 2


def copies(pieces: list[Piece], names: Names, places: list[str]) -> list[Piece]:
    """The same utterance with other names."""
    other: list[Piece] = []
    for words, kind in pieces:
        if kind == "name":
            ending = "'s" if words.endswith("'s") else ""
            ending = "s" if ending and names.rng.random() < 0.3 else ending
            other.append(((names.any() if " " in words else names.first()) + ending, kind))
        else:
            other.append((words, kind))
    return other


def clinc() -> list[list[Piece]]:
    """CLINC utterances as text without names, words that are probably names left out of the loss."""
    result = []
    for row in corpora.training()[0]:
        if row.corpus == "clinc" and fold(row.text):
            pieces: list[Piece] = []
            for word in row.text.split():
                g = gazetteer.load().get(word.removesuffix("'s"), gazetteer.UNKNOWN)
                pieces.append((word, "doubt" if g.given >= 3 and g.common <= 3 else "plain"))
            result.append(pieces)
    return result


def glosses(rng: random.Random) -> list[list[Piece]]:
    """Definitions from WordNet as ordinary text; words that may be names are left out of the loss."""
    result = []
    for line in rng.sample(sources.wordnet_glosses(), GLOSSES):
        pieces = []
        for word in re.findall(r"[a-z]+(?:'[a-z]+)?", line.lower()):
            g = gazetteer.load().get(word.removesuffix("'s"), gazetteer.UNKNOWN)
            pieces.append((word, "doubt" if (g.given >= 2 and g.common <= 2) or not any(g) else "plain"))
            pieces.append((" ", "plain"))
        result.append(pieces)
    return result


def templates(names: Names, places: list[str], firms: list[str], rng: random.Random) -> list[list[Piece]]:
    """Sentences made from the two template files."""
    nouns = [w.replace("_", " ") for w in wordnet.load().lemmas if re.fullmatch(r"[a-z_]{3,20}", w)]
    words = gazetteer.load()
    hard = [w for w, g in words.items() if g.common >= 2 and (g.given or g.surname) and g.given <= g.common]
    fill = {"n": names.any, "f": names.first, "l": names.surname, "t": names.titled,
            "p": lambda: rng.choice(places), "b": lambda: rng.choice(firms), "x": lambda: rng.choice(hard if rng.random() < 0.6 else nouns)}  # fmt: skip
    result = []
    for file, draws in (("name_templates.txt", DRAWS), ("plain_templates.txt", PLAIN_DRAWS)):
        for line in (Path(__file__).parent / file).read_text().splitlines():
            if line.startswith("#"):
                continue
            count = draws if "{" in line else 4
            for _ in range(count * (8 if "{x}" in line or "{p}" in line else 1)):
                parts = re.split(r"\{(\w)\}", line)
                pieces = [
                    (p, "plain") if i % 2 == 0 else (fill[p](), "name" if p in "nflt" else "plain")
                    for i, p in enumerate(parts)
                ]
                if not corpora.reported("".join(piece for piece, _ in pieces)):
                    result.append(pieces)
    return result


def examples(pieces: list[Piece], rng: random.Random, capitals: bool) -> tuple[list[list[str]], list[int]]:
    """Features and labels of the candidate words of one utterance."""
    words: list[str] = []
    shown: list[str] = []
    labels: list[str] = []
    text_labels: list[tuple[int, int, str]] = []
    text = ""
    for plain, kind in pieces:
        piece = plain.title().replace("'S", "'s") if capitals and kind == "name" else plain
        text_labels.append((len(text), len(text) + len(piece), kind))
        text += piece
    if capitals:
        text = text[:1].upper() + text[1:]
    for token in tokenise(text.lower()):
        words.append(token.text)
        shown.append(text[token.start : token.end])
        labels.append(next((k for a, b, k in text_labels if a <= token.start < b), "plain"))
    grades = grades_of(words, gazetteer.load())
    shapes = shapes_of(shown)
    rows, targets = [], []
    for i, word in enumerate(words):
        if labels[i] != "doubt" and candidate(word, grades[i]) and word not in TITLES:
            rows.append(
                token_features(
                    words,
                    grades,
                    shapes,
                    i,
                    i > 0 and labels[i - 1] == "name" and candidate(words[i - 1], grades[i - 1]),
                )
            )
            targets.append(int(labels[i] == "name"))
    return rows, targets


def sentences() -> tuple[list[list[Piece]], list[list[Piece]]]:
    """Training sentences, and held-out real ones."""
    rng = random.Random(11)
    names = Names(rng)
    real, held, places, firms = [], [], [], []
    for row in corpora.training()[0]:
        if not row.annotation:
            continue
        for kind, words in _SLOT.findall(row.annotation):
            if kind == "place_name":
                places.append(words.strip())
            elif kind == "business_name":
                firms.append(words.strip())
        (real if fold(row.text) else held).append(annotated(row))
    firms += (Path(__file__).parent / "firms.txt").read_text().split() * 4
    places += [name for name, place in load_places().items() if place.grade >= 2]
    net = wordnet.load()
    for root in ("city.n.01", "country.n.02", "american_state.n.01"):
        places += [
            net.label(c).lower() for c in net.descendants(net.concept(root)).tolist() if not net.children(c).size
        ]
    made = [copies(p, names, places) for p in real for _ in range(COPIES) if any(k == "name" for _, k in p)]
    return [*real, *made, *clinc(), *glosses(rng), *templates(names, places, firms, rng)], held


def dataset(group: list[list[Piece]], capitals: float) -> tuple[list[list[str]], list[int]]:
    """Examples of many sentences; a share of them with the capitals of written text."""
    rng = random.Random(7)
    rows: list[list[str]] = []
    targets: list[int] = []
    for pieces in group:
        r, t = examples(pieces, rng, rng.random() < capitals)
        rows += r
        targets += t
    return rows, targets


def encode(rows: list[list[str]], index: dict[str, int]) -> sp.csr_matrix:
    """Examples as a sparse matrix of zeros and ones."""
    columns = [[index[f] for f in row if f in index] for row in rows]
    starts = np.cumsum([0, *map(len, columns)])
    flat = np.array([c for row in columns for c in row], np.int32)
    return sp.csr_matrix((np.ones(len(flat), np.float64), flat, starts), (len(rows), len(index)))


def main() -> None:
    """Train, choose the threshold, write."""
    group, held = sentences()
    rows, targets = dataset(group, 0.25)
    counts = Counter(f for row in rows for f in row)
    vocabulary = sorted(f for f, n in counts.items() if n >= 3)
    index = {f: i for i, f in enumerate(vocabulary)}
    model = LogisticRegression(C=C, solver="liblinear", tol=1e-3, random_state=0).fit(encode(rows, index), targets)
    held_rows, held_targets = dataset(held, 0.0)
    scores = model.decision_function(encode(held_rows, index))
    truth = np.array(held_targets, bool)
    for threshold in (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5):
        hit = scores > threshold
        print(
            f"{threshold:5.1f} recall {hit[truth].mean():.4f} precision {truth[hit].mean():.4f} false {hit[~truth].mean():.5f}"
        )
    weights = model.coef_[0]
    scale = float(np.abs(weights).max() / 2000)
    whole = np.round(weights / scale).astype(int)
    kept = [i for i in range(len(vocabulary)) if abs(whole[i]) >= 8]
    write_json("tagger.json", {"features": "\n".join(vocabulary[i] for i in kept), "weights": [int(whole[i]) for i in kept],
                               "scale": scale, "bias": float(round(model.intercept_[0], 4)), "threshold": THRESHOLD})  # fmt: skip
    print(len(rows), len(vocabulary), len(kept))


if __name__ == "__main__":
    main()
