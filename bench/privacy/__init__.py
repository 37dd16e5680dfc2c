"""`proxid bench privacy`: what the strongest attacks find in each form of a release, and what each form still says.

Options: `part` (one of the last words below; all), `rows`, `users`, `seed` and `days` of the synthetic log (100000,
1000, 11, AOL's rate), `log` (a file instead of it, or `massive`), `epoch` and `bucket` in seconds (a twentieth of the
log's time, and a quarter of that).
"""

import importlib
from collections.abc import Mapping

from bench import Figure

PARTS = ("bench.privacy.owners", "bench.privacy.gateway", "bench.privacy.names", "bench.privacy.utility")
"""Modules with a `run(options) -> dict[str, Figure]`."""
TABLE = "bench.privacy.table"
"""The part that takes hours: forms, levels and known items; asked for by name."""


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """All parts but the table, or the one that the option `part` names."""
    chosen = options.get("part")
    if chosen == TABLE.rpartition(".")[2]:
        table: dict[str, Figure] = importlib.import_module(TABLE).run(options)
        return table
    figures: dict[str, Figure] = {}
    for module in PARTS:
        if chosen in (None, module.rpartition(".")[2]):
            figures |= importlib.import_module(module).run(options)
    return figures
