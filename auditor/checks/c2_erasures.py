"""Erasure and expiry (checks 2 and 8 of DESIGN 10.4).

Whatever does not open must be covered by an ERASED that its own user asked for, or by an EXPIRED: LINKED's header
commits to the owner of each person-epoch, so that nobody's evidence disappears under another's request. And what
was erased must not open any more.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from auditor.findings import ERASURE, GATEWAY, OPENING, Report, Unchecked
from auditor.reading.opening import Unopened
from auditor.reading.source import KeySource
from auditor.trust import Trust
from proxid.crypto.identity import Enrolment
from proxid.errors import CredentialError, EncodingError
from proxid.evidence.events import Event
from proxid.evidence.ratchet import owner_commitment
from proxid.protocol.rights import ErasedDisclosure, Right, RightsRequest, erased_info

_CHUNK: Final = 256


class Expiry(NamedTuple):
    """What an EXPIRED said: payloads of its log up to a number, or links up to an epoch; `guilty`: it was too early.

    `base`: entries of the service's logs before that one.
    """

    log: str
    event: int
    kind: str
    until: int
    guilty: bool = False
    base: int = 0


ErasuresState = tuple[
    dict[bytes, bytes], dict[bytes, int], dict[str, int], set[bytes], dict[bytes, int], set[int], list[Expiry]
]  # fmt: skip
"""The attributes of `Erasures` after `trust`."""


@dataclass(slots=True)
class Erasures:
    """What was linked, erased and expired.

    Attributes:
        owner_commitments: subject tag → that of LINKED. erased: subject tag → number of ERASED.
        expired: log → payloads up to this number are gone. requests: digests of the requests carried out.
        epochs: subject tag → epoch. links: epochs of which evidence keys have expired.
        said: each EXPIRED whose age is not known to be right.
    """

    trust: Trust
    owner_commitments: dict[bytes, bytes] = field(default_factory=dict)
    erased: dict[bytes, int] = field(default_factory=dict)
    expired: dict[str, int] = field(default_factory=dict)
    requests: set[bytes] = field(default_factory=set)
    epochs: dict[bytes, int] = field(default_factory=dict)
    links: set[int] = field(default_factory=set)
    said: list[Expiry] = field(default_factory=list)

    def state(self) -> ErasuresState:
        """For storing."""
        of_people = (self.owner_commitments, self.erased, self.expired, self.requests, self.epochs)
        return *of_people, self.links, self.said

    def restore(self, state: ErasuresState) -> None:
        """Go on from a state."""
        self.owner_commitments, self.erased, self.expired, self.requests, self.epochs = state[:5]
        self.links, self.said = state[5:]

    def linked(self, event: Event) -> bytes:
        """LINKED, readable or not: its tag and owner commitment; the tag.

        Raises:
            EncodingError: it is not of one person. CredentialError: somebody's evidence stands under that tag already.
        """
        owner = bytes.fromhex(str(event.fields["owner"]))
        if len(event.tags) != 1 or not event.tags[0]:
            raise EncodingError("LINKED is not of one person")
        if event.tags[0] in self.owner_commitments:
            raise CredentialError("somebody's evidence is linked a second time")
        self.owner_commitments[event.tags[0]] = owner
        self.epochs[event.tags[0]] = int(str(event.fields["epoch"]))
        return event.tags[0]

    def took_effect(self, event: Event) -> tuple[set[bytes], RightsRequest, Enrolment]:
        """ERASED: the tags it covers, the request, and by which enrolment; raises ProxidError unless its user asked."""
        disclosure = self.disclosed(event, Right.ERASE)
        named = {bytes.fromhex(str(tag)) for tag in _listed(event.fields["tags"])}
        enrolment = Enrolment.decode(disclosure.enrolment)
        if {tag for tag, _ in disclosure.owner_salts} != named:
            raise CredentialError("ERASED covers other people's evidence than it discloses")
        for tag, salt in disclosure.owner_salts:
            if self.owner_commitments.get(tag) != owner_commitment(enrolment.user_id, salt):
                raise CredentialError("ERASED covers evidence of somebody who did not ask for it")
        for tag in named:
            self.erased.setdefault(tag, event.number)
        return named, RightsRequest.decode(disclosure.request), enrolment

    def took_effect_unread(self, event: Event) -> set[bytes]:
        """ERASED whose payload has expired: the tags and the request that its header names; nothing if it is just gone.

        Raises:
            CredentialError: it names evidence of nobody.
        """
        named = {bytes.fromhex(str(tag)) for tag in _listed(event.fields["tags"])}
        if not event.gone:
            return set()
        if not named <= self.owner_commitments.keys():
            raise CredentialError("ERASED covers evidence of nobody who was linked")
        self.carried_out_unread(event)
        for tag in named:
            self.erased.setdefault(tag, event.number)
        return named

    def carried_out_unread(self, event: Event) -> None:
        """A right whose payload has expired: the request that its header names."""
        if event.gone:
            self.requests.add(bytes.fromhex(str(event.fields["request"])))

    def disclosed(self, event: Event, *rights: Right) -> ErasedDisclosure:
        """The signed request of ERASED or OBJECTED; raises ProxidError unless its user signed it."""
        trust = self.trust
        disclosure = ErasedDisclosure.decode(trust.opening.open(event.payload, erased_info(trust.service)))
        request, enrolment = RightsRequest.decode(disclosure.request), Enrolment.decode(disclosure.enrolment)
        enrolment.verify(trust.authority)
        if request.user_id != enrolment.user_id or request.right not in rights:
            raise CredentialError("request is of another user, or for another right")
        request.verify(enrolment.user_key, trust.service, trust.screener)
        if bytes.fromhex(str(event.fields["request"])) != request.digest:
            raise CredentialError("event names another request than it discloses")
        if request.digest in self.requests and event.fields.get("v", 1) != 1:
            raise CredentialError("a right was exercised twice by one request")
        self.requests.add(request.digest)
        return disclosure

    def expiry(self, log: str, event: Event, base: int) -> None:
        """EXPIRED: payloads of a log up to a number, or links and evidence keys up to an epoch; feeds are counted.

        Args:
            base: entries of the service's logs before this one.
        """
        fields = event.fields
        if fields["kind"] == "payloads" and base + int(str(fields["until"])) >= event.number:
            raise EncodingError("payloads are said to have expired that had not been recorded")
        if fields["kind"] == "links":
            if log != GATEWAY:
                raise EncodingError("links are said to have expired by who has none")
            # Of epochs in which somebody was linked by then: how far it says that it goes is the gateway's word. A log
            # of version 1 does not say from which on.
            until = int(str(fields["until"]))
            if (first := int(str(fields.get("first", 0)))) > until:
                raise EncodingError("links are said to have expired from an epoch on to one before it")
            self.links.update({epoch for epoch in self.epochs.values() if first <= epoch <= until})
            last = max((epoch for epoch in self.epochs.values() if epoch <= until), default=None)
            if last is not None:
                self.said.append(Expiry(log, event.number, "links", last))
        elif fields["kind"] == "payloads":
            self._expired_payloads(log, base + int(str(fields["until"])))
            self.said.append(Expiry(log, event.number, "payloads", base + int(str(fields["until"])), base=base))
        elif fields["kind"] != "feeds" or not fields.keys().isdisjoint(("first", "until")):
            raise EncodingError("something is said to have expired that there is not")

    def _expired_payloads(self, log: str, until: int) -> None:
        self.expired[log] = max(self.expired.get(log, 0), until)

    def covers(self, tag: bytes) -> bool:
        """Whether an erasure or an expiry covers what does not open of a subject tag."""
        return tag in self.erased or self._has_expired(tag)

    def _has_expired(self, tag: bytes) -> bool:
        return self.epochs.get(tag) in self.links

    def cover_all(self, unopened: Unopened) -> bool:
        """Whether everything that does not open is covered."""
        within = all(number <= self.expired.get(log, 0) for log, number in unopened.gone.items())
        return within and all(self.covers(tag) for tag in unopened.by_tag)

    def check_cover(self, unopened: Unopened, report: Report, unsaid: Callable[[int], bool]) -> None:
        """At the end: everything that does not open is covered.

        Args:
            unsaid: whether links of an epoch may have expired, which the gateway has not said yet.
        """
        waiting = 0
        for tag, (log, number, count) in unopened.by_tag.items():
            report.counts["parts.expired" if self._has_expired(tag) else "parts.erased"] += count
            if self.covers(tag):
                continue
            if tag in self.epochs and unsaid(self.epochs[tag]):
                waiting += count
            else:
                report.add(OPENING, log, number, f"{count} payloads do not open, and no erasure covers them")
        if waiting:
            text = f"{waiting} payloads do not open whose links may have expired, which the gateway has not said yet"
            report.missing.append(Unchecked(OPENING, GATEWAY, f"{text}: audit again when an epoch has begun"))
        for log, number in unopened.gone.items():
            if number > self.expired.get(log, 0):
                report.add(OPENING, log, number, "payload is gone, and no expiry covers it")

    def check_keys(self, keys: KeySource, report: Report) -> None:
        """At the end: IS has no key to anything that was erased."""
        tags = sorted(self.erased)
        for at in range(0, len(tags), _CHUNK):
            chunk = tags[at : at + _CHUNK]
            for tag, seed in zip(chunk, keys.keys(chunk), strict=True):
                report.checked[ERASURE] += 1
                if seed:
                    report.add(ERASURE, GATEWAY, self.erased[tag], "evidence key of an erased person still exists")

    def requested(self, digest: bytes) -> bool:
        """Whether a log shows that this signed request was carried out."""
        return digest in self.requests


def _listed(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError("a list is expected")
    return value
