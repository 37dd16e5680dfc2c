"""What stages give alone, past those before them: likeliest types of what is rejected, topics of whatever type."""

from collections.abc import Iterable

from bench.classify.counts import Counts, share
from bench.classify.product import NO_TOPIC, of_known_type
from proxid.classify import Pipeline, corpora
from proxid.classify.categories import Categories
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.intents import Intents
from proxid.classify.scoring import accuracy, macro_f1
from proxid.classify.state import State
from proxid.classify.text import clean
from proxid.errors import InputError


def figures(pipeline: Pipeline) -> Counts:
    """All of them."""
    found: Counts = {}
    for name, split in (("slurp", corpora.slurp_test()), ("clinc", corpora.clinc_test())):
        found |= likeliest(pipeline, pipeline.intents, split, name)
    return found | topics(pipeline)


def understood(pipeline: Pipeline, text: str) -> State:
    """What the components make of a text, whatever its language."""
    cleaned = clean(text)
    if cleaned is None:
        raise InputError("a text of the report data is empty")
    return pipeline.understood(Utterance.of(cleaned))


def likeliest(pipeline: Pipeline, intents: Intents, split: Iterable[corpora.Row], name: str) -> Counts:
    """Accuracy and macro-F1 of the likeliest type, whatever its probability."""
    rows, truth = of_known_type(split)
    guess = [str(intents.guess(understood(pipeline, row.text).words).type) for row in rows]
    return {
        f"stage_type_{name}_likeliest": (accuracy(truth, guess), len(rows)),
        f"stage_type_{name}_likeliest_f1": (macro_f1(truth, guess), len(rows)),
    }


def topics(pipeline: Pipeline) -> Counts:
    """The category stage on every row of category_dev.tsv."""
    assert isinstance(pipeline.categories, Categories)
    rows = corpora.category("category_dev.tsv")
    column = next(name for name in rows[0] if "tier1" in name)
    strict = lenient = covered = topical = 0
    for row in rows:
        gold = row[column].split("|")
        state = understood(pipeline, row["text"])
        top = pipeline.categories.path(state.words, state.kept)[0]
        strict += top == gold[0]
        lenient += top in gold
        topical += gold[0] != NO_TOPIC
        covered += gold[0] != NO_TOPIC and top != NO_TOPIC
    return {
        "stage_category_coverage": share(covered, topical),
        "stage_category_strict": share(strict, len(rows)),
        "stage_category_lenient": share(lenient, len(rows)),
    }
