"""Extracts the public questions again: `python -m scripts.models.questions`; downloads 110 MB on first use.

The topics of public test collections come with Anserini, inside the package pyserini; only collections whose questions have
an open licence are read (docs/models.md), and of these neither answers nor judgements. What is extracted is compared with
category_questions.tsv.gz, which has a tier-1 besides (who filed them is told in docs/models.md), and question_titles.tsv.gz is
written: titles of Stack Exchange, which train the type alone.
"""

import gzip
import json
import re
import zipfile
from collections import Counter

from proxid.classify import corpora
from scripts.models import sources
from scripts.models.output import write_gzip
from scripts.models.spacy_training import words

ARCHIVE = "resources/jars/anserini-0.14.3-fatjar.jar"
TOPICS = {
    "natural_questions": ("nq.dev.txt", "nq.test.txt"),
    "tydi": ("mrtydi-v1.1-en.train.txt.gz", "mrtydi-v1.1-en.dev.txt.gz", "mrtydi-v1.1-en.test.txt.gz"),
    "web_questions": ("dpr.wq.test.txt",),
    "hotpot": ("beir-v1.0.0-hotpotqa.test.tsv.gz",),
    "dbpedia_entity": ("beir-v1.0.0-dbpedia-entity.test.tsv.gz",),
}
TITLES = {
    site: (f"beir-v1.0.0-cqadupstack-{site}.test.tsv.gz",) for site in ("android", "english", "gaming", "physics")
}
"""Sites about which people ask at home; titles of programmers, statisticians and the like are not read."""
_QUOTES = re.compile(r"'(?= |$)|(?<= )'|^'")
SHORTEST, LONGEST = 2, 25
"""Words that a question has."""


def extracted(topics: dict[str, tuple[str, ...]] = TOPICS) -> list[tuple[str, str]]:
    """Distinct (question, collection) pairs as a recogniser would write them, in the order of the files; no report texts."""
    seen, found = set[str](), list[tuple[str, str]]()
    with zipfile.ZipFile(sources.package_file("pyserini", ARCHIVE)) as archive:
        for collection, names in topics.items():
            for name in names:
                packed = archive.read(f"topics-and-qrels/topics.{name}")
                for line in (gzip.decompress(packed) if name.endswith(".gz") else packed).decode().splitlines():
                    text = _said(_question(name, line))
                    key = corpora.letters(text)
                    if SHORTEST <= len(text.split()) <= LONGEST and key not in seen:
                        seen.add(key)
                        found.append((text, collection))
    return corpora.unreported(found)


def _question(name: str, line: str) -> str:
    """The question of a line: before the answers, in a field, or after the number."""
    if name.startswith("nq."):
        return line.partition("\t")[0]
    if name.startswith("dpr."):
        return str(json.loads(line)["question"])
    return line.partition("\t")[2]


def _said(text: str) -> str:
    """Lower-case words without punctuation."""
    return " ".join(words(text)).replace(" 's", "'s")


def main() -> None:
    """Say how many questions were extracted, and whether the filed ones are among them."""
    titles = [
        (text, site)
        for title, site in extracted(TITLES)
        if (text := _QUOTES.sub("", title)) and re.fullmatch(r"[a-z0-9' ]+", text)
    ]
    lines = ["text\tcollection", *(f"{text}\tstackexchange_{site}" for text, site in titles)]
    write_gzip("question_titles.tsv.gz", "\n".join(lines) + "\n", corpora.CORPORA)
    found, filed = extracted(), corpora.category(corpora.QUESTIONS)
    others = {
        corpora.letters(row["text"])
        for name in ("category_train.tsv", *corpora.LABELLED)
        if name != corpora.QUESTIONS
        for row in corpora.category(name)
    }
    lacking = {(row["text"], row["collection"]) for row in filed} - set(found)
    left = set(found) - {(row["text"], row["collection"]) for row in filed}
    elsewhere = sum(corpora.letters(text) in others for text, _ in left)
    print(f"{len(found)} extracted; of {len(filed)} filed ones {len(lacking)} are not among them")
    print(f"{len(left)} are not filed, {elsewhere} of these because another file has them")
    for collection, count in sorted(Counter(row["collection"] for row in filed).items()):
        print(f"{collection}: {count}")


if __name__ == "__main__":
    main()
