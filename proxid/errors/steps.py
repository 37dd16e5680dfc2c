"""The one table of what each code means to somebody who meets it, and what to try.

`what` is also the public message that a peer is told (`proxid.runtime.transport.status`); `next` is what a command
adds, unless whoever raised the error knows better (`ProxidError.at`). Where and why stand in the error itself.
"""

from typing import Final, NamedTuple

from proxid.errors.codes import Code, ProxidError


class Step(NamedTuple):
    """What is wrong, and what to try."""

    what: str
    next: str


_LATER: Final = "try again later; if it stays so, its operator finds the reason in its log"
_REPORT: Final = "a fault in one of both programs: compare their versions, and report it"
_FORGED: Final = "nothing to try here: whoever sent it has to be asked; keep what it sent"
_COPY: Final = "put a copy back, or see “Backup and disaster” in docs/operations.md"

STEPS: Final[dict[Code, Step]] = {
    Code.INTERNAL: Step("internal error", "PROXID_TRACEBACK=1 shows where; report it"),
    Code.CONFIG_INVALID: Step(
        "configuration is invalid", "correct the key that is named; docs/operations.md lists all"
    ),
    Code.INPUT_INVALID: Step("input is invalid", "--help shows an example"),
    Code.OUTPUT_FAILED: Step("output cannot be written", "see to room on the disk, and to the folder's owner"),
    Code.BUDGET_EXCEEDED: Step("privacy budget is spent", "proxid budget shows what was spent on what"),
    Code.ENCODING_INVALID: Step("message is not canonically encoded", _REPORT),
    Code.MESSAGE_INVALID: Step("message is malformed", _REPORT),
    Code.KEY_INVALID: Step(
        "key is not acceptable", "see to the file's owner and rights (0600); put the key back from its copy"
    ),
    Code.SIGNATURE_INVALID: Step("signature does not hold", _FORGED),
    Code.HEADER_MISMATCH: Step("message is for other circumstances", _REPORT),
    Code.LIMIT_EXCEEDED: Step("user block is not allowed", _FORGED),
    Code.PROOF_INVALID: Step("proof does not hold", _FORGED),
    Code.SEAL_INVALID: Step(
        "sealed body does not open", "the key it was sealed to is not in use here (any more): ask again"
    ),
    Code.CREDENTIAL_INVALID: Step(
        "credential is not acceptable", "compare trust.toml with the public.toml of whom it is about: proxid doctor"
    ),
    Code.OVERSIZED: Step("message is too large", "say it shorter, or in parts"),
    Code.COMMIT_MISMATCH: Step("commit does not match", _REPORT),
    Code.RESPONSE_MISMATCH: Step("response does not match the request", _FORGED),
    Code.CONSENT_INVALID: Step(
        "consent is not acceptable", "proxid device consent without a bundle shows what is in effect and offered"
    ),
    Code.RECORD_MISMATCH: Step("log record does not match", _FORGED),
    Code.EPOCH_NOT_CURRENT: Step("epoch is not current", "ask again; if it stays so, compare the clocks"),
    Code.EPOCH_KEY_STALE: Step("epoch key is not in use", "ask again: a new key is fetched"),
    Code.CLOCK_DOUBTED: Step("clock is not reliable", "set its clock; it goes on by itself"),
    Code.UPSTREAM_CLOCK_DOUBTED: Step(
        "service cannot rely on its clock", "the main service's operator has to set its clock"
    ),
    Code.NOT_FRESH: Step("time is outside the allowed skew", "compare this machine's clock"),
    Code.NOT_REGISTERED: Step(
        "key is not registered", "the person was erased, or is not enrolled under this key: proxid device enrol"
    ),
    Code.REPLAYED: Step("nonce was used before", "ask again"),
    Code.RATE_LIMITED: Step("too many requests", "ask again in a minute"),
    Code.OVERLOADED: Step("service is overloaded", "it has more to do than it can; ask again later"),
    Code.PEER_REFUSED: Step(
        "caller is not allowed", "it does not list this certificate, or it has ended; proxid doctor says which"
    ),
    Code.CREDENTIAL_NEEDED: Step("credential is needed", "ask again: it is sent with the next message"),
    Code.UPSTREAM_UNREACHABLE: Step(
        "service cannot be reached", "see that it is started, and at this address: proxid doctor"
    ),
    Code.STORE_UNAVAILABLE: Step(
        "store is not available", "see that the store runs and that store_url is its address: proxid doctor"
    ),
    Code.UPSTREAM_REFUSED: Step("service refused the message", _LATER),
    Code.NOT_ANSWERED: Step("there is no answer", "ask something else, or the same later"),
    Code.REFUSED: Step("the other side refused", "the code that it gave says why"),
    Code.CHILD_FAILED: Step("a part did not start or has ended", "read its log, in the folder that --dir names"),
    Code.GROUP_MISMATCH: Step("group does not match", _FORGED),
    Code.EVIDENCE_UNREADABLE: Step(
        "evidence is not available", "audit again when the service is back; export again if a file is named"
    ),
    Code.EVIDENCE_FOREIGN: Step("evidence is of another house", "take the auditor.toml and keys that belong to it"),
    Code.EVIDENCE_OLDER: Step("evidence says too little", "audit with the state of the audit before, not --fresh"),
    Code.VERSION_UNKNOWN: Step("made by another version", "take that version, then proxid audit --fresh"),
    Code.EVIDENCE_LOST: Step("evidence is behind what was shown", _COPY),
    Code.AUDIT_STATE_DAMAGED: Step("the last audit's state is damaged", "put it back, or proxid audit --fresh"),
    Code.AUDIT_BUSY: Step("another audit goes on", "wait until it ends"),
    Code.HOUSEHOLD_BUSY: Step(
        "the household's keys are in use", "wait until the other process ends, or stop proxid agent"
    ),
    Code.RESTRICTION_VIOLATED: Step("restriction is violated", _REPORT),
    Code.POOL_CLOSED: Step("pool is closed", _REPORT),
    Code.OBJECTED: Step("person has objected", "proxid device rights object --resume takes that back"),
    Code.TREE_PROOF_INVALID: Step("proof cannot be made", _FORGED),
    Code.NOTE_INVALID: Step("checkpoint is not acceptable", _FORGED),
    Code.HISTORY_FORKED: Step("two histories were shown", "keep both heads, and show them to the other auditors"),
    Code.LOG_DAMAGED: Step("log is damaged", f"{_COPY}; proxid mend admits what is lost"),
    Code.LOG_FULL: Step("evidence cannot be written", "see to room on the service's disk; it goes on by itself"),
    Code.PAYLOAD_UNREADABLE: Step("payload does not open", "see that opening_key is the auditor's of that time"),
    Code.NAME_ALIKE: Step("name looks like that of somebody who is registered", "take another name"),
    Code.NO_COMMON_POLICY: Step(
        "gateway and main service have no policy in common", "activate the same policy at both services: proxid policy"
    ),
    Code.POLICY_UNACCEPTED: Step(
        "policy is not accepted", "proxid policy show at a service, then proxid policy accept"
    ),
}
"""Every code has its row."""


def told(error: ProxidError) -> str:
    """Why, and what to try, of an error that is only mentioned: the command goes on."""
    return f"{error.rule}; {error.next}" if error.next else error.rule


def next_of(code: Code, known: str = "") -> str:
    """What to try: what whoever raised the error knows, or the table's."""
    return known or STEPS[code].next
