"""`study all`: every mechanism of the five papers on one log.

For each: the guarantee its manifest states, the success of the log lab's attacks, what it publishes, what is left of
people's profiles, utility by task, and what it costs in CPU time. Releases are made of the first part of the log in
time; query suggestion is tested on the sessions of the rest, which no release has seen.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from proxid.errors import InputError
from proxid.lab.filing import Filing
from proxid.lab.logs import LogBatch, create_log, read_log
from proxid.lab.logs.batch import Dictionaries
from proxid.lab.release.guarantee import Guarantee, Relation
from proxid.lab.release.items import GAP_SECONDS
from proxid.lab.release.k_anonymous.query import sessions_of
from proxid.lab.release.manifest import write_manifest
from proxid.lab.release.registry import Job, Outcome, load_method
from proxid.lab.release.sessions.method import clicks_beside
from proxid.lab.studies.entries import Entry, Kind
from proxid.lab.studies.measures import attack_success, profile_losses, shares, true_pairs
from proxid.lab.studies.tasks import Tasks
from proxid.lab.studies.view import Original, View, counts_of, view_of
from proxid.lab.utility.counted.suggestion import Evaluated, compared
from proxid.loglines.layout import Layout

TRAINING = 0.9
"""Share of the records, in time, that releases are made of."""


@dataclass(frozen=True)
class Plan:
    """The log, a folder for the releases, the mechanisms for a number of users, and what the attacker knows.

    records: of a log with more, whole histories of people that the seed draws, as many as have no more together.
    """

    source: Path
    folder: Path
    entries: Callable[[int], list[Entry]]
    digest: str
    level: int = 2
    k: int = 10
    seed: int = 1
    records: int | None = None
    filing: Filing = field(default_factory=Filing)


def guarantee_text(guarantee: dict[str, Any]) -> str:
    """A manifest's guarantee in a few words; differential privacy for one user's history replaced by another."""
    kind = str(guarantee.get("kind", "none"))
    if guarantee.get("epsilon") is not None:
        stated = Guarantee(
            guarantee["epsilon"], guarantee.get("delta") or 0.0, Relation(guarantee.get("relation", "replace"))
        )
        replaced = stated.under(Relation.REPLACE)  # one relation for all, or the numbers would not compare
        return f"({replaced.epsilon:.3g}, {replaced.delta:.2g})-DP a user"
    if guarantee.get("epsilon_per_query") is not None:
        return f"m·{guarantee['epsilon_per_query']:.3g}-DP for m queries"
    if "outsider" in guarantee:
        members = guarantee.get("members", {}).get("bound")
        return f"owner ≤ {guarantee['outsider']['bound']}" + (f", members ≤ {members}" if members else "")
    if "bound" in guarantee and isinstance(guarantee["bound"], dict):
        return f"equal logs of {guarantee['k']}; owner ≤ {guarantee['bound']['worst']:.2f}"
    if "k" in guarantee:
        return f"{kind}, k = {guarantee['k']}"
    claimed = guarantee.get("claimed")
    return "none" + (f" (claimed {claimed})" if claimed else "") if kind == "none" else kind


def release(plan: Plan, source: Path, entry: Entry, kind: str) -> tuple[Job, Outcome, float]:
    """Make one release with its manifest; CPU seconds of the method, reading and writing included.

    Each release has a ledger of its own: they are alternatives, and only one of them would be published.
    """
    method = load_method(entry.method)
    keys = {option.key for option in method.options}
    name = "".join(c if c.isalnum() else "-" for c in f"{entry.label} {kind}")
    ledger = {"ledger": str(plan.folder / f"{name}.ledger"), "dataset": "study"} if "ledger" in keys else {}
    options = entry.options | ledger
    options |= {"items": kind} if kind else {}
    truth = plan.folder / f"{name}.truth" if entry.kind is Kind.LOG and entry.method != "k-query" else None
    job = Job(source, plan.folder / f"{name}.tsv", method.checked(options), truth=truth)
    begin = time.process_time()
    outcome = method.run(job)
    seconds = time.process_time() - begin
    write_manifest(job, entry.method, outcome, plan.digest)
    return job, outcome, seconds


def outputs_of(entry: Entry, jobs: dict[str, Job]) -> dict[str, Path]:
    """The file of each kind of items that was released."""
    if entry.kind is not Kind.ITEMS or entry.kinds:
        return {kind: job.output for kind, job in jobs.items()}
    output = jobs[""].output
    if entry.method == "sessions":
        return {"sequence": output, "clicks": clicks_beside(output)}
    return {"clicks": output}


def split(plan: Plan) -> tuple[Path, LogBatch, Dictionaries, list[list[str]]]:
    """Write the first part of the log; return it, and the later sessions of two queries or more."""
    batch, log = read_log(plan.source, classifier=plan.filing)
    if not len(batch) or np.isnan(batch.time).all():
        raise InputError("the comparison needs a log with times")
    batch = some_people(batch, plan.records, plan.seed)
    ordered = batch.take(np.argsort(batch.time, kind="stable"))
    cut = int(TRAINING * len(ordered))
    training, later = ordered.take(slice(0, cut)), ordered.take(slice(cut, None))
    path = plan.folder / "training.tsv"
    with create_log(path, Layout().having("category"), log.dictionaries) as out:
        out.write(training)
    kept, names = read_log(path)
    return path, kept, names.dictionaries, _sessions(later, log.dictionaries)


def some_people(batch: LogBatch, records: int | None, seed: int) -> LogBatch:
    """Whole histories of people in a drawn order, as many as have no more records together, two at least."""
    held = np.bincount(batch.user)
    order = np.random.default_rng(seed).permutation(len(held))
    if records is None or len(batch) <= records:
        return batch
    taken = np.zeros(len(held), bool)
    taken[order[: max(2, int(np.searchsorted(np.cumsum(held[order]), records, "right")))]] = True
    return batch.take(taken[batch.user])


def _sessions(batch: LogBatch, dictionaries: Dictionaries) -> list[list[str]]:
    number = sessions_of(batch, GAP_SECONDS)
    order = np.lexsort((batch.row, batch.time, number))
    parts = np.split(batch.query[order], np.flatnonzero(np.diff(number[order])) + 1)
    found = [dictionaries.query.decode(part) for part in parts]
    return [list(dict.fromkeys(texts)) for texts in found if len(set(texts)) > 1]


def compare(plan: Plan, progress: Callable[[int, int], None] = lambda done, total: None) -> list[dict[str, Any]]:
    """One dict a mechanism, in the plan's order. Raises InputError for a log without times."""
    source, batch, dictionaries, tests = split(plan)
    original = Original(source, batch, dictionaries, counts_of(source), tests, plan.level, plan.k)
    chosen, tasks = plan.entries(len(np.unique(batch.user))), Tasks(original)
    own = tasks.suggestions(View(original.kinds, len(batch)))
    suggestions: dict[str, Evaluated] = {} if own is None else {"the log itself": own}
    rows = []
    for done, entry in enumerate(chosen):
        row, view = measured(plan, original, tasks, entry)
        if (found := tasks.suggestions(view)) is not None:
            suggestions[entry.label] = found
        rows.append(row)
        progress(done + 1, len(chosen))
    return _with_suggestions(rows, suggestions)


def measured(plan: Plan, original: Original, tasks: Tasks, entry: Entry) -> tuple[dict[str, Any], View]:
    """Make an entry's releases and measure them."""
    made = {kind: release(plan, original.path, entry, kind) for kind in entry.kinds or ("",)}
    job, outcome, seconds = next(iter(made.values()))
    view = view_of(entry, original, outputs_of(entry, {kind: m[0] for kind, m in made.items()}), job.truth)
    row: dict[str, Any] = {
        "mechanism": entry.label, "paper": entry.paper, "kind": str(entry.kind), "options": entry.options,
        "guarantee": outcome.guarantee, "guarantee_text": guarantee_text(outcome.guarantee),
        "releases": len(made), "cpu_seconds": seconds, "published": shares(original, view),
        "tasks": tasks.measure(view),
    }  # fmt: skip
    if view.lab is not None and job.truth is not None:
        row["attacks"] = attack_success(view.lab, plan.seed)
    if view.people is not None:
        row["people"] = profile_losses(original, view.people) | {"true_pairs": true_pairs(original, view.people)}
    return row, view


def _with_suggestions(rows: list[dict[str, Any]], runs: dict[str, Evaluated]) -> list[dict[str, Any]]:
    """Add P@5 and R@5 on a mechanism's own sessions and on those that all answering mechanisms evaluate.

    A mechanism that answers for fewer than one session in a hundred of the log's own would leave nothing in common.
    """
    most = max((len(run.scores) for run in runs.values()), default=0)
    found = compared({name: run for name, run in runs.items() if 100 * len(run.scores) >= most > 0})
    for row in rows:
        if row["mechanism"] in runs:
            own = {"own": runs[row["mechanism"]].mean()}
            row["tasks"]["suggestion"] = found.get(row["mechanism"], own)
    if "the log itself" in found:
        rows.append({"mechanism": "the log itself", "tasks": {"suggestion": found["the log itself"]}})
    return rows
