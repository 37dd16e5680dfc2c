"""Where artefacts are written, and how, so that the same content gives the same bytes."""

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def write_arrays(name: str, arrays: dict[str, NDArray[Any]], folder: Path = SHIPPED) -> None:
    """Write an npz whose entries carry no time stamp, in alphabetical order."""
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for key in sorted(arrays):
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.ascontiguousarray(arrays[key]), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{key}.npy"), buffer.getvalue(), zipfile.ZIP_DEFLATED, 9)


def write_json(name: str, value: object, folder: Path = SHIPPED) -> None:
    """Write JSON with sorted keys."""
    (folder / name).write_text(json.dumps(value, indent=1, sort_keys=True) + "\n")
