"""`proxid bench classify`: how right, how fast and how large classification and the removal of identifiers are.

Every figure is measured on a split that trains and tunes nothing (data/README.md), in the source tree, and is the
product's: what `classify` answers, a rejected or withheld utterance counts as wrong. Each stands beside what the
product of BASELINE_COMMIT answers. Figures that begin with `stage_` are what a stage gives alone, past those before it.
Speed is utterances a second of one core's processor time. Options: `unseen=no` leaves out the figures whose networks
have to be trained first, `speed=no` those that take an idle core; `part=thesis` gives Algorithm 1 alone.
"""

from collections.abc import Mapping

from bench import Figure
from bench.classify import left_out, product, resources, stages, thesis
from bench.classify.counts import Counts
from proxid.classify import Pipeline, load_default
from proxid.classify.scoring import wilson

BASELINE_COMMIT = "281d7a1"
REACH: dict[str, float | None] = {
    "type_slurp_accuracy": 0.92,
    "type_clinc_accuracy": 0.965,
    "type_unseen_clinc_accuracy": 0.85,
    "type_unseen_slurp_accuracy": 0.82,
    "general_questions_accepted": 0.93,
    "out_of_scope_rejected": None,
    "search_coverage": 0.95,
    "category_coverage": 0.95,
    "category_strict": 0.77,
    "category_lenient": 0.85,
    "identifier_utterances_without_leak": 0.975,
    "identifier_token_recall": 0.99,
    "identifier_token_precision": 0.985,
    "slurp_persons_masked": 0.95,
    "identifier_free_touched": 0.015,
    "utterances_per_s": 2500.0,
    "utterances_per_s_pipe": 4000.0,
    "load_cpu_s": 2.5,
    "rss_mb": 420.0,
    "weights_mb": 25.0,
    "stage_type_slurp_likeliest": 0.938,
    "stage_type_clinc_likeliest": 0.984,
    "stage_type_unseen_clinc_likeliest": 0.895,
    "stage_type_unseen_slurp_likeliest": 0.855,
}
BASELINE = {
    "type_slurp_accuracy": 0.9156,
    "type_clinc_accuracy": 0.9725,
    "type_unseen_clinc_accuracy": 0.7716,
    "type_unseen_slurp_accuracy": 0.8543,
    "general_questions_accepted": 0.7027,
    "out_of_scope_rejected": 0.219,
    "search_coverage": 0.8698,
    "search_topical": 0.7497,
    "category_coverage": 0.7917,
    "category_strict": 0.6646,
    "category_lenient": 0.7267,
    "identifier_utterances_without_leak": 0.9739,
    "identifier_token_recall": 0.9923,
    "identifier_token_precision": 0.9879,
    "identifier_non_name_masked": 0.9922,
    "slurp_persons_masked": 0.9498,
    "identifier_free_touched": 0.0143,
    "utterances_per_s": 4099.0,
    "utterances_per_s_identifiers": 2304.0,
    "thesis_utterances_per_s": 7303.0,
    "load_cpu_s": 1.54,
    "rss_mb": 330.0,
    "weights_mb": 47.1,
    "stage_type_slurp_likeliest": 0.9377,
    "stage_type_slurp_likeliest_f1": 0.9203,
    "stage_type_clinc_likeliest": 0.9835,
    "stage_type_clinc_likeliest_f1": 0.9731,
    "stage_type_unseen_clinc_likeliest": 0.8953,
    "stage_type_unseen_slurp_likeliest": 0.8547,
    "stage_category_coverage": 0.9931,
    "stage_category_strict": 0.795,
    "stage_category_lenient": 0.882,
}
"""The figures at BASELINE_COMMIT by the functions of this package; speeds and those of stages as its own report
had them."""


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Measure everything that the options do not leave out."""
    pipeline = load_default()
    if options.get("part") == "thesis":
        return {name: _figure(name, value, f"of {total}") for name, (value, total) in thesis.figures(pipeline).items()}
    found = shares(pipeline, unseen=options.get("unseen") != "no")
    figures = {name: _figure(name, value, f"of {total}") for name, (value, total) in found.items()}
    if options.get("speed") != "no":
        figures |= {name: _figure(name, value, "/s") for name, value in resources.speed(pipeline).items()}
    figures |= {name: _figure(name, value, name.rpartition("_")[2]) for name, value in resources.sizes().items()}
    return {name: figures[name] for name in [*REACH, *sorted(figures.keys() - REACH.keys())] if name in figures}


def shares(pipeline: Pipeline, *, unseen: bool = True) -> Counts:
    """Every figure that is a share, and the number it is a share of."""
    found = product.figures(pipeline) | stages.figures(pipeline)
    return found | left_out.figures(pipeline) if unseen else found


def details(pipeline: Pipeline) -> dict[str, tuple[float, float, float, int]]:
    """Of every figure that is a share: value, its 95 % interval, and the number it is a share of."""
    found = shares(pipeline)
    return {name: (value, *wilson(round(value * total), total), total) for name, (value, total) in found.items()}


def _figure(name: str, value: float, unit: str) -> Figure:
    figure = Figure(value=round(value, 4), unit=unit, reach=REACH.get(name))
    if name in BASELINE:
        figure["baseline"] = BASELINE[name]
    return figure
