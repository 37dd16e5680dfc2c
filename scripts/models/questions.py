"""Real questions without a label, on which the category network imitates its teacher: the topics of public test collections.

They come with Anserini, inside the package pyserini. Only collections whose questions have an open licence are read
(docs/models.md); answers and judgements are not.
"""

import gzip
import json
import zipfile

from proxid.classify import corpora
from scripts.models import sources
from scripts.models.network import words

ARCHIVE = "resources/jars/anserini-0.14.3-fatjar.jar"
TOPICS = (
    "nq.dev.txt nq.test.txt mrtydi-v1.1-en.train.txt.gz mrtydi-v1.1-en.dev.txt.gz mrtydi-v1.1-en.test.txt.gz dpr.wq.test.txt "
    "beir-v1.0.0-hotpotqa.test.tsv.gz dpr.squad.test.txt beir-v1.0.0-dbpedia-entity.test.tsv.gz"
).split() + [
    f"beir-v1.0.0-cqadupstack-{site}.test.tsv.gz" for site in "gaming english android physics stats unix".split()
]
SHORTEST, LONGEST = 2, 25
"""Words that a question has."""


def questions() -> list[str]:
    """Distinct questions as a recogniser would write them, in the order of the files; no labelled and no report ones."""
    seen = {
        corpora.letters(row["text"])
        for name in ("category_train.tsv", *corpora.LABELLED)
        for row in corpora.category(name)
    }
    found = []
    with zipfile.ZipFile(sources.package_file("pyserini", ARCHIVE)) as archive:
        for name in TOPICS:
            packed = archive.read(f"topics-and-qrels/topics.{name}")
            for line in (gzip.decompress(packed) if name.endswith(".gz") else packed).decode().splitlines():
                text = _said(_question(name, line))
                key = corpora.letters(text)
                if SHORTEST <= len(text.split()) <= LONGEST and key not in seen:
                    seen.add(key)
                    found.append(text)
    return [text for text, _ in corpora.unreported([(text, "") for text in found])]


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
