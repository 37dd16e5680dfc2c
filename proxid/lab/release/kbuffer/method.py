"""`proxid release --method kbuffer`: the streaming mechanisms of DESIGN 8 on a file (DESIGN 13).

mode `mix` (default) is DESIGN 8.4-8.7, `thesis` and `thesis3` are the algorithms of 002 for experiments. One pass, in
the order of the file or of time; memory follows what waits and, with the ladder, the distinct texts.
"""

import importlib
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from proxid.anonymise.mix.settings import Settings
from proxid.lab.columns.engines import ColumnEngine, MixEngine, mix_engine, thesis3_engine, thesis_engine
from proxid.lab.columns.released import Released
from proxid.lab.logs import Dictionaries, Layout, LogReader, LogWriter, create_log, layout_of, open_log
from proxid.lab.logs.ordered import Ordered, in_time_order
from proxid.lab.release.duration import parse_duration
from proxid.lab.release.forms.measured import best_attack, excess_warning
from proxid.lab.release.kbuffer.guarantee import guarantee
from proxid.lab.release.kbuffer.options import OPTIONS, settled
from proxid.lab.release.registry import Job, Method, Outcome
from proxid.lab.release.same_users import Spellings
from proxid.lab.release.truth import Truth, open_truth
from proxid.lab.release.visible import Shown, default_mask

_TEXTS: Final = 100_000
_LADDER_TEXTS: Final = 400_000
"""Texts kept beyond those of waiting records before the texts are numbered anew; the ladder must look at each again."""


@dataclass(slots=True)
class _Run:
    """A release under way."""

    engine: ColumnEngine
    ordered: Ordered
    shown: Shown
    out: LogWriter
    truth: Truth
    level: int
    spellings: Spellings
    most_waiting: int = 0
    most_bytes: int = 0
    ladder: dict[str, int] = field(default_factory=dict)
    raised: Counter[int] = field(default_factory=Counter)

    def write(self, released: Released) -> None:
        """Write what left, and note how much waits."""
        self.most_waiting = max(self.most_waiting, self.engine.waiting)
        self.most_bytes = max(self.most_bytes, self.engine.nbytes)
        if isinstance(self.engine, MixEngine):
            state = self.engine.ladder_state
            self.ladder = max(self.ladder, state, key=lambda found: found.get("ladder_bytes", 0))
        if len(released):
            self._count_raised(released)
            self.out.write(self.shown.log(released))
            self.truth.write(released)

    def _count_raised(self, released: Released) -> None:
        """Count records that are shown above their level, by node: they are missing in the counts below it."""
        depth = self.shown.dictionaries.tree.depth[np.maximum(released.category, 0)]
        above = released.category[(released.category >= 0) & (depth < self.level)]
        nodes, times = np.unique(above, return_counts=True)
        self.raised.update(dict(zip(nodes.tolist(), times.tolist(), strict=True)))

    def tidy(self, known: Dictionaries) -> None:
        """Forget texts that nothing waiting needs."""
        ladder = isinstance(self.engine, MixEngine) and self.engine.with_ladder
        spare = _LADDER_TEXTS if ladder else _TEXTS
        if max(len(known.query), len(known.url)) > 2 * self.engine.waiting + spare:
            self.engine.forget_texts()
        self.shown.forget()


def make_settings(options: dict[str, Any]) -> Settings:
    """The settings of mode mix. Raises ConfigError."""
    return Settings(
        k=options["k"],
        margin=options["margin"],
        level=options["level"],
        max_delay_records=options["max_delay_records"] or None,
        max_delay_s=parse_duration(options["max_delay"], "max_delay"),
        min_text_users=options["min_text_users"],
        person_cap=options["person_cap"] or None,
        time_bucket_s=int(parse_duration(options["time_bucket"], "time_bucket") or 0),
    )


def make_engine(options: dict[str, Any], known: Dictionaries, seed: int | None) -> ColumnEngine:
    """The mechanism that the options ask for. Raises ConfigError."""
    if options["mode"] == "thesis":
        return thesis_engine(known, options["k"], options["level"], seed=seed)
    if options["mode"] == "thesis3":
        return thesis3_engine(known, options["k"], options["level"], delta=options["delta"], seed=seed)
    epoch = None if options["epoch"] == "file" else parse_duration(options["epoch"], "epoch")
    clicks = options["clicks"] == "ladder"
    return mix_engine(known, make_settings(options), ladder=options["ladder"], clicks=clicks, epoch_s=epoch, seed=seed)


def output_layout(path: Path, source: Layout, columns: str, groups: bool) -> Layout:
    """The input's structure, with the category where the input had none, and the group where the format allows."""
    layout = layout_of(path, like=source)
    if columns == "input":
        return layout
    layout = layout.having("category")
    return layout.having("group") if groups and (columns == "full" or layout.format != "tsv") else layout


def run(job: Job) -> Outcome:
    """Read, anonymise and write in one pass. Raises ConfigError, InputError, OutputError."""
    if job.options["form"] != "pairs":
        forms = importlib.import_module(f"proxid.lab.release.forms.{job.options['form']}")
        done: Outcome = forms.run(job)
        return done
    with ExitStack() as stack:
        log = stack.enter_context(open_log(job.source, classifier=job.classifier))
        going = _start(job, log, stack)
        for batch in going.ordered:
            going.write(going.engine.feed(going.spellings.joined(batch)))
            if not going.ordered.holds_codes:
                going.tidy(log.dictionaries)
            job.progress(log.position, log.size)
        going.write(going.engine.finish())
    return Outcome(
        guarantee=guarantee(dict(job.options), known_seed=job.seed is not None),
        records_in=log.rows,
        records_out=going.out.rows,
        suppressed=dict(going.engine.suppressed),
        bad_rows=dict(log.bad.counts),
        bad_lines=list(log.bad.lines),
        details=_details(going, dict(job.options)),
        outputs=[job.output],
        uncategorised=log.uncategorised,
    )


def _start(job: Job, log: LogReader, stack: ExitStack) -> _Run:
    """Mechanism, order of reading and files of a release; what must end with it is entered into the stack."""
    options, known = dict(job.options), log.dictionaries
    mix = options["mode"] == "mix"
    if mix and options["clicks"] == "drop":
        log.wanted -= {"url"}
    engine = make_engine(options, known, job.seed)
    ordered = Ordered(log) if options["order"] == "file" else in_time_order(log, options["order"], stack)
    shown = Shown(known, default_mask() if mix and options["ladder"] and options["mask"] else None)
    layout = output_layout(job.output, log.layout, options["columns"], mix)
    truth = stack.enter_context(open_truth(job.truth))
    out = stack.enter_context(create_log(job.output, layout, shown.dictionaries))
    return _Run(engine, ordered, shown, out, truth, options["level"], Spellings(known.user))


def _details(going: _Run, options: dict[str, Any]) -> dict[str, Any]:
    engine, ordered = going.engine, going.ordered
    details: dict[str, Any] = {
        "most_waiting": going.most_waiting,
        "mechanism_bytes": going.most_bytes,
        "order": "time" if ordered.sorted_here else "file",
        "steps_back_in_time": ordered.steps_back,
        "warnings": going.spellings.warnings(),
    }
    if isinstance(engine, MixEngine):
        claim = 1 / (options["k"] + options["margin"])
        details["warnings"] += excess_warning(best_attack("pairs", options, claim))
        paths = going.shown.dictionaries.category
        details["raised_by_node"] = {paths[node]: times for node, times in sorted(going.raised.items())}
        details |= {"groups": engine.groups, "texts_hidden_by_mask": going.shown.hidden, **going.ladder}
    return details


METHOD: Final = Method(
    "kbuffer", "the streaming anonymiser (Pàmies-Estrems 2020; modes mix, thesis, thesis3)", OPTIONS, run,
    "--mode mix --k 10 --level 2 log.tsv -o released.tsv", settled,
)  # fmt: skip
