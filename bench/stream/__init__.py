"""`proxid bench stream`: the streaming anonymiser next to Algorithm 4 written plainly, in the same run (DESIGN 8.4).

Options: `part=files|columns|records` for one part, `records=N` for the streams, `rows=N` for the file.
"""

import importlib
from collections.abc import Mapping
from importlib.util import find_spec

from bench import Figure

PARTS = {
    "files": "bench.stream.files",
    "columns": "bench.stream.columns",
    "records": "bench.stream.records",
}
"""Modules with a `run(options) -> dict[str, Figure]`; add one for further figures. A name taken by an earlier part is
prefixed with its own part's."""


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """All parts, or the one named by the option `part`."""
    figures: dict[str, Figure] = {}
    for part, module in PARTS.items():
        if options.get("part", part) == part and find_spec(module) is not None:
            found = importlib.import_module(module).run(options)
            figures |= {f"{part}_{name}" if name in figures else name: figure for name, figure in found.items()}
    return figures
