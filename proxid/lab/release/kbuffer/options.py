"""The options of `proxid release --method kbuffer`; the names and defaults are those of DESIGN 16."""

from typing import Any, Final

from proxid.errors import ConfigError
from proxid.lab.release.registry import Option

OPTIONS: Final = (
    Option("mode", str, "mix", "mix: cycles in groups; thesis, thesis3: Pàmies-Estrems 2020, for experiments",
           ("mix", "thesis", "thesis3")),
    Option("form", str, "pairs", "mix: pairs of name and content, which the papers' attacks are about;"
           " split: who asked and, apart, what was asked;"
           " cohort: pairs in fixed cohorts", ("pairs", "split", "cohort")),
    Option("content", str, "rounds", "split: what was asked in rounds, none of it, or with noise",
           ("rounds", "none", "dp")),
    Option("k", int, 10, "anonymity parameter", (), 1),
    Option("level", int, None, "depth of the category tree at which records wait [2; form split: 1]", (), 0),
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
    Option("epoch", str, "24h", "mix: counts start over after so long; file: never"),
    Option("bucket", str, "6h", "split: between two ticks"),
    Option("max_share", float, 0.8, "split: share of a round over which nothing is shown of what they have in common"),
    Option("dp_items", int, 5, "content dp: items of a person and epoch that count", (), 1),
    Option("dp_epsilon", float, 1.0, "content dp: epsilon a person and epoch"),
    Option("dp_delta", float, 1e-6, "content dp: delta a person and epoch", (), 0.0),
    Option("order", str, "auto", "file: as it is; time: sort first; auto: sort if the file is not in order of time",
           ("auto", "file", "time")),
    Option("columns", str, "auto", "input: the input's; auto: and category, and group except in TSV; full: and both",
           ("auto", "input", "full")),
)  # fmt: skip


def settled(options: dict[str, Any]) -> dict[str, Any]:
    """The level, which depends on the form. Raises ConfigError for a form of another mode."""
    if options["form"] != "pairs" and options["mode"] != "mix":
        raise ConfigError("the forms split and cohort are of mode mix")
    level = options["level"]
    return {**options, "level": (1 if options["form"] == "split" else 2) if level is None else level}
