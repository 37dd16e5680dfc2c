"""Spans of identifiers over every corpus, to compare before and after a change of the rules.

    python -m scripts.models.spans spans.json           # writes them, and says how fast they were found
    python -m scripts.models.spans spans.json old.json  # and shows the texts whose spans differ

Texts of report splits are compared by number and digest alone: nothing is tuned on them, so none of them is shown.
"""

import json
import re
import sys
import time
from collections import Counter
from pathlib import Path

from proxid.classify import corpora
from proxid.classify.identifiers import tagger
from proxid.classify.identifiers.redactor import Redactor
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.text import clean

Found = dict[str, list[list[list[int | str]]]]
"""A text's spans: of the rules, with names, and with names where nobody should be named."""
_MARK = re.compile(r"\[[A-Z~]+:([^\]]*)\]")


def texts() -> dict[str, list[str]]:
    """Texts by source; sources whose name begins with "report" are not to be looked at."""
    report = [
        row.text for rows in (corpora.massive("dev"), corpora.massive("test"), corpora.slurp_test()) for row in rows
    ]
    report += [row.text for row in (*corpora.clinc_test(), *corpora.clinc_out_of_scope())]
    marked = corpora.marked("identifiers_report.tsv.gz")
    for name in ("pos", "blind", "neg", "public"):
        marked += corpora.marked(f"identifiers_{name}_dev.txt")
    return {
        "report": report,
        "report of identifiers": [_MARK.sub(r"\1", line.rpartition("\t")[2]) for line in marked],
        "tune": [_MARK.sub(r"\1", line.rpartition("\t")[2]) for line in corpora.marked("identifiers_tune.tsv.gz")],
        "train": [row.text for row in corpora.training()[0]],
        "questions": [text for name in corpora.LABELLED for text, _ in corpora.labelled(name)],
    }


def found(redactor: Redactor, text: str) -> list[list[list[int | str]]]:
    """Spans of one text (`Found`)."""
    cleaned = clean(text)
    if cleaned is None:
        return []
    u = Utterance.of(cleaned)
    rules = redactor.rules(u)
    both = [redactor.complete(u, rules, nameless) for nameless in (False, True)]
    return [[[span.start, span.end, span.kind] for span in spans] for spans in (rules, *both)]


def main(path: str, old: str = "") -> None:
    """Write the spans to `path`; compare with those of `old`."""
    redactor = Redactor(tagger.load())
    result: dict[str, Found] = {}
    for source, rows in texts().items():
        start = time.process_time()
        result[source] = {text: found(redactor, text) for text in dict.fromkeys(rows)}
        print(
            f"{source}: {len(result[source])} texts, {len(result[source]) / (time.process_time() - start):.0f} a second"
        )
    Path(path).write_text(json.dumps(result))
    if old:
        compare(json.loads(Path(old).read_text()), result)


def compare(old: dict[str, Found], new: dict[str, Found]) -> None:
    """Count what differs, and show it where it may be seen."""
    for source, before in old.items():
        after = new[source]
        changed = [text for text in before if text in after and before[text] != after[text]]
        stages = Counter(i for text in changed for i in range(3) if before[text][i] != after[text][i])
        print(
            f"{source}: {len(changed)} of {len(before)} differ; rules, names, nameless: {[stages[i] for i in range(3)]}"
        )
        for text in [] if source.startswith("report") else changed:
            print(f"  {text}\n    - {_words(text, before[text][1])}\n    + {_words(text, after[text][1])}")


def _words(text: str, spans: list[list[int | str]]) -> str:
    return " | ".join(f"{span[2]} {text[int(span[0]) : int(span[1])]}" for span in spans)


if __name__ == "__main__":
    main(*sys.argv[1:])
