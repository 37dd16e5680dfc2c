"""The corpora under data/corpora: what may train, what only reports, and the types of intents (data/README.md).

They are part of the source tree, not of the installed package.
"""

import csv
import gzip
import hashlib
import io
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proxid.errors import InputError

CORPORA = Path(__file__).resolve().parents[2] / "data" / "corpora"
_MARK = re.compile(r"\[[A-Z~]+:([^\]]*)\]")


@dataclass(frozen=True, slots=True)
class Row:
    """One utterance: its corpus and intent; `annotation` marks slots as `[kind : words]`, empty without."""

    corpus: str
    text: str
    intent: str
    annotation: str = ""


def read(name: str) -> str:
    """A file's text, plain or compressed; raises InputError where there is no source tree."""
    path = CORPORA / name
    if not path.exists():
        raise InputError("the report data is not here: it is in the source tree, under data/corpora")
    return (gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()).decode()


def table(name: str) -> Iterator[dict[str, str]]:
    """Rows of a tab-separated file."""
    return csv.DictReader(io.StringIO(read(name)), delimiter="\t", quoting=csv.QUOTE_NONE)


def _home(name: str, corpus: str, **wanted: str) -> list[Row]:
    return [
        Row(corpus, row["text"], f"{row['scenario']}_" * (corpus == "nlu") + row["intent"], row["annotation"])
        for row in table(name)
        if all(row[key] == value for key, value in wanted.items())
    ]


def _clinc(*splits: str) -> list[Row]:
    return [Row("clinc", row["text"], row["intent"]) for row in table("clinc.tsv.gz") if row["split"] in splits]


def massive(partition: str) -> list[Row]:
    """MASSIVE's utterances of one partition."""
    return _home("massive_en.tsv.gz", "massive", partition=partition)


def slurp_test() -> list[Row]:
    """SLURP's test utterances (report only)."""
    return _home("slurp_test.tsv.gz", "slurp")


def clinc_test() -> list[Row]:
    """CLINC's test utterances (report only)."""
    return _clinc("test")


def clinc_out_of_scope() -> list[Row]:
    """CLINC's out-of-scope test utterances (report only)."""
    return _clinc("oos_test")


def category(name: str) -> list[dict[str, str]]:
    """`category_train.tsv` or `category_dev.tsv`."""
    return list(table(name))


QUESTIONS = "category_questions.tsv.gz"
"""Questions of public test collections, each with a tier-1."""
TITLES = "question_titles.tsv.gz"
"""Titles of questions on Stack Exchange, without a label."""
LABELLED = ("category_nq.tsv", "category_assistant.tsv", "category_written.tsv", QUESTIONS)
"""Queries with a tier-1 that were labelled for training after `category_train.tsv`, each file of one source."""
ALIKE = 0.75
"""Share of common words from which two queries count as the same question."""


def labelled(name: str) -> list[tuple[str, str]]:
    """(text, tier-1) rows of one of LABELLED, without any that is or resembles a report query."""
    return unreported([(row["text"], row["iab_tier1"]) for row in category(name)])


def unreported(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The (text, tier-1) rows whose text neither is a report text nor resembles a query of `category_dev.tsv`."""
    free = apart([text for text, _ in rows], [row["text"] for row in category("category_dev.tsv")])
    return [row for row, ok in zip(rows, free, strict=True) if ok and not reported(row[0])]


def apart(texts: Iterable[str], queries: Iterable[str]) -> list[bool]:
    """Whether each text neither has the letters and digits of a query nor shares three in four words with one."""
    queries = list(queries)
    same, bags = frozenset(map(letters, queries)), [_words(query) for query in queries]
    often = Counter(word for bag in bags for word in bag)
    by_word = defaultdict[str, list[frozenset[str]]](list)
    for bag in bags:
        for word in _rarest(bag, often):
            by_word[word].append(bag)
    return [letters(text) not in same and not _resembles(_words(text), often, by_word) for text in texts]


def written_types() -> list[tuple[str, str]]:
    """(utterance, type) pairs of `types_written.txt`, without those of a report split."""
    pairs, kind = [], ""
    for line in read("types_written.txt").splitlines():
        if line.startswith("@"):
            kind = line[1:]
        elif line and not line.startswith("#") and not reported(line):
            pairs.append((line, kind))
    return pairs


def questions() -> tuple[list[str], list[str]]:
    """The public questions, which are general by definition: those that train the type, and those kept out of it.

    Titles of Stack Exchange train besides. A question is kept out by the first bit of the SHA-256 of its letters and
    digits; those that train resemble none of these.
    """
    texts = [text for text, _ in labelled(QUESTIONS)]
    kept = [text for text in texts if hashlib.sha256(letters(text).encode()).digest()[0] < 128]
    texts += [row["text"] for row in table(TITLES) if not reported(row["text"])]
    return [text for text, free in zip(texts, apart(texts, kept), strict=True) if free], kept


def letters(text: str) -> str:
    """The letters and digits of a text: what is left to compare when spelling of marks differs."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9]+", re.sub("['\u2019]", "", text.lower())))


def _rarest(words: frozenset[str], often: Mapping[str, int]) -> list[str]:
    """The rarest words of a text, so many that whatever shares ALIKE of the words has one of them among its own."""
    kept = len(words) - math.ceil(ALIKE * len(words)) + 1
    return sorted(words, key=lambda word: (often.get(word, 0), word))[:kept]


def _resembles(words: frozenset[str], often: Mapping[str, int], by_word: Mapping[str, list[frozenset[str]]]) -> bool:
    """Whether it shares enough with a query."""
    found = (bag for word in _rarest(words, often) for bag in by_word.get(word, ()))
    return any(_share(words, bag) >= ALIKE for bag in found)


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(len(one | other), 1)


def marked(name: str) -> list[str]:
    """Lines of one of the identifier files."""
    return [line for line in read(name).splitlines() if line.strip()]


@cache
def report_texts() -> frozenset[str]:
    """Letters and digits of the texts of every report split: none of them may train anything."""
    rows = [*massive("dev"), *massive("test"), *slurp_test(), *clinc_test(), *clinc_out_of_scope()]
    texts = [row.text for row in rows] + [row["text"] for row in category("category_dev.tsv")]
    for name in ("pos", "blind", "neg", "public"):
        texts += [_MARK.sub(r"\1", line) for line in marked(f"identifiers_{name}_dev.txt")]
    return frozenset(map(letters, texts))


def reported(text: str) -> bool:
    """Whether a text has the letters and digits of one of a report split."""
    return letters(text) in report_texts()


def training(*, without: frozenset[str] = frozenset()) -> tuple[list[Row], int]:
    """Training utterances without those of the named corpora and of report splits; how many of these went."""
    rows = [*massive("train"), *_home("slurp_devel.tsv.gz", "slurp"), *_home("nlu_home.tsv.gz", "nlu")]
    rows += _clinc("train", "val")
    rows = [row for row in rows if row.corpus not in without]
    kept = [row for row in rows if not reported(row.text)]
    return kept, len(rows) - len(kept)


def normal(text: str) -> str:
    """A text as compared between corpora: lower-case words with single spaces."""
    return " ".join(re.findall(r"[a-z0-9']+", text.lower()))


def types() -> dict[tuple[str, str], str]:
    """(family, intent) -> type; the family is `home` for MASSIVE, SLURP and NLU, else `clinc`."""
    mapping = json.loads(read("intent_types.json"))
    result = {("clinc", intent): kind for intent, kind in mapping["clinc"].items()}
    home = next(value for key, value in mapping.items() if key.startswith("home"))
    return result | {("home", intent): kind for intent, kind in home.items()}


def family(row: Row) -> str:
    """Which mapping an utterance's intent belongs to."""
    return "clinc" if row.corpus == "clinc" else "home"
