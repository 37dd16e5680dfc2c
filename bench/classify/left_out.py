"""Types on a source whose every split was kept out of training: networks that are trained when they are asked for.

They are kept in build/models/left-out, by the digest of what they are trained with, and are no part of the repository.
"""

import hashlib
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console

from bench.classify.counts import Counts, share
from bench.classify.product import of_known_type
from bench.classify.stages import likeliest
from proxid.classify import Pipeline, corpora
from proxid.classify.intents import THRESHOLD, Intents, with_topic
from proxid.classify.types import RequestType
from proxid.classify.weights import read_arrays
from proxid.errors import InputError

ROOT = Path(corpora.__file__).resolve().parents[2]
CACHE = ROOT / "build" / "models" / "left-out"
TRAINED_WITH = ("data/corpora", "scripts/models", "proxid/classify/text.py")
SOURCES = {"clinc": ("clinc", corpora.clinc_test), "slurp": ("home", corpora.slurp_test)}
"""The figure's name: what is left out, and what is reported on."""


def figures(pipeline: Pipeline) -> Counts:
    """Accuracy with what is rejected counted as wrong, and of the likeliest type."""
    found: Counts = {}
    for name, (source, split) in SOURCES.items():
        intents = Intents(read_arrays(network(source)))
        rows, truth = of_known_type(split())
        right = sum(answered(pipeline, intents, row.text) == kind for row, kind in zip(rows, truth, strict=True))
        found[f"type_unseen_{name}_accuracy"] = share(right, len(rows))
        found |= likeliest(pipeline, intents, rows, f"unseen_{name}")
    return found


def answered(pipeline: Pipeline, intents: Intents, text: str) -> str | None:
    """The type that `classify` would answer with another network of intents in it."""
    state = pipeline.read(text)
    if state is None:
        return None
    guess = intents.guess(state.words)
    told = with_topic(guess)
    if told.type is RequestType.GENERAL and pipeline.categories.sure(
        pipeline.categories.network.scores([state.words])[0][0]
    ):
        guess = told
    return str(guess.type) if guess.confidence >= THRESHOLD else None


def network(source: str) -> Path:
    """The network trained without a source, from the cache or trained now. Raises InputError where it cannot be."""
    path = CACHE / f"requests-without-{source}-{_digest()}.npz"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        begin, say = time.monotonic(), Console(stderr=True).print
        say(f"training the network of types without {source}, some minutes")
        command = [sys.executable, "-m", "scripts.models.requests", source, str(path)]
        if subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode:
            raise InputError("the left-out network cannot be trained here: pip install -e .[models], or -o unseen=no")
        say(f"trained in {time.monotonic() - begin:.0f} s")
    return path


def _digest() -> str:
    digest = hashlib.sha256()
    for name in TRAINED_WITH:
        place = ROOT / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and path.suffix != ".pyc":
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
