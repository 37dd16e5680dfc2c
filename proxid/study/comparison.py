"""`study all`: every mechanism of the five papers on one log (issue: the other four papers).

For each: the guarantee its manifest states, the success of the log lab's attacks, what it publishes, what is left of
people's profiles and of the frequent queries, and what it costs in CPU time.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proxid.anonymise.release.manifest import write_manifest
from proxid.anonymise.release.registry import Job, Outcome, load_method
from proxid.logs import read_log
from proxid.study.entries import Entry, Kind
from proxid.study.measures import attack_success, frequencies, issuers_of, profile_losses, shares, true_pairs
from proxid.study.view import Original, text_counts, view_of


@dataclass(frozen=True)
class Plan:
    """The log, a folder for the releases, the mechanisms, and what the attacker knows (ℓ and k by default)."""

    source: Path
    folder: Path
    entries: list[Entry]
    digest: str
    level: int = 2
    k: int = 10
    seed: int = 1


def guarantee_text(guarantee: dict[str, Any]) -> str:
    """A manifest's guarantee in a few words."""
    kind = str(guarantee.get("kind", "none"))
    if guarantee.get("epsilon") is not None:
        delta = guarantee.get("delta") or 0.0
        relation = {"add-remove": ", add/remove"}.get(str(guarantee.get("relation", "")), "")
        return f"({guarantee['epsilon']:.3g}, {delta:.2g})-DP a user{relation}"
    if guarantee.get("epsilon_per_query") is not None:
        return f"m·{guarantee['epsilon_per_query']:.3g}-DP for m queries"
    if "outsider" in guarantee:
        return f"owner ≤ {guarantee['outsider']['bound']}, members ≤ {guarantee['members']['bound']}"
    if "bound" in guarantee and isinstance(guarantee["bound"], dict):
        return f"equal logs of {guarantee['k']}; owner ≤ {guarantee['bound']['worst']:.2f}"
    if "k" in guarantee:
        return f"{kind}, k = {guarantee['k']}"
    claimed = guarantee.get("claimed")
    return "none" + (f" (claimed {claimed})" if claimed else "") if kind == "none" else kind


def release(plan: Plan, entry: Entry, ledger: Path) -> tuple[Job, Outcome, float]:
    """Make one release with its manifest; CPU seconds of the method, reading and writing included."""
    method = load_method(entry.method)
    keys = {option.key for option in method.options}
    options = entry.options | ({"ledger": str(ledger)} if "ledger" in keys else {})
    name = "".join(c if c.isalnum() else "-" for c in entry.label)
    truth = plan.folder / f"{name}.truth" if entry.kind is Kind.LOG and entry.method != "k-query" else None
    job = Job(plan.source, plan.folder / f"{name}.tsv", method.checked(options), truth=truth)
    begin = time.process_time()
    outcome = method.run(job)
    seconds = time.process_time() - begin
    write_manifest(job, entry.method, outcome, plan.digest)
    return job, outcome, seconds


def compare(plan: Plan, progress: Callable[[int, int], None] = lambda done, total: None) -> list[dict[str, Any]]:
    """One dict a mechanism, in the plan's order."""
    batch, log = read_log(plan.source)
    original = Original(plan.source, batch, log.dictionaries, plan.level, plan.k)
    issued, issuers = text_counts(batch, log.dictionaries), issuers_of(original)
    rows = []
    for done, entry in enumerate(plan.entries):
        # Each release has a ledger of its own: they are alternatives, and only one of them would be published.
        job, outcome, seconds = release(plan, entry, plan.folder / f"ledger-{done}.json")
        view = view_of(entry, original, job.output, job.truth)
        row: dict[str, Any] = {
            "mechanism": entry.label, "paper": entry.paper, "kind": str(entry.kind), "options": entry.options,
            "guarantee": outcome.guarantee, "guarantee_text": guarantee_text(outcome.guarantee),
            "cpu_seconds": seconds, "published": shares(original, issued, issuers, view),
            "frequent_queries": frequencies(issued, view.texts),
        }  # fmt: skip
        if view.lab is not None and job.truth is not None:
            row["attacks"] = attack_success(view.lab, plan.seed)
        if view.people is not None:
            row["people"] = profile_losses(original, view.people) | {"true_pairs": true_pairs(original, view.people)}
        rows.append(row)
        progress(done + 1, len(plan.entries))
    return rows
