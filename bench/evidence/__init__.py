"""`proxid bench evidence`: how fast an audit is, what evidence costs the request path, how large it is.

The audit reads the evidence of a simulated day from disk, in a process of its own and with as many further ones as
`proxid audit` has there, all nine checks but the pipeline's (which is the classifier's speed). Next to its events a
second stands the rate of bare Ed25519 verifies by processor time, made between the events: `audit_events_per_verify`
is the ratio. The same in one process alone (`audit_events_per_verify_alone`), by its processor time, is told of half of
the day, with the share of it that is spent in signature checks, by a clock around libsodium's verify, and how many they
are. Memory, of all processes, is measured at half of the day too, so that it can be told for a million events: what is
larger than that is measured, what is smaller goes on as from half to all of it (SQLite's cache, 2 MB, is full long
before). With `grow=1` also at a tenth and a quarter. The request path is measured with the evidence writer and without
(plain events left in the store), on two trials in turns. A round ends when what was asked is with the parties, seconds
after the answers: else each trial would pay for what the other has still to do. Processor time is what both services
and their stores took until then, less what they take at rest.

Options: events (100000), people (300), workers (further processes that check signatures; -1, as `proxid audit`), grow
(0), requests (a round, 1500), rounds (6), path (1; 0 leaves the request path out).
"""

from collections.abc import Mapping

from bench import Figure


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Measure; raises InputError for an option that is no number."""
    # Not at the top: the process that audits loads this package, and what makes a day would count as its memory.
    from bench.evidence import figures

    return figures.run(options)
