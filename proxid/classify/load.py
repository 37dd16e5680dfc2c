"""Loading `en_proxid` from its distribution."""

from importlib.resources import files
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.util import load_model_from_path

# Known also where the entry points of an installed proxid are not (an older installation of it in a checkout).
from proxid.classify import architecture  # noqa: F401
from proxid.classify.components import gates, identifiers, networks, slots, tokenizer  # noqa: F401


def load_pipeline(settings: dict[str, dict[str, Any]]) -> Language:
    """The pipeline, with settings of components other than those of its config.cfg."""
    return load_model_from_path(Path(str(files("en_proxid"))), config={"components": settings})
