"""Which policy document each epoch goes by, and what it is judged by (DESIGN 7, 10.4).

An epoch goes by the document whose digest stands in its key, which MS signed and both services logged. It is judged by
that document if the auditor's operator accepted it; otherwise what rests on a policy is unchecked. A document below
the auditor's floors is a violation whoever accepted it. An epoch that names none is of version 1, and is judged by what
the auditor's own configuration says.
"""

import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from auditor.checks.c7_releases import WAITS
from auditor.checks.c8_feeds import FEEDS, LAST
from auditor.findings import COMPLETENESS, GATEWAY, GROUPS, MAIN_SERVICE, SIGNATURES, Report, Unchecked
from auditor.scope import PolicyScope
from auditor.trust import Trust
from proxid.crypto.identity import EpochKey
from proxid.errors import ConfigError, CredentialError, GroupMismatchError, PolicyUnacceptedError, ProxidError
from proxid.evidence.events import EpochOpened, Event, encode_header
from proxid.protocol.feedkey import read_feeds, verify_parties
from proxid.runtime.config.anonymiser import Retention
from proxid.runtime.config.terms import Terms, below

ACCEPTED: Final = "accepted"
UNACCEPTED: Final = "not accepted"
KEYLESS: Final = "keys of a party are missing"
UNUSABLE: Final = "cannot be used here"
_OTHER_KEY: Final = "epoch was opened under another key or policy than the gateway was given"
_WHY: Final = {
    UNACCEPTED: "which the auditor's operator has not accepted; `proxid policy show {0} > policy.json` at a service, "
    "`proxid policy accept policy.json` here, then `proxid audit --fresh`",
    KEYLESS: "of which the auditor lacks the keys of a party (import them, then `proxid audit --fresh`)",
    UNUSABLE: "whose settings or grid of people this auditor cannot use",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A document as the auditor sees it; `trust` is None if nothing can be judged by it, `known` if it is not known."""

    standing: str
    trust: Trust | None
    known: Trust | None = None
    fallen: tuple[str, ...] = ()


PoliciesState = tuple[
    dict[int, bytes], dict[int, bytes], dict[int, bytes], dict[int, str], dict[str, list[tuple[int, int]]],
    dict[int, dict[str, bytes]], dict[int, bytes],
]  # fmt: skip
"""`named`, `told`, `opened`, `blind`, `begins`, `keyed` and `committed` of `Policies`."""


@dataclass(slots=True)
class Policies:
    """Documents by epoch.

    Attributes:
        named: epoch → digest that its key names. told, opened: epoch → hash of the key in the gateway's and in MS's
            log, empty where it cannot be read any more. blind: epochs that were read while nothing could be judged by
            their document, and why. begins: log → (number of EPOCH_OPENED, epoch) in their order.
        keyed: epoch → party → hash of its sealed feed key, of epochs that have any. committed: epoch → commitment to
            its seed, of those whose key a log cannot show any more.
    """

    trust: Trust
    named: dict[int, bytes] = field(default_factory=dict)
    told: dict[int, bytes] = field(default_factory=dict)
    opened: dict[int, bytes] = field(default_factory=dict)
    blind: dict[int, str] = field(default_factory=dict)
    begins: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: {GATEWAY: [], MAIN_SERVICE: []})
    keyed: dict[int, dict[str, bytes]] = field(default_factory=dict)
    committed: dict[int, bytes] = field(default_factory=dict)
    _judged: dict[bytes, Judged] = field(default_factory=dict)

    def of(self, epoch: int) -> Trust | None:
        """What an epoch is judged by; None if nothing can be."""
        digest = self.named.get(epoch)
        if digest is None:
            return self.trust
        return None if epoch in self.blind else self.judged(digest).trust

    def longest(self, of: Callable[[Trust], float], unknown: float = math.inf) -> float:
        """The most seconds that this is of what any epoch goes by; `unknown` of a document that is not known."""
        known = [self.judged(digest).known for digest in set(self.named.values())]
        return max(of(self.trust), *(unknown if one is None else of(one) for one in known), 0.0)

    def naming(self, epoch: int, kind: str, granted: str) -> str:
        """How an epoch's record names its user; empty for a place or command where that is not known."""
        judge = self.of(epoch)
        if judge is None:
            return granted if kind == "general" else ""
        return judge.naming.fidelity(kind, granted)

    def may_have_left(self, party: str) -> bool:
        """Whether the newest epoch that the gateway opened goes by a document that does not list a party, or may."""
        terms = self._terms(self.named[max(self.told)]) if self.told else UNACCEPTED
        return isinstance(terms, str) or party not in terms.parties

    def newest_parties(self) -> tuple[str, ...]:
        """Parties of the document of the newest epoch that the gateway opened; none if that cannot be read."""
        return self.parties_of(max(self.told)) if self.told else ()

    def parties_of(self, epoch: int) -> tuple[str, ...]:
        """The same of any epoch."""
        terms = self._terms(self.named[epoch])
        return () if isinstance(terms, str) else terms.parties

    def judged(self, digest: bytes) -> Judged:
        """A document by its digest."""
        if digest not in self._judged:
            self._judged[digest] = self._judge(digest)
        return self._judged[digest]

    def _terms(self, digest: bytes) -> Terms | str:
        try:
            found = self.trust.accepted(digest)
        except ConfigError:
            return UNUSABLE
        return UNACCEPTED if found is None else found

    def _judge(self, digest: bytes) -> Judged:
        terms, trust = self._terms(digest), self.trust
        if isinstance(terms, str):
            return Judged(terms, None)
        fallen = below(terms, trust.floors)
        if terms.epoch_seconds != trust.epochs.seconds:
            fallen.append("epoch_seconds")
        own = replace(
            trust, bundles=terms.bundles, settings=terms.settings, slots=terms.slots, places=terms.places,
            noise=terms.noise, season_seconds=terms.season_seconds, naming=terms.naming,
            split=terms.split, content=terms.anonymiser.content,
            pipeline=terms.pipeline, clock_skew=terms.clock_skew, epoch_grace=terms.epoch_grace,
        )  # fmt: skip
        has_keys = set(terms.parties) <= trust.party_keys.keys()
        return Judged(ACCEPTED if has_keys else KEYLESS, own if has_keys else None, own, tuple(fallen))

    def given(self, event: Event, base: int = 0) -> None:
        """EPOCH_OPENED in the gateway's log: the key that devices get.

        Args:
            base: entries of the gateway's older logs.

        Raises:
            CredentialError: another epoch's, or a second one of its epoch. SignatureInvalidError: not MS's.
            GroupMismatchError: MS's log holds another one.
        """
        key = self._verified(event)
        if self.told.get(key.epoch, b"") not in (b"", _hash(key)):
            raise CredentialError("an epoch has two keys")
        if any(number > base and epoch == key.epoch for number, epoch in self.begins[GATEWAY]):
            raise CredentialError("an epoch was opened twice")
        opened = EpochOpened.decode(event.payload)
        if opened != EpochOpened(opened.key, feeds=opened.feeds):
            raise CredentialError("an epoch's key comes with what is the main service's alone")
        self.begins[GATEWAY].append((event.number, key.epoch))
        self._record(self.told, key.epoch, key.policy, _hash(key))
        self._feeds(opened.feeds, key)

    def given_unread(self, event: Event) -> None:
        """The same, if its payload has expired."""
        self.begins[GATEWAY].append((event.number, _headed(event)[0]))
        self._commits(event)
        self._record(self.told, *_headed(event), b"")

    def began(self, event: Event, report: Report) -> bytes:
        """EPOCH_OPENED in MS's log: the sealed seed. An epoch that names no policy is of version 1.

        Raises:
            CredentialError, SignatureInvalidError: it holds no key of MS for this epoch.
        """
        if "policy" not in event.fields:
            if int(str(event.fields["epoch"])) in self.named:
                _add(report, event, _OTHER_KEY)
            report.older("epochs")
            return event.payload
        key, opened = self._verified(event), EpochOpened.decode(event.payload)
        self._began(event, report, _hash(key))
        report.believe(SIGNATURES, "seals", len(opened.feeds))
        try:
            self._feeds(opened.feeds, key)
        except ProxidError as error:
            _add(report, event, error.rule)
        return opened.sealed

    def has_feeds(self, event: Event) -> bool | None:
        """Whether MS made feed keys of an epoch that began; None if its document lists no party, or is not known."""
        known = "policy" in event.fields and bool(self.parties_of(int(str(event.fields["epoch"]))))
        return bool(EpochOpened.decode(event.payload).feeds) if known else None

    def _feeds(self, feeds: tuple[bytes, ...], key: EpochKey) -> None:
        """Feed keys of an epoch: MS's, and one a party of its policy, in both logs. A gateway of before logs none.

        Raises:
            RecordMismatchError, SignatureInvalidError: not MS's for this epoch and policy.
            GroupMismatchError: a party has two.
        """
        found = read_feeds(feeds, self.trust.service_key, self.trust.service, key.epoch)
        for party, data in found:
            digest = hashlib.sha256(data).digest()
            if self.keyed.setdefault(key.epoch, {}).setdefault(party, digest) != digest:
                raise GroupMismatchError("the main service made two feed keys of one party and epoch")
        terms = self._terms(key.policy)
        if not isinstance(terms, str):
            verify_parties(found, terms.parties)

    def began_unread(self, event: Event, report: Report) -> None:
        """The same, if its payload has expired."""
        if "policy" in event.fields:
            self._commits(event)
            self._began(event, report, b"")

    def _commits(self, event: Event) -> None:
        self.committed.setdefault(_headed(event)[0], bytes.fromhex(str(event.fields["commitment"])))

    def _began(self, event: Event, report: Report, key: bytes) -> None:
        epoch, policy = _headed(event)
        self.begins[MAIN_SERVICE].append((event.number, epoch))
        try:
            self._record(self.opened, epoch, policy, key)
        except GroupMismatchError as error:
            _add(report, event, error.rule)
        fallen = self.judged(self.named[epoch]).fallen
        if fallen:
            _add(report, event, f"epoch goes by a policy below the auditor's floors ({', '.join(fallen)})")

    def _record(self, keys: dict[int, bytes], epoch: int, policy: bytes, key: bytes) -> None:
        keys[epoch] = key
        self._name(epoch, policy)
        known = {found for found in (self.told.get(epoch), self.opened.get(epoch)) if found}
        if len(known) > 1 or self.named[epoch] != policy:
            raise GroupMismatchError(_OTHER_KEY)

    def _name(self, epoch: int, policy: bytes) -> None:
        self.named.setdefault(epoch, policy)
        standing = self.judged(self.named[epoch]).standing
        if standing != ACCEPTED:
            self.blind.setdefault(epoch, standing)

    def _verified(self, event: Event) -> EpochKey:
        opened = EpochOpened.decode(event.payload)
        key, trust = EpochKey.decode(opened.key), self.trust
        key.verify(trust.service_key, trust.service, int(str(event.fields["epoch"])))
        stated = {name: value for name, value in event.fields.items() if name not in (FEEDS, LAST, WAITS)}
        if opened.header != encode_header(**stated):
            raise CredentialError("event names another key than it holds")
        return key

    def check(self, linked: Iterable[int], seen: int, report: Report) -> None:
        """At the end: keys that are missing, and what could not be judged.

        Args:
            linked: epochs in which somebody was linked. seen: the gateway's last event before MS's log was read.
        """
        for number, epoch in self.begins[GATEWAY]:
            if number <= seen and epoch not in self.opened:
                report.once(GROUPS, MAIN_SERVICE, f"epoch {epoch} was given out, and the log does not hold it")
        for epoch in sorted((self.opened.keys() & set(linked)) - self.told.keys()):
            report.once(
                COMPLETENESS, GATEWAY, f"people were linked in epoch {epoch}, and the log does not hold its key"
            )
        rows: dict[tuple[str, bytes], list[int]] = {}
        for epoch, standing in sorted(self.blind.items()):
            rows.setdefault((standing, self.named[epoch]), []).append(epoch)
        for (standing, digest), epochs in sorted(rows.items()):
            error = PolicyUnacceptedError(
                f"{spans(epochs)} went by policy {digest.hex()[:16]}, {_WHY[standing].format(digest.hex()[:16])}"
            )
            report.missing.append(Unchecked(GROUPS, MAIN_SERVICE, error.rule, error.code.value))

    def logged(self, key: EpochKey) -> bool | None:
        """Whether the logs hold a key that MS signed, or what is left of them says nothing else; None if they hold none
        of its epoch.
        """
        found = {keys[key.epoch] for keys in (self.told, self.opened) if key.epoch in keys}
        left = (self.committed.get(key.epoch), self.named.get(key.epoch)) == (key.seed_commitment, key.policy)
        return _hash(key) in found or left if found else None

    def retention(self, epoch: int) -> Retention | None:
        """How long the document of an epoch keeps things; None if it is not known."""
        terms = self._terms(self.named[epoch]) if epoch in self.named else UNACCEPTED
        return None if isinstance(terms, str) else terms.retention

    def stretches(self) -> list[PolicyScope]:
        """Epochs by the document that they went by, in order."""
        found: list[PolicyScope] = []
        for epoch, digest in sorted(self.named.items()):
            judge = self.of(epoch)
            said = (None, None) if judge is None else (judge.settings.k, judge.settings.margin)
            row = PolicyScope(epoch, epoch, digest.hex(), self.blind.get(epoch, ACCEPTED), *said)
            if found and replace(found[-1], first=epoch, last=epoch) == row:
                found[-1] = replace(found[-1], last=epoch)
            else:
                found.append(row)
        return found

    def state(self) -> PoliciesState:
        """For storing."""
        return self.named, self.told, self.opened, self.blind, self.begins, self.keyed, self.committed

    def restore(self, state: PoliciesState) -> None:
        """Go on from a state; a document that is no longer accepted judges nothing of its epochs any more."""
        self.named, self.told, self.opened, self.blind, self.begins, self.keyed, self.committed = state
        for epoch, digest in list(self.named.items()):
            self._name(epoch, digest)


def spans(epochs: list[int]) -> str:
    """Epochs, rising, in words: `epochs 3-5, 9`."""
    begins = [epochs[0], *(b for a, b in pairwise(epochs) if b != a + 1)]
    ends = [*(a for a, b in pairwise(epochs) if b != a + 1), epochs[-1]]
    parts = [str(a) if a == b else f"{a}-{b}" for a, b in zip(begins, ends, strict=True)]
    return f"{'epoch' if len(epochs) == 1 else 'epochs'} {', '.join(parts)}"


def _hash(key: EpochKey) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _headed(event: Event) -> tuple[int, bytes]:
    return int(str(event.fields["epoch"])), bytes.fromhex(str(event.fields["policy"]))


def _add(report: Report, event: Event, text: str) -> None:
    report.add(GROUPS, MAIN_SERVICE, event.number, f"{event.type.value}: {text}")
