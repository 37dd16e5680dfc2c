"""The words that synthetic texts are made of: WordNet's everyday nouns and a few lists of our own."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from proxid.lab.logs.jit import Columns, Longs
from proxid.lab.logs.strings import StringTable
from proxid.ontology import wordnet

BEFORE = (
    "free", "cheap", "best", "new", "used", "online", "how to", "what is", "pictures of", "history of", "buy",
    "the", "local", "small", "home", "facts about", "types of", "how to make", "where is the", "american",
)  # fmt: skip
AFTER = (
    "store", "pictures", "for sale", "reviews", "lyrics", "recipes", "price", "club", "school", "company", "parts",
    "supplies", "information", "games", "classes", "jobs", "rental", "repair", "online", "forum", "music", "2006",
)  # fmt: skip
PLACES = (
    "new york", "texas", "chicago", "boston", "florida", "atlanta", "ohio", "denver", "seattle", "california",
    "houston", "dallas", "michigan", "georgia", "virginia", "phoenix", "detroit", "memphis", "portland", "iowa",
    "kansas city", "las vegas", "san diego", "long island", "new jersey", "maryland", "alabama", "oregon", "utah",
)  # fmt: skip
FIRST_NAMES = (
    "james", "mary", "robert", "linda", "michael", "susan", "david", "karen", "thomas", "nancy", "daniel", "betty",
    "mark", "helen", "paul", "sandra", "steven", "donna", "kevin", "carol", "brian", "ruth", "edward", "sharon",
    "ronald", "laura", "anthony", "sarah", "jason", "kimberly", "jeffrey", "deborah", "ryan", "jessica", "jacob",
)  # fmt: skip
LAST_NAMES = (
    "smith", "johnson", "williams", "jones", "brown", "davis", "miller", "wilson", "moore", "taylor", "anderson",
    "jackson", "harris", "martin", "thompson", "garcia", "martinez", "robinson", "clark", "rodriguez", "lewis",
    "walker", "hall", "allen", "young", "hernandez", "king", "wright", "lopez", "hill", "scott", "green", "adams",
    "baker", "gonzalez", "nelson", "carter", "mitchell", "perez", "roberts", "turner", "phillips", "campbell",
)  # fmt: skip
ENDINGS = (".com", ".com", ".com", ".com", ".com", ".org", ".net", ".edu", ".gov", ".us")
NOUN, BEFORE_LIST, AFTER_LIST, PLACE_LIST, FIRST_LIST, LAST_LIST, ENDING_LIST = range(7)


@dataclass(frozen=True, slots=True)
class Words:
    """All words in one table, list after list; list i is starts[i] … starts[i + 1] - 1."""

    table: StringTable
    codes: Longs
    starts: Longs

    @property
    def arrays(self) -> Columns:
        """(bytes, where each string begins, codes of all words, where each list begins)."""
        return (self.table.arena, self.table.bounds, self.codes, self.starts)


@cache
def nouns() -> tuple[str, ...]:
    """Short nouns with two senses or more: the everyday ones; those with the most senses first."""
    known = wordnet.load()
    found = [(len(known.senses(w)), w) for w in known.lemmas if w.isascii() and w.isalpha() and 3 <= len(w) <= 10]
    return tuple(word for senses, word in sorted(found, key=lambda item: (-item[0], item[1])) if senses >= 2)


@cache
def load_words() -> Words:
    """The words of synthetic texts."""
    lists = (nouns(), BEFORE, AFTER, PLACES, FIRST_NAMES, LAST_NAMES, ENDINGS)
    table = StringTable()
    codes = table.encode([word for words in lists for word in words]).astype(np.int64)
    starts = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return Words(table, codes, starts)
