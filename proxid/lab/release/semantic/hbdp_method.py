"""`proxid release --method hbdp`: a noisy histogram of concepts a user, the baseline of 000 §4.

The release is no log but a table: user, concept, label, count; concepts whose noisy count is 0 are left out.
"""

import os

import numpy as np

from proxid.lab.concepts import ConceptMapper
from proxid.lab.logs.files import read_log
from proxid.lab.logs.whole import whole_file
from proxid.lab.release.purse import BUDGET_OPTIONS, Purse
from proxid.lab.release.registry import Job, Method, Option, Outcome
from proxid.lab.release.semantic.accounting import cost_of, details, require_no_seed
from proxid.lab.release.semantic.domain import Ints
from proxid.lab.release.semantic.exponential import RandomBytes
from proxid.lab.release.semantic.hbdp import Noise, bound_user, discrete_laplace, noisy_histogram, sensitivity
from proxid.lab.release.semantic.phrases import map_log
from proxid.lab.release.semantic.topics import OTHER, SETTINGS, categorise
from proxid.ontology.wordnet import load


def run_hbdp(job: Job) -> Outcome:
    """The method `hbdp`."""
    return release(job, os.urandom)


def release(job: Job, random: RandomBytes) -> Outcome:
    """Write every user's noisy histogram. Raises ConfigError, InputError."""
    require_no_seed(job)
    purse, costs = Purse.of(job), cost_of("hbdp", job.options["epsilon"])
    purse.require(costs)
    wordnet, maximum = load(), job.options["max_queries"]
    bins = np.flatnonzero(categorise(wordnet, SETTINGS[job.options["setting"]].domains) != OTHER)
    noise: Noise = discrete_laplace(job.options["epsilon"], maximum)
    batch, log = read_log(job.source)
    account = purse.charge(costs)
    phrases = map_log(batch, log.dictionaries.query, ConceptMapper(wordnet, bins.tolist()))
    names = [f"{wordnet.name(c)}\t{wordnet.label(c)}" for c in bins.tolist()]
    users, written, cut = np.unique(batch.user), 0, 0
    with whole_file(job.output) as file:
        file.write(b"user\tconcept\tlabel\tcount\n")
        for done, user in enumerate(users.tolist()):
            own = phrases.concept[phrases.user == user]
            kept = bound_user(own, maximum, random)
            cut += len(own) - len(kept)
            counts = noisy_histogram(np.searchsorted(bins, kept), len(bins), noise)
            file.write(_rows(log.dictionaries.user[user], names, counts))
            written += int((counts > 0).sum())
            job.progress(done + 1, len(users))
    return Outcome(
        guarantee={
            "kind": "differential privacy", "epsilon": job.options["epsilon"], "delta": 0.0, "unit": "user",
            "neighbours": "another log of one user", "covers": "counts of concepts within the stated domains",
            "disclosed": ["that a user is in the log"],
        },
        records_in=len(batch),
        records_out=written,
        suppressed={"no concept in the domains": phrases.unmapped, "over max_queries": cut},
        bad_rows=dict(log.bad.counts),
        bad_lines=list(log.bad.lines),
        details=details(account, bins=len(bins), sensitivity=sensitivity(maximum)),
        outputs=[job.output],
    )  # fmt: skip


def _rows(user: str, names: list[str], counts: Ints) -> bytes:
    return "".join(f"{user}\t{names[i]}\t{counts[i]}\n" for i in np.flatnonzero(counts).tolist()).encode()


METHOD = Method(
    "hbdp",
    "noisy histograms of concepts, the baseline of Sánchez et al. 2018",
    (
        Option("epsilon", float, 1.0, "privacy budget of a user's histogram"),
        Option("setting", str, "A", "domains of Sánchez et al. 2018, §4", ("A", "B", "C")),
        Option("max_queries", int, 100, "declared maximum of noun phrases a user; more are cut", (), 1),
        *BUDGET_OPTIONS,
    ),
    run_hbdp,
    "--epsilon 1 --setting A log.tsv -o histograms.tsv",
)
