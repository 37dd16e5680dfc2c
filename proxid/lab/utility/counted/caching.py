"""Index caching as an application of released keyword counts (003 §8.2, after Baeza-Yates).

A search engine keeps posting lists in memory. A keyword's score is its frequency divided by the documents that contain
it; lists are taken greedily by score until the memory is full. The hit probability is the chance that a keyword of the
original log finds its list in memory.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

Frequencies = Mapping[str, float]
Documents = Mapping[str, int]

POSTING_BYTES = 8
LONGEST_LIST = 200_000
"""Documents of a list that are kept in memory at most (003 §8.2)."""
MEMORY = 1 << 30


def cached_keywords(frequencies: Frequencies, documents: Documents, memory: int = MEMORY) -> set[str]:
    """The keywords whose lists are kept. documents: how many contain a keyword; one that none contains has one."""
    kept: set[str] = set()
    used = 0
    scored = ((-count / max(1, documents.get(word, 1)), word) for word, count in frequencies.items() if count > 0)
    for _, word in sorted(scored):
        size = POSTING_BYTES * min(LONGEST_LIST, max(1, documents.get(word, 1)))
        if used + size > memory:
            break
        kept.add(word)
        used += size
    return kept


def hit_probability(original: Frequencies, kept: set[str]) -> float:
    """The share of the original log's keyword occurrences whose list is kept."""
    whole = sum(original.values())
    return sum(count for word, count in original.items() if word in kept) / whole if whole else 0.0


def documents_of(clicks: Iterable[tuple[str, str]]) -> Counter[str]:
    """Documents of each keyword, of (query, URL) pairs: the distinct URLs clicked after a query with the keyword.

    003 has a document collection; a log alone has only what was clicked.
    """
    pairs = {(word, url) for query, url in clicks for word in query.split()}
    return Counter(word for word, _ in pairs)
