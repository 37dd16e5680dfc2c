"""The spaCy pipeline `en_proxid`: requests' types and topics, personal identifiers (docs/models.md of proxid)."""

from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.util import load_model_from_path

__version__ = "0.2.0"


def load(**overrides: Any) -> Language:
    """What `spacy.load("en_proxid")` calls."""
    return load_model_from_path(Path(__file__).parent, **overrides)
