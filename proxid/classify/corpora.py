"""The corpora under data/corpora: what may train, what only reports, and the types of intents (data/README.md).

They are part of the source tree, not of the installed package.
"""

import csv
import gzip
import io
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
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


LABELLED = ("category_nq.tsv", "category_assistant.tsv", "category_written.tsv", "category_questions.tsv.gz")
"""Queries with a tier-1 that were labelled for training after `category_train.tsv`, each file of one source."""
ALIKE = 0.75
"""Share of common words from which two queries count as the same question."""


def labelled(name: str) -> list[tuple[str, str]]:
    """(text, tier-1) rows of one of LABELLED, without any that is or resembles a report query."""
    return unreported([(row["text"], row["iab_tier1"]) for row in category(name)])


def unreported(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The (text, tier-1) rows whose text neither is a report text nor resembles a query of `category_dev.tsv`."""
    report = frozenset(map(letters, report_texts()))
    free = apart([text for text, _ in rows], [row["text"] for row in category("category_dev.tsv")])
    return [row for row, ok in zip(rows, free, strict=True) if ok and letters(row[0]) not in report]


def apart(texts: Iterable[str], queries: Iterable[str]) -> list[bool]:
    """Whether each text neither has the letters and digits of a query nor shares three in four words with one."""
    queries = list(queries)
    same, bags = frozenset(map(letters, queries)), defaultdict[int, list[frozenset[str]]](list)
    for query in queries:
        bag = _words(query)
        bags[len(bag)].append(bag)
    return [letters(text) not in same and not _resembles(_words(text), bags) for text in texts]


def written_types() -> list[tuple[str, str]]:
    """(utterance, type) pairs of `types_written.txt`, without those of a report split."""
    report = frozenset(map(letters, report_texts()))
    pairs, kind = [], ""
    for line in read("types_written.txt").splitlines():
        if line.startswith("@"):
            kind = line[1:]
        elif line and not line.startswith("#") and letters(line) not in report:
            pairs.append((line, kind))
    return pairs


def letters(text: str) -> str:
    """The letters and digits of a text: what is left to compare when spelling of marks differs."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9]+", re.sub("['\u2019]", "", text.lower())))


def _resembles(words: frozenset[str], bags: Mapping[int, list[frozenset[str]]]) -> bool:
    """Whether it shares enough with a query; only those of about its size can."""
    sizes = range(math.ceil(ALIKE * len(words)), int(len(words) / ALIKE) + 1)
    return any(_share(words, bag) >= ALIKE for size in sizes for bag in bags.get(size, ()))


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(len(one | other), 1)


def marked(name: str) -> list[str]:
    """Lines of one of the identifier files."""
    return [line for line in read(name).splitlines() if line.strip()]


def report_texts() -> frozenset[str]:
    """Normalised texts of every report split: none of them may train anything."""
    rows = [*massive("dev"), *massive("test"), *slurp_test(), *clinc_test(), *clinc_out_of_scope()]
    texts = [row.text for row in rows] + [row["text"] for row in category("category_dev.tsv")]
    for name in ("pos", "blind", "neg", "public"):
        texts += [_MARK.sub(r"\1", line) for line in marked(f"identifiers_{name}_dev.txt")]
    return frozenset(map(normal, texts))


def training(*, without: frozenset[str] = frozenset()) -> tuple[list[Row], int]:
    """Training utterances without those of the named corpora and of report splits; how many of these went."""
    rows = [*massive("train"), *_home("slurp_devel.tsv.gz", "slurp"), *_home("nlu_home.tsv.gz", "nlu")]
    rows += _clinc("train", "val")
    rows = [row for row in rows if row.corpus not in without]
    report = report_texts()
    kept = [row for row in rows if normal(row.text) not in report]
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
