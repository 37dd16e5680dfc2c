"""`proxid release --method semantic` and `--method nsqc` (000; DESIGN 13)."""

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from proxid.lab.concepts import ConceptMapper
from proxid.lab.logs.batch import NONE, Dictionaries, LogBatch
from proxid.lab.logs.files import create_log, read_log
from proxid.lab.logs.whole import whole_file
from proxid.lab.release.account import Account
from proxid.lab.release.purse import BUDGET_OPTIONS, Purse
from proxid.lab.release.registry import Job, Method, Option, Outcome
from proxid.lab.release.semantic import budget as budgets
from proxid.lab.release.semantic.accounting import cost_of, details, require_no_seed
from proxid.lab.release.semantic.domain import Ints, Reals
from proxid.lab.release.semantic.exponential import RandomBytes
from proxid.lab.release.semantic.mechanism import SemanticMechanism, build_mechanism
from proxid.lab.release.semantic.paths import ConceptPaths
from proxid.lab.release.semantic.phrases import Phrases, map_log
from proxid.lab.release.semantic.quality import Criterion
from proxid.lab.release.semantic.reconstruct import from_templates, put_back
from proxid.lab.release.semantic.topics import FOUR, OTHER, SETTINGS
from proxid.loglines.layout import layout_of
from proxid.ontology.wordnet import WordNet, load

_SHARED = (
    Option("epsilon", float, 1.0, "privacy budget (see budget), a user's whole log by default"),
    Option("setting", str, "A", "domains and profile topics of Sánchez et al. 2018, §4", ("A", "B", "C")),
    Option(
        "budget", str, "user",
        "user: epsilon/m for a user with m noun phrases; stream: epsilon/max_queries, refused after max_queries; "
        "query: epsilon for every noun phrase (no bound for the user)", ("user", "stream", "query"),
    ),
    Option("max_queries", int, 100, "budget stream: noun phrases a user may ever have released", (), 1),
    Option("state", str, "", "budget stream: file that remembers what every user has spent; keep it secret"),
    Option(
        "reconstruct", str, "templates",
        "templates: the text depends on the released concept alone; put-back: the original query with its concepts "
        "replaced, an experiment without any guarantee", ("templates", "put-back"),
    ),
    *BUDGET_OPTIONS,
)  # fmt: skip


def run_semantic(job: Job) -> Outcome:
    """The method `semantic`."""
    return release(job, Criterion(job.options["criterion"]), os.urandom)


def run_nsqc(job: Job) -> Outcome:
    """The method `nsqc`."""
    return release(job, Criterion.NSQC, os.urandom)


def release(job: Job, criterion: Criterion, random: RandomBytes) -> Outcome:
    """Protect a log file; `random` is the system's source except in tests. Raises ConfigError, InputError."""
    require_no_seed(job)
    purse = _purse(job)
    wordnet, options = load(), job.options
    mechanism = build_mechanism(wordnet, SETTINGS[options["setting"]], criterion)
    batch, log = read_log(job.source)
    scope = np.flatnonzero(mechanism.domain_of != OTHER)
    phrases = map_log(batch, log.dictionaries.query, ConceptMapper(wordnet, scope.tolist()))
    kept, epsilon, spent = _within_budget(phrases, log.dictionaries, options)
    account, allowed = _charge(purse, options, kept, epsilon), len(kept)
    if spent is not None and options["state"]:  # before anything is written: a crash must not give budget back
        budgets.save_stream_budget(Path(options["state"]), spent)
    concepts = mechanism.protect(kept.concept, epsilon, random, job.progress)
    if options["reconstruct"] == "templates":
        texts = from_templates(wordnet, concepts.tolist(), random)
    else:
        queries = log.dictionaries.query.decode(batch.query)
        kept, concepts, texts = _put_back(wordnet, kept, concepts, queries)
    order = _shuffled_within_users(kept.user, random)
    released = _as_log(wordnet, kept.user, concepts, texts, order, log.dictionaries)
    with create_log(job.output, layout_of(job.output, like=log.layout).having("category"), log.dictionaries) as out:
        out.write(released)
    if job.truth is not None:
        _write_truth(job.truth, batch.row[kept.row][order])
    return Outcome(
        guarantee=guarantee(mechanism, options),
        records_in=len(batch),
        records_out=len(released),
        suppressed={"no concept in the domains": phrases.unmapped, "over the budget": len(phrases) - allowed},
        bad_rows=dict(log.bad.counts),
        bad_lines=list(log.bad.lines),
        details=details(account, criterion=str(criterion), domains=list(mechanism.setting.domains)),
        outputs=[job.output],
    )


def _purse(job: Job) -> Purse | None:
    """What the release pays from, if it has a price: one without a guarantee has none. Raises BudgetError."""
    if job.options["reconstruct"] != "templates":
        return None
    purse = Purse.of(job)
    purse.require(cost_of("semantic", job.options["epsilon"]))
    return purse


def _charge(purse: Purse | None, options: Any, kept: Phrases, epsilon: Reals) -> Account | None:
    """Pay for the dearest user."""
    if purse is None or not len(kept):
        return None
    each = options["budget"] == "query"
    spent = float(np.bincount(kept.user, epsilon).max()) if each else options["epsilon"]
    return purse.charge(cost_of("semantic", spent))


def _within_budget(
    phrases: Phrases, dictionaries: Dictionaries, options: Any
) -> tuple[Phrases, Reals, budgets.StreamBudget | None]:
    """The phrases that may be released and ε′ of each."""
    if options["budget"] == "user":
        return phrases, budgets.per_user(phrases.user, options["epsilon"]), None
    if options["budget"] == "query":
        return phrases, budgets.per_query(phrases.user, options["epsilon"]), None
    path, maximum = options["state"], options["max_queries"]
    spent = (
        budgets.load_stream_budget(Path(path), options["epsilon"], maximum)
        if path
        else budgets.StreamBudget(options["epsilon"], maximum)
    )
    keep = np.zeros(len(phrases), bool)
    for user in np.unique(phrases.user).tolist():
        rows = np.flatnonzero(phrases.user == user)
        keep[rows[: spent.take(dictionaries.user[user], len(rows))]] = True
    kept = phrases.take(np.flatnonzero(keep))
    return kept, np.full(len(kept), spent.each), spent


def _shuffled_within_users(user: Ints, random: RandomBytes) -> Ints:
    """An order by user, random within: the place of a query in the log says nothing."""
    return np.lexsort([np.frombuffer(random(8 * len(user)), np.uint64), user])


def _put_back(wordnet: WordNet, kept: Phrases, concepts: Ints, queries: list[str]) -> tuple[Phrases, Ints, list[str]]:
    """One query a record instead of one a phrase; its first phrase and concept stand for it."""
    first = np.flatnonzero(np.r_[True, np.diff(kept.row) != 0])[: len(kept)]
    texts = []
    for a, b in pairwise([*first.tolist(), len(kept)]):
        replaced = list(zip(kept.phrase[a:b], concepts[a:b].tolist(), strict=True))
        texts.append(put_back(wordnet, queries[int(kept.row[a])], replaced))
    return kept.take(first), concepts[first], texts


def _as_log(
    wordnet: WordNet, user: Ints, concepts: Ints, texts: list[str], order: Ints, dictionaries: Dictionaries
) -> LogBatch:
    path = ConceptPaths(wordnet, FOUR)
    paths = {c: dictionaries.tree.add(path(c)) for c in np.unique(concepts).tolist()}
    category = np.array([paths[c] for c in concepts.tolist()], np.int32)
    n = len(order)
    none = np.full(n, NONE, np.int32)
    return LogBatch(
        user=user[order].astype(np.int32), query=dictionaries.query.encode(texts)[order], category=category[order],
        time=np.full(n, np.nan), rank=none, url=none, row=np.arange(n), group=none,
    )  # fmt: skip


def _write_truth(path: Path, rows: Ints) -> None:
    with whole_file(path, 0o600) as file:
        file.write("".join(f"{i}\t{row}\n" for i, row in enumerate(rows.tolist())).encode())


def guarantee(mechanism: SemanticMechanism, options: Any) -> dict[str, Any]:
    """What the release gives, as data for its manifest."""
    if options["reconstruct"] != "templates":
        return {
            "kind": "none",
            "reason": "words and inflections of the original queries are published without noise",
        }
    several = len(mechanism.domains) > 1
    base = {
        "kind": "differential privacy",
        "delta": 0.0,
        "unit": "user",
        "neighbours": "another log of one user with as many noun phrases"
        + (", each in the same domain" if several else ""),
        "covers": "the concept of every noun phrase, within the stated domains",
        "disclosed": ["number of noun phrases a user has in the domains"]
        + (["domain of every noun phrase"] if several else []),
    }
    if options["budget"] == "query":
        return base | {"epsilon": None, "epsilon_per_query": options["epsilon"], "note": "m·epsilon for m noun phrases"}
    return base | {"epsilon": options["epsilon"]}


METHOD = Method(
    "semantic",
    "concepts replaced by similar ones, differentially private (Sánchez et al. 2018)",
    (Option("criterion", str, "sqc2", "quality criterion", ("sqc1", "sqc2", "nsqc")), *_SHARED),
    run_semantic,
    "--criterion sqc2 --epsilon 1 log.tsv -o replaced.tsv",
)
NSQC = Method(
    "nsqc", "concepts replaced without semantics, the baseline of Sánchez et al. 2018", _SHARED, run_nsqc,
    "--epsilon 1 log.tsv -o replaced.tsv",
)  # fmt: skip
