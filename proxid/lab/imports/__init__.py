"""One's own history out of the exports of Google and Amazon, as a query log of one person (DESIGN 15).

    history = History("ann", folder)
    read_takeout(source, history)       # or read_alexa
    history.write(output)               # JSON lines in order of time, and history.report says what was kept

Exports are read as streams: of a zip nothing is unpacked to disk, of a file no more than a record is in memory.
"""

from proxid.lab.imports.alexa import read_alexa
from proxid.lab.imports.google import read_takeout
from proxid.lab.imports.history import History

__all__ = ["History", "read_alexa", "read_takeout"]
