"""Query logs line by line, in plain Python: what a log's lines mean, for whoever reads them (DESIGN 13, 15).

The laboratory reads columns by compiled loops (`proxid.lab.logs`), a device replays lines; both take the fields, their
names, times and reasons from here, and a contract test reads the same lines by both.
"""

from proxid.loglines.layout import FIELDS, BadRows, Layout, layout_of
from proxid.loglines.reader import Line, read_lines

__all__ = ["FIELDS", "BadRows", "Layout", "Line", "layout_of", "read_lines"]
