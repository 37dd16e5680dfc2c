"""The options of `proxid release --method kbuffer`; the names and defaults are those of DESIGN 16."""

from typing import Final

from proxid.lab.release.registry import Option

OPTIONS: Final = (
    Option("mode", str, "mix", "mix: cycles in groups; thesis, thesis3: Pàmies-Estrems 2020, for experiments",
           ("mix", "thesis", "thesis3")),
    Option("k", int, 10, "anonymity parameter", (), 1),
    Option("level", int, 2, "depth of the category tree at which records wait", (), 0),
    Option("margin", int, 1, "mix: colluding members that a group withstands", (), 0),
    Option("delta", float, 1.2, "thesis3: growth of k where all users of a category are the same"),
    Option("max_delay_records", int, 10_000, "mix: a record moves up after so many records (0: never)", (), 0),
    Option("max_delay", str, "6h", "mix: a record moves up after so long (or: never)"),
    Option("person_cap", int, 20, "mix: records one person may have waiting at a node (0: no cap)", (), 0),
    Option("time_bucket", str, "15min", "mix: width of the time a group carries"),
    Option("ladder", bool, True, "mix: show a text only if enough people issued it"),
    Option("min_text_users", int, 3, "mix: how many, margin apart", (), 1),
    Option("mask", bool, True, "mix: take identifiers out of the texts that are shown"),
    Option("clicks", str, "drop", "mix: rank and URL are dropped, or pass the ladder", ("drop", "ladder")),
    Option("epoch", str, "", "mix: counts start over after so long [the file]"),
    Option("order", str, "auto", "file: as it is; time: sort first; auto: sort if the file is not in order of time",
           ("auto", "file", "time")),
    Option("columns", str, "auto", "input: the input's; auto: and category, and group except in TSV; full: and both",
           ("auto", "input", "full")),
)  # fmt: skip
