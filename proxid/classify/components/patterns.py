"""An operator's own identifiers: patterns of spaCy's `span_ruler`, which run before the product's rules."""

import re
from pathlib import Path
from typing import Any

from spacy.language import Language

from proxid.classify.components.identifiers import OPERATOR
from proxid.errors import ConfigError
from proxid.jsontext import load_json
from proxid.regular import regular_text

_KIND = re.compile(r"[A-Z][A-Z_]{0,30}")
MAX_BYTES = 4 * 1024 * 1024


def add_patterns(nlp: Language, path: Path) -> None:
    """Put a `span_ruler` with the patterns of a file before the rules; raises ConfigError, which quotes no pattern.

    Phrases are found in whatever case they are written; a match that ends within a word takes all of it. A label is the
    kind that stands in the masked text: capitals and underscores.
    """
    patterns = _patterns(path)
    ruler: Any = nlp.add_pipe(
        "span_ruler", before="proxid_rules", config={"spans_key": OPERATOR, "phrase_matcher_attr": "LOWER"}
    )
    try:
        ruler.add_patterns(patterns)
    except Exception as error:
        raise ConfigError("classify.patterns: spaCy cannot use a pattern of the file") from error


def _patterns(path: Path) -> list[dict[str, Any]]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError("classify.patterns: a file of patterns may have 4 MiB")
        lines = regular_text(path).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("classify.patterns: the file cannot be read as UTF-8 text") from error
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(load_json(line))
            except ValueError as error:
                raise ConfigError(f"classify.patterns: line {number} is no JSON") from error
            if not _usable(found[-1]):
                raise ConfigError(f"classify.patterns: line {number} needs a label in capitals and a pattern")
    return found


def _usable(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and _KIND.fullmatch(str(entry.get("label"))) is not None
        and bool(entry.get("pattern"))
        and set(entry) <= {"label", "pattern", "id"}
    )
