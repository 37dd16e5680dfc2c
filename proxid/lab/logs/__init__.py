"""Query logs on disk: columns, dictionaries, formats, a generator (DESIGN 13, 15).

Everything that reads or writes a log goes through `open_log` and `create_log`; everything in between works on
`LogBatch` columns whose strings are codes into `Dictionaries`:

    with open_log(path) as log:
        for batch in log:                       # LogBatch after LogBatch, never the whole file
            ...                                 # log.dictionaries.query[code], log.dictionaries.tree.ancestors(2)

    with create_log(path, log.layout, log.dictionaries) as out:
        out.write(batch)                        # the file appears under its name when the block ends well
"""

from proxid.lab.logs.base import LogReader, LogWriter
from proxid.lab.logs.batch import NONE, Dictionaries, LogBatch, empty_batch
from proxid.lab.logs.files import create_log, open_log, read_log
from proxid.lab.logs.strings import StringTable
from proxid.lab.logs.tree import ROOT, CategoryTree
from proxid.loglines.layout import BadRows, Layout, layout_of

__all__ = [
    "NONE",
    "ROOT",
    "BadRows",
    "CategoryTree",
    "Dictionaries",
    "Layout",
    "LogBatch",
    "LogReader",
    "LogWriter",
    "StringTable",
    "create_log",
    "empty_batch",
    "layout_of",
    "open_log",
    "read_log",
]
