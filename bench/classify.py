"""`proxid bench classify`: how right and how fast classification and the removal of identifiers are.

Every figure is measured on a split that trains and tunes nothing (data/README.md), in the source tree. Accuracy
counts the likeliest type of every utterance, the rejected ones too. Speed is utterances a second of one core's
processor time, one utterance a call. `details` gives the intervals and counts that docs/results/models.md prints.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bench import Figure
from proxid.classify import Pipeline, corpora, load_default
from proxid.classify.categories import Categories
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.intents import Intents
from proxid.classify.readable import unmasked
from proxid.classify.scoring import SpanScore, accuracy, macro_f1, parse, wilson
from proxid.classify.state import State
from proxid.classify.text import clean
from proxid.errors import InputError

HELD_OUT = Path(corpora.__file__).resolve().parents[2] / "data" / "held-out"
_SLOT = re.compile(r"\[(\w+) : ([^\]]+)\]")
FREE_SCENARIOS = ("qa", "weather", "iot")
REACH = {
    "type_slurp_accuracy": 0.93,
    "type_slurp_macro_f1": 0.91,
    "type_clinc_accuracy": 0.98,
    "type_clinc_macro_f1": 0.965,
    "type_unseen_clinc_accuracy": 0.82,
    "type_unseen_slurp_accuracy": 0.82,
    "category_coverage": 0.98,
    "category_strict": 0.78,
    "category_lenient": 0.86,
    "identifier_utterances_without_leak": 0.95,
    "identifier_token_recall": 0.985,
    "identifier_token_precision": 0.985,
    "identifier_non_name_masked": 0.98,
    "slurp_persons_masked": 0.92,
    "identifier_free_touched": 0.02,
    "utterances_per_s": 2500.0,
    "utterances_per_s_all_detectors": 1500.0,
    "thesis_utterances_per_s": None,
}
SEEN = {
    "type_slurp_accuracy": 0.917,
    "type_slurp_macro_f1": 0.892,
    "type_clinc_accuracy": 0.977,
    "type_clinc_macro_f1": 0.961,
    "type_unseen_clinc_accuracy": 0.80,
    "type_unseen_slurp_accuracy": 0.81,
    "category_coverage": 0.96,
    "category_strict": 0.73,
    "category_lenient": 0.81,
    "identifier_non_name_masked": 0.97,
    "slurp_persons_masked": 0.854,
    "identifier_free_touched": 0.021,
    "utterances_per_s": 3800.0,
    "utterances_per_s_all_detectors": 530.0,
}
"""What a feasibility study measured: the baseline of each figure."""


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Measure everything."""
    del options
    pipeline = load_default()
    found = types(pipeline) | unseen(pipeline) | categories(pipeline) | identifiers(pipeline) | persons(pipeline)
    found |= free(pipeline) | speed(pipeline)
    return {name: _figure(name, *found[name]) for name in REACH}


def details(pipeline: Pipeline) -> dict[str, tuple[float, float, float, int]]:
    """Of every figure that is a share: value, its 95 % interval, and the number it is a share of."""
    found = (
        types(pipeline)
        | unseen(pipeline)
        | categories(pipeline)
        | identifiers(pipeline)
        | persons(pipeline)
        | free(pipeline)
    )
    return {name: (value, *wilson(round(value * total), total), total) for name, (value, total) in found.items()}


def _figure(name: str, value: float, total: int) -> Figure:
    unit = "/s" if name.endswith("_per_s") or "_per_s_" in name else f"of {total}"
    figure = Figure(value=round(value, 4), unit=unit, reach=REACH[name])
    if name in SEEN:
        figure["baseline"] = SEEN[name]
    return figure


Counts = dict[str, tuple[float, int]]


def _read(pipeline: Pipeline, text: str) -> State:
    cleaned = clean(text)
    if cleaned is None:
        raise InputError("a text of the report data is empty")
    return pipeline.understood(Utterance.of(cleaned))


def _typed(intents: Intents, pipeline: Pipeline, rows: Iterable[corpora.Row]) -> tuple[list[str], list[str]]:
    mapping = corpora.types()
    known = [row for row in rows if (corpora.family(row), row.intent) in mapping]
    truth = [mapping[corpora.family(row), row.intent] for row in known]
    return truth, [str(intents.guess(_read(pipeline, row.text).words).type) for row in known]


def types(pipeline: Pipeline) -> Counts:
    """Accuracy and macro-F1 of the type on SLURP's and CLINC's test splits."""
    found: Counts = {}
    for name, rows in (("slurp", corpora.slurp_test()), ("clinc", corpora.clinc_test())):
        truth, guess = _typed(pipeline.intents, pipeline, rows)
        found[f"type_{name}_accuracy"] = accuracy(truth, guess), len(truth)
        found[f"type_{name}_macro_f1"] = macro_f1(truth, guess), len(truth)
    return found


def unseen(pipeline: Pipeline) -> Counts:
    """Accuracy on a source whose every split was kept out of training."""
    found: Counts = {}
    for name, file, rows in (("clinc", "clinc", corpora.clinc_test()), ("slurp", "home", corpora.slurp_test())):
        path = HELD_OUT / f"requests-without-{file}.npz"
        if not path.exists():
            raise InputError("the networks of the left-out sources are not here; make models builds them")
        with np.load(path) as arrays:
            truth, guess = _typed(Intents(arrays), pipeline, rows)
        found[f"type_unseen_{name}_accuracy"] = accuracy(truth, guess), len(truth)
    return found


def categories(pipeline: Pipeline) -> Counts:
    """Coverage: rows with a topic that get one. Strict: the primary tier-1; lenient: any that is listed."""
    assert isinstance(pipeline.categories, Categories)
    rows = corpora.category("category_dev.tsv")
    column = next(name for name in rows[0] if "tier1" in name)
    strict = lenient = covered = topical = 0
    for row in rows:
        gold = row[column].split("|")
        odds = pipeline.categories.odds(_read(pipeline, row["text"]).words)
        top = pipeline.categories.top(odds)
        strict += top == gold[0]
        lenient += top in gold
        topical += gold[0] != "NONE"
        covered += gold[0] != "NONE" and top != "NONE"
    return {"category_coverage": (covered / topical, topical), "category_strict": (strict / len(rows), len(rows)),
            "category_lenient": (lenient / len(rows), len(rows))}  # fmt: skip


def spans(pipeline: Pipeline, lines: Iterable[str]) -> SpanScore:
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
        score.add(cleaned.shown, [(s.start, s.end) for s in pipeline.understood(Utterance.of(inner)).spans or ()])
    return score


def report_lines() -> list[str]:
    """The large report set of identifiers."""
    return [line.partition("\t")[2] for line in corpora.marked("identifiers_report.tsv.gz")]


def identifiers(pipeline: Pipeline) -> Counts:
    """On the large report set."""
    score = spans(pipeline, report_lines())
    return {
        "identifier_utterances_without_leak": (score.clean / score.utterances, score.utterances),
        "identifier_token_recall": (score.recall, score.wanted),
        "identifier_token_precision": (score.precision, score.masked),
        "identifier_non_name_masked": (score.other_masked / score.other_spans, score.other_spans),
    }


def persons(pipeline: Pipeline) -> Counts:
    """Person entities of SLURP's test split whose every word is masked."""
    masked = total = 0
    for row in corpora.slurp_test():
        if "[person :" not in row.annotation:
            continue
        line = _SLOT.sub(
            lambda m: f"[NAME:{_bare(m[2])}]{_ending(m[2])}" if m[1] == "person" else m[2].strip(), row.annotation
        )
        score = spans(pipeline, [line])
        total += line.count("[NAME:")
        masked += line.count("[NAME:") - len(score.leaks)
    return {"slurp_persons_masked": (masked / total, total)}


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
    touched = sum(bool(_read(pipeline, text).spans) for text in texts)
    return {"identifier_free_touched": (touched / len(texts), len(texts))}


def speed(pipeline: Pipeline) -> Counts:
    """The whole pipeline on SLURP's test split and, where every detector works, on the identifiers; the thesis's."""
    thesis = load_default(method="thesis").categories
    slurp = [row.text for row in corpora.slurp_test()]
    marked = [parse(line)[0] for line in report_lines()]

    def algorithm1(text: str) -> object:
        cleaned = clean(text)
        if cleaned is None:
            return None
        u = Utterance.of(cleaned)
        return thesis.path((), unmasked(u, pipeline.redactor.spans(u)))

    return {
        "utterances_per_s": (_rate(pipeline.classify, slurp), len(slurp)),
        "utterances_per_s_all_detectors": (_rate(pipeline.classify, marked), len(marked)),
        "thesis_utterances_per_s": (_rate(algorithm1, slurp), len(slurp)),
    }


def _rate(call: Callable[[str], Any], texts: list[str]) -> float:
    """Calls a second of processor time, the best of three passes; the first call is not timed (it loads tables)."""
    call(texts[0])
    passes = []
    for _ in range(3):
        start = time.thread_time()
        for text in texts:
            call(text)
        passes.append(time.thread_time() - start)
    return len(texts) / min(passes)
