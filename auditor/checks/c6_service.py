"""Consent in the Main Service's log (check 6 of DESIGN 10.4): in order, the gateway's own, and what it allows.

The message that MS goes by is signed by the person and sanitised by IS: neither service can make one up, but each can
pass over one, or take an older one for the newest. What MS was away for it is told as soon as it is back, so that a
gateway which has it answer somebody for an hour under a choice before the newest one seems to keep that from it.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from auditor.checks.c3_links import People, Person
from auditor.checks.c3_signatures import name_of
from auditor.checks.c6_consents import Consents, Standing
from auditor.event_log import check_of
from auditor.findings import CONSENT, GATEWAY, MAIN_SERVICE, Report, Unchecked
from auditor.policies import Policies
from auditor.trust import Trust
from proxid.crypto.sansig import Role, SignedMessage, verify
from proxid.encoding import decode, encode_text
from proxid.errors import ConsentError
from proxid.evidence.events import BufferedPayload, Event
from proxid.protocol import consent


class Choice(NamedTuple):
    """The bundle in effect at MS, and its version in the epoch; version 0 if there was none."""

    version: int = 0
    bundle: str = consent.NOTHING


ServiceConsentsState = tuple[dict[str, Choice], set[bytes], dict[str, int], set[str]]
"""Choices by PROX_ID, subject tags of people whose choice cannot be read; see `_behind` and `_kept` of the class."""
_TOLD_MS: Final = 3_600_000
"""For so long MS may answer somebody before it is told what they chose."""


class ServiceConsents:
    """What MS says is in effect.

    Args:
        gateway: what the gateway's log, which is read first, says of the same people.
    """

    def __init__(self, policies: Policies, people: People, gateway: Callable[[], Consents], report: Report) -> None:
        self._policies = policies
        self._people = people
        self._gateway = gateway
        self._report = report
        self._choices: dict[str, Choice] = {}
        self._unknown: set[bytes] = set()
        self._behind: dict[str, int] = {}
        """Of whom MS lacks the newest choice: time of the request that it received first since (Unix milliseconds)."""
        self._kept: set[str] = set()
        """Whose choices seem to have been kept from it."""

    def changed(self, event: Event) -> tuple[int, str, str]:
        """CONSENT: epoch, PROX_ID and bundle.

        Raises:
            ConsentError: not the next version of the person's, or another message than the gateway's log holds.
            ProxidError: the message is not the person's, sanitised by IS.
        """
        message, ack, credential = decode(event.payload, 3)
        signed, trust = SignedMessage.decode(message), self._policies.trust
        person = self._people.of_key(signed.header.signer)
        verify(
            signed, consent.expectation(trust.service, person.epoch, signed.header.signer, trust.screener),
            Role.SANITIZER,
        )  # fmt: skip
        bundle, version = consent.read(signed)
        named = signed.session_id.hex()
        said = (event.fields["epoch"], event.fields["version"], event.fields.get("message", named))
        if said != (person.epoch, version, named):
            raise ConsentError("event names another choice than it holds")
        self._people.verify_credential(signed.header.signer, person.epoch, credential)
        self._verify_acknowledged(SignedMessage.decode(ack), signed, person)
        before = self._choices.get(person.prox_id, Choice())
        known = self._unknown.isdisjoint(event.tags)
        self._unknown.difference_update(event.tags)
        with check_of(CONSENT):
            if known and version != before.version + 1:
                raise ConsentError("a choice was put into effect that is not the person's next one")
        self._choices[person.prox_id] = Choice(version, bundle)
        told = self._gateway().message(person.prox_id, version)
        if told is None:
            text = "a choice that is in effect at the main service is not in the gateway's log"
            self._report.add(CONSENT, GATEWAY, 0, f"{text} (the main service's leaf {event.number})")
        elif told != signed.session_id[: len(told)]:
            raise ConsentError("another choice was put into effect than the gateway's log holds")
        return person.epoch, person.prox_id, bundle

    def _verify_acknowledged(self, ack: SignedMessage, signed: SignedMessage, person: Person) -> None:
        """What MS says that it answered; raises ConsentError, and as `verify`."""
        trust = self._policies.trust
        if name_of(ack, Role.SIGNER) != self._gateway().passed_on.get(person.prox_id):  # which was found good
            expected = consent.ack_expectation(trust.service, person.epoch, trust.service_key, trust.screener)
            verify(ack, expected, Role.SIGNER)
        consent.verify_ack(ack, signed)
        if ack.message.user_block != encode_text(person.prox_id):
            raise ConsentError("a choice was acknowledged to another person")

    def asked(self, prox_id: str, choice: Choice | None, forwarded: Callable[[], int | None], time_ms: int) -> None:
        """RECEIVED: whether the gateway had taken another choice of the person's, and had told MS of it.

        Args:
            choice: in effect, None if that cannot be read. forwarded: gives the gateway's event, None if there is none.
            time_ms: of the request.
        """
        at = self._gateway().standing.get(prox_id, Standing())
        if choice is None or at.version <= choice.version or at.newest(forwarded() or 0) <= choice.version:
            self._behind.pop(prox_id, None)
        elif time_ms - self._behind.setdefault(prox_id, time_ms) > _TOLD_MS:
            self._kept.add(prox_id)

    def unread(self, event: Event) -> None:
        """CONSENT that cannot be read."""
        self._unknown.update(event.tags)

    @property
    def unreadable(self) -> set[str]:
        """PROX_IDs of people who are known, and whose choice cannot be read."""
        return {person.prox_id for tag in self._unknown if (person := self._people.of_tag(tag)) is not None}

    def of(self, prox_id: str, tags: tuple[bytes, ...]) -> Choice | None:
        """What is in effect of a person, whose evidence has these tags; None if that cannot be read."""
        return self._choices.get(prox_id, Choice()) if self._unknown.isdisjoint(tags) else None

    def verify_audience(self, event: Event, payload: BufferedPayload, judge: Trust | None) -> None:
        """What waits was allowed by the bundle in effect, for exactly its audience; raises ConsentError."""
        choice = self.of(payload.prox_id, event.tags)
        if judge is None or choice is None:
            self._report.counts["consents.unknown"] += 1
            return
        self._report.checked[CONSENT] += 1
        allowed = consent.audience(judge.bundles.get(choice.bundle, ()), payload.kind)
        if payload.audience != consent.audience_id(allowed) or not payload.audience:
            raise ConsentError("record waits for an audience that the person's bundle does not allow")

    def check(self, seen: int) -> None:
        """At the end: what MS acknowledged is in its log.

        Args:
            seen: the gateway's last event before MS's log was read.
        """
        for prox_id, (version, number, tag) in self._gateway().confirmed.items():
            if number > seen or tag in self._unknown:
                continue
            if self._choices.get(prox_id, Choice()).version < version:
                text = "a choice that the main service acknowledged is not in its log"
                self._report.once(CONSENT, MAIN_SERVICE, f"{text} (the gateway's leaf {number})")
        if self._kept:
            people = f"{len(self._kept)} people whose newest choice it had not been told for more than an hour"
            self._report.missing.append(Unchecked(CONSENT, GATEWAY, f"it had the main service answer {people}"))

    def state(self) -> ServiceConsentsState:
        """For storing."""
        return self._choices, self._unknown, self._behind, self._kept

    def restore(self, state: ServiceConsentsState) -> None:
        """Go on from a state."""
        self._choices, self._unknown, self._behind, self._kept = state
