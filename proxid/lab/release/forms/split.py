"""`proxid release --form split`: two files, who asked at a node, and apart from it what was asked (DESIGN 8.11).

The output is the people feed, a log without texts. Contents stand beside it in `OUT.contents.jsonl`, a line an epoch:
its start, the rows (category prefix, text or unit, records) and the records that no round took.
"""

import json
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from proxid.errors import ConfigError
from proxid.lab.columns.released import Released
from proxid.lab.logs import Dictionaries, Layout, LogBatch, create_log, layout_of
from proxid.lab.logs.strings import StringTable
from proxid.lab.logs.whole import whole_file
from proxid.lab.release.duration import parse_duration
from proxid.lab.release.forms.budgeted import budget_of, noisy_contents
from proxid.lab.release.forms.guarantee import split_guarantee
from proxid.lab.release.forms.reading import read_whole
from proxid.lab.release.forms.rounds import Entries, SplitRelease, split_log, split_settings
from proxid.lab.release.forms.truth import entries_log
from proxid.lab.release.forms.visible import TextsOf, texts_of
from proxid.lab.release.registry import Job, Outcome
from proxid.lab.release.truth import open_truth
from proxid.lab.release.visible import default_mask

Line = dict[str, Any]


def contents_path(output: Path) -> Path:
    """Where the contents of a release lie."""
    return output.with_name(output.name + ".contents.jsonl")


def run(job: Job) -> Outcome:
    """Read the log whole, release it, write both feeds. Raises ConfigError, InputError, OutputError."""
    options = dict(job.options)
    settings = split_settings(options, _seconds(options, "bucket"), _seconds(options, "epoch"))
    budget = budget_of(options)
    with ExitStack() as stack:
        log, batch, spellings = read_whole(job, stack)
        known = log.dictionaries
        texts = _texts(options, known.query)
        done = split_log(batch, known.tree, settings, texts, job.seed)
        _write_people(job, log.layout, known, batch, done.entries)
        lines, warnings = _lines(done), list[str]()
        if budget is not None:
            lines, warnings = noisy_contents(batch, known.tree, done, settings, budget)
    outputs = [job.output]
    if options["content"] != "none":
        outputs.append(contents_path(job.output))
        _write_contents(outputs[1], lines)
    in_rounds, entries = int((done.entries.round >= 0).sum()), done.entries
    return Outcome(
        guarantee=split_guarantee(settings, budget, content=options["content"], known_seed=job.seed is not None),
        records_in=log.rows,
        records_out=len(entries),
        suppressed=dict(done.suppressed),
        bad_rows=dict(log.bad.counts),
        bad_lines=list(log.bad.lines),
        details={
            "warnings": [*warnings, *spellings.warnings()],
            "epochs": len(done.contents),
            "entries": len(entries),
            "raised_by_node": _raised(known, entries),
            "in_rounds": in_rounds if options["content"] == "rounds" else 0,
            "withheld": sum(contents.withheld for _, contents in done.contents),
        },
        outputs=outputs,
        uncategorised=log.uncategorised,
    )


def _texts(options: dict[str, Any], texts: StringTable) -> TextsOf:
    if options["content"] != "rounds" or not options["ladder"]:
        return lambda code: ()
    return texts_of(texts, default_mask() if options["mask"] else None)


def _seconds(options: dict[str, Any], key: str) -> float:
    seconds = parse_duration(options[key], key) if options[key] != "file" else None
    if seconds is None:
        raise ConfigError(f"form split has epochs and ticks: {key} is a duration")
    return seconds


def _write_people(job: Job, source: Layout, known: Dictionaries, batch: LogBatch, entries: Entries) -> None:
    empty = Dictionaries(user=known.user, query=StringTable([""]), tree=known.tree)
    feed = replace(entries_log(batch, entries, 0), url=np.full(len(entries), -1, np.int32))
    layout = layout_of(job.output, like=source).having("category")
    with create_log(job.output, layout, empty) as out:
        out.write(replace(feed, group=np.full(len(entries), -1, np.int32)))
    none = np.full(len(entries), -1, np.int32)
    columns = (feed.user, none, none, none, feed.category, none, none, feed.group, feed.time)
    with open_truth(job.truth) as truth:
        truth.write(Released(*columns, row=batch.row[entries.row], at=batch.row[entries.row]))


def _raised(known: Dictionaries, entries: Entries) -> dict[str, int]:
    """Entries that were raised, by the node they are shown at."""
    nodes, count = np.unique(entries.node[entries.raised], return_counts=True)
    return {known.category[node]: times for node, times in zip(nodes.tolist(), count.tolist(), strict=True)}


def _lines(done: SplitRelease) -> list[Line]:
    return [
        {
            "epoch": datetime.fromtimestamp(start, UTC).isoformat(),
            "withheld": contents.withheld,
            "rows": [["/".join(row.path), row.text, row.records] for row in contents.rows],
        }
        for start, contents in done.contents
    ]


def _write_contents(path: Path, lines: list[Line]) -> None:
    with whole_file(path) as file:
        for line in lines:
            file.write((json.dumps(line, ensure_ascii=False) + "\n").encode())
