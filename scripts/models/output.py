"""Where artefacts are written, and how, so that the same content gives the same bytes."""

import gzip
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "proxid" / "classify" / "data"
TRAINED = ROOT / "models" / "en_proxid" / "en_proxid"
INTENT, TOPIC = TRAINED / "proxid_intent", TRAINED / "proxid_topic"
CURVE = ROOT / "data" / "risk_coverage.json"
"""What thresholds of the reject option give on held-out training texts."""


def write_gzip(name: str, text: str, folder: Path = SHIPPED) -> None:
    """Compress text without a time stamp."""
    with (folder / name).open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as stream:
        stream.write(text.encode())


def write_json(name: str, value: object, folder: Path = SHIPPED) -> None:
    """Write JSON with sorted keys."""
    (folder / name).write_text(json.dumps(value, indent=1, sort_keys=True) + "\n")
