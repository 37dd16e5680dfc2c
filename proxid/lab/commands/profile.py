"""What `proxid profile` reads of a query log (002 §3.3.4.3)."""

from pathlib import Path
from typing import Any

from proxid.lab.commands.common import progress_bar, say_columns, warn_if_empty, warn_of
from proxid.lab.filing import Filing, coverage
from proxid.lab.logs import open_log
from proxid.lab.profiles import Profiler, category_names
from proxid.profiles import Counts


def counts_of_log(
    log: Path, level: int, *, classify: bool, file_by: str, ontology: Path | None
) -> tuple[Counts, dict[str, Any]]:
    """Records by person and category at a level, and how many have a category; warns of what is left out."""
    profiler = Profiler()
    say_columns(log)
    with (
        open_log(log, classifier=Filing(file_by, ontology) if classify else None) as reader,
        progress_bar("reading") as progress,
    ):
        for batch in reader:
            dictionaries = reader.dictionaries
            profiler.add_batch(batch, dictionaries.user, category_names(dictionaries.tree, level))
            progress(reader.position, reader.size)
    categories = coverage(reader.rows, reader.uncategorised, filed=classify)
    warn_if_empty(len(profiler.counts), "the log")
    warn_of(categories)
    return profiler.counts, categories
