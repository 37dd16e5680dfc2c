"""What the classifier costs: utterances a second of one core, processor time and memory of loading, size of files."""

import subprocess
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from bench.classify.product import report_lines
from proxid.classify import Pipeline, corpora, load_default
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.readable import unmasked
from proxid.classify.scoring import parse
from proxid.classify.text import clean

PASSES = 3
TAGGER = "tagger.json"
LOADED = """
import resource, time
from proxid.classify import load_default
load_default().classify("who wrote war and peace")
print(time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def speed(pipeline: Pipeline) -> dict[str, float]:
    """One utterance a call and by batches on SLURP's test split, on the identifiers, and the thesis's method."""
    thesis = load_default(method="thesis")
    slurp = [row.text for row in corpora.slurp_test()]
    marked = [parse(line)[0] for line in report_lines()]

    def algorithm1(text: str) -> None:
        cleaned = clean(text)
        if cleaned is not None:
            u = Utterance.of(cleaned)
            thesis.categories.path((), unmasked(u, pipeline.redactor.spans(u)))

    def each(call: Callable[[str], object]) -> Callable[[list[str]], None]:
        def run(texts: list[str]) -> None:
            for text in texts:
                call(text)

        return run

    return {
        "utterances_per_s": _rate(each(pipeline.classify), slurp),
        "utterances_per_s_pipe": _rate(lambda texts: [*pipeline.pipe(texts)], slurp),
        "utterances_per_s_identifiers": _rate(each(pipeline.classify), marked),
        "thesis_utterances_per_s": _rate(each(algorithm1), slurp),
    }


def _rate(run: Callable[[list[str]], object], texts: list[str]) -> float:
    """Texts a second of processor time, the best of PASSES; a first text is not timed (it loads tables)."""
    run(texts[:1])
    passes = []
    for _ in range(PASSES):
        start = time.thread_time()
        run(texts)
        passes.append(time.thread_time() - start)
    return len(texts) / min(passes)


def sizes() -> dict[str, float]:
    """Processor time and resident memory of a process that loads and classifies once; what its trained files weigh."""
    told = subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True).stdout.split()
    places = [Path(str(files("proxid.classify"))) / "data", Path(str(files("en_proxid")))]
    trained = [path for place in places for path in place.rglob("*") if path.suffix == ".npz" or path.name == TAGGER]
    weights = sum(path.stat().st_size for path in trained)
    return {"load_cpu_s": float(told[0]), "rss_mb": float(told[1]), "weights_mb": weights / 1e6}
