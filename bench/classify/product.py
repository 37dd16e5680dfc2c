"""What the product answers: whatever is rejected or withheld counts as wrong, and as masked whole."""

import re
from collections.abc import Iterable

from bench.classify.counts import Counts, share
from proxid.classify import Pipeline, corpora
from proxid.classify.scoring import SpanScore, parse
from proxid.classify.text import clean
from proxid.errors import InputError

_SLOT = re.compile(r"\[(\w+) : ([^\]]+)\]")
FREE_SCENARIOS = ("qa", "weather", "iot")
NO_TOPIC = "NONE"


def figures(pipeline: Pipeline) -> Counts:
    """All of them."""
    found = types(pipeline) | questions(pipeline) | search(pipeline) | categories(pipeline)
    return found | identifiers(pipeline) | persons(pipeline) | free(pipeline)


def of_known_type(rows: Iterable[corpora.Row]) -> tuple[list[corpora.Row], list[str]]:
    """The utterances whose intent has a type, and these types."""
    mapping = corpora.types()
    known = [row for row in rows if (corpora.family(row), row.intent) in mapping]
    return known, [mapping[corpora.family(row), row.intent] for row in known]


def types(pipeline: Pipeline) -> Counts:
    """Accuracy of the type on SLURP's and CLINC's test splits; what is rejected of CLINC's out-of-scope utterances."""
    found: Counts = {}
    for name, split in (("slurp", corpora.slurp_test()), ("clinc", corpora.clinc_test())):
        rows, truth = of_known_type(split)
        answers = pipeline.pipe(row.text for row in rows)
        right = sum(answer.type == kind for answer, kind in zip(answers, truth, strict=True))
        found[f"type_{name}_accuracy"] = share(right, len(rows))
    outside = [row.text for row in corpora.clinc_out_of_scope()]
    rejected = sum(answer.type is None for answer in pipeline.pipe(outside))
    return found | {"out_of_scope_rejected": share(rejected, len(outside))}


def questions(pipeline: Pipeline) -> Counts:
    """Public questions that are answered as general ones: those that do not train the type."""
    texts = corpora.questions()[1]
    return {"general_questions_accepted": share(sum(a.type == "general" for a in pipeline.pipe(texts)), len(texts))}


def general_texts() -> list[str]:
    """General utterances of CLINC's, SLURP's and MASSIVE's test splits, and the queries that the papers print."""
    rows, truth = of_known_type([*corpora.clinc_test(), *corpora.slurp_test(), *corpora.massive("test")])
    texts = [row.text for row, kind in zip(rows, truth, strict=True) if kind == "general"]
    return texts + [row["query"] for row in corpora.table("queries_printed.tsv")]


def search(pipeline: Pipeline) -> Counts:
    """General queries that the laboratory files, `NONE` being a category of its own; how many get another one."""
    texts = general_texts()
    paths = [pipeline.file(text) for text in texts]
    topical = sum(path not in ((), (NO_TOPIC,)) for path in paths)
    return {"search_coverage": share(sum(map(bool, paths)), len(texts)), "search_topical": share(topical, len(texts))}


def categories(pipeline: Pipeline) -> Counts:
    """Coverage: rows with a topic that get one. Strict: the primary tier-1; lenient: any that is listed."""
    rows = corpora.category("category_dev.tsv")
    column = next(name for name in rows[0] if "tier1" in name)
    tops = [answer.path[0] if answer.path else "" for answer in pipeline.pipe(row["text"] for row in rows)]
    gold = [row[column].split("|") for row in rows]
    topical = [top for top, listed in zip(tops, gold, strict=True) if listed[0] != NO_TOPIC]
    return {
        "category_coverage": share(sum(top not in ("", NO_TOPIC) for top in topical), len(topical)),
        "category_strict": share(sum(top == listed[0] for top, listed in zip(tops, gold, strict=True)), len(rows)),
        "category_lenient": share(sum(top in listed for top, listed in zip(tops, gold, strict=True)), len(rows)),
    }


def masked(pipeline: Pipeline, text: str) -> list[tuple[int, int]]:
    """Start and end of what the product shows of no character: a text that it withholds, whole."""
    state = pipeline.read(text)
    return [(0, len(text))] if state is None else [(span.start, span.end) for span in state.spans or ()]


def score_of(pipeline: Pipeline, lines: Iterable[str]) -> SpanScore:
    """Scores of marked lines; lines are cleaned first, so that marks and spans speak of the same text."""
    score = SpanScore()
    for line in lines:
        cleaned = clean(line)
        if cleaned is None:
            continue
        text, _ = parse(cleaned.shown)
        inner = clean(text)
        if inner is None or inner.shown != text:
            raise InputError("a marked line changes when it is cleaned")
        score.add(cleaned.shown, masked(pipeline, text))
    return score


def report_lines() -> list[str]:
    """The large report set of identifiers."""
    return [line.partition("\t")[2] for line in corpora.marked("identifiers_report.tsv.gz")]


def identifiers(pipeline: Pipeline) -> Counts:
    """On the large report set."""
    score = score_of(pipeline, report_lines())
    return {
        "identifier_utterances_without_leak": (score.clean / score.utterances, score.utterances),
        "identifier_token_recall": (score.recall, score.wanted),
        "identifier_token_precision": (score.precision, score.masked),
        "identifier_non_name_masked": (score.other_masked / score.other_spans, score.other_spans),
    }


def persons(pipeline: Pipeline) -> Counts:
    """Person entities of SLURP's test split whose every word is masked."""
    hidden = total = 0
    for row in corpora.slurp_test():
        if "[person :" not in row.annotation:
            continue
        line = _SLOT.sub(
            lambda m: f"[NAME:{_bare(m[2])}]{_ending(m[2])}" if m[1] == "person" else m[2].strip(), row.annotation
        )
        score = score_of(pipeline, [line])
        total += line.count("[NAME:")
        hidden += line.count("[NAME:") - len(score.leaks)
    return {"slurp_persons_masked": share(hidden, total)}


def _bare(words: str) -> str:
    return words.strip().removesuffix("'s")


def _ending(words: str) -> str:
    return "'s" if words.strip().endswith("'s") else ""


def free_texts() -> list[str]:
    """General utterances of CLINC, and MASSIVE's of qa, weather and iot without a person or place."""
    mapping = corpora.types()
    texts = [row.text for row in corpora.clinc_test() if mapping.get(("clinc", row.intent)) == "general"]
    for row in corpora.massive("test"):
        slots = {kind for kind, _ in _SLOT.findall(row.annotation)}
        if row.intent.split("_")[0] in FREE_SCENARIOS and not slots & {"person", "place_name"}:
            texts.append(row.text)
    return texts


def free(pipeline: Pipeline) -> Counts:
    """Share of identifier-free utterances in which something is masked."""
    texts = free_texts()
    return {"identifier_free_touched": share(sum(bool(masked(pipeline, text)) for text in texts), len(texts))}
