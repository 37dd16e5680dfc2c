"""Who is who in the gateway's log: enrolments, links, credentials (checks 3 of DESIGN 10.4)."""

import hashlib
from dataclasses import dataclass
from typing import Final

from auditor.checks.c3_ended import EndedKeys, EndedState, EnrolledKey, Entered, name_of_key
from auditor.checks.c3_lost import LostKeys, LostState, Shown
from auditor.checks.c3_seasons import Seasons, SeasonsState
from auditor.policies import Policies
from auditor.skew import longest_skew
from proxid.crypto.identity import Credential, Enrolment, Link
from proxid.crypto.revocation import Revocation
from proxid.errors import CredentialError, RegistrationError
from proxid.evidence.events import LinkedPayload
from proxid.evidence.ratchet import subject_tag

DIGEST_SIZE: Final = 32


@dataclass(frozen=True, slots=True)
class Person:
    """An epoch key that IS registered; credential: its hash. instead: PROX_ID of the lost key whose place it takes."""

    user_id: str
    user_key: bytes
    prox_id: str
    epoch: int
    seasoned: bool
    credential: bytes
    part: bytes = b""  # of the person's aliases
    instead: str = ""


_JUST_AFTER: Final = 256
"""Events."""

PeopleState = tuple[
    dict[bytes, Person], dict[bytes, bytes], dict[bytes, Shown], set[bytes], dict[str, EnrolledKey], dict[str, bytes],
    EndedState, bool, LostState, SeasonsState, Entered | None,
]  # fmt: skip
"""People by key, keys by subject tag, credentials that were shown, who is gone, keys and parts by user, keys that are
over, whether some ENROLLED cannot be read, lost keys, seasons, and the newest ENROLLED."""


class People:
    """Registered epoch keys, by key and by PROX_ID."""

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self._trust = policies.trust
        self._by_key: dict[bytes, Person] = {}
        self._by_prox: dict[str, Person] = {}
        self._live: dict[tuple[str, int], bytes] = {}
        self._tags: dict[bytes, bytes] = {}
        self._shown: dict[bytes, Shown] = {}
        """Credentials that MS has shown and LINKED has not, by key."""
        self.gone: set[bytes] = set()
        self._keys: dict[str, EnrolledKey] = {}
        self._parts: dict[str, bytes] = {}
        """Of each user's aliases: drawn once, until the user is erased."""
        self.ended, self.lost, self.seasons = EndedKeys(lambda: longest_skew(policies)), LostKeys(), Seasons(policies)
        self.incomplete = False
        """Some ENROLLED cannot be read any more: a key that is not known may have been in it."""
        self._entered: Entered | None = None
        """The newest one, until it is known by which link; a head may lie between them."""

    def enrolled(
        self, enrolment: Enrolment, event: int = 0, time: int | None = None, base: int = 0,
        first: tuple[str, bytes] | None = None,
    ) -> bool:  # fmt: skip
        """Check an ENROLLED event: the EA's word, also for a key that takes another's place.

        Args:
            event: its number. time: what its header says, Unix seconds; None in one from before.
            base: entries of older logs. first: PROX_ID and subject tag that it is filed under.

        Returns:
            Whether that it takes another's place was checked: not if there is no time.

        Raises:
            SignatureInvalidError, KeyInvalidError: not the EA's. CredentialError: the EA did not say that it takes the
                place of another. RegistrationError: the key is over, or had been enrolled.
        """
        enrolment.verify(self._trust.authority)
        held = self._keys.get(enrolment.user_id)
        before = b"" if held is None else held.key
        if held is not None and before == enrolment.user_key and held.event > base:
            raise RegistrationError("a key was enrolled twice")
        self._entered = None if first is None else Entered(enrolment.user_id, first, time)
        self._keys[enrolment.user_id] = EnrolledKey(enrolment.user_key, event, before)
        if name_of_key(enrolment.user_id, enrolment.user_key) in self.ended.keys:
            raise RegistrationError("a key was enrolled that was revoked or replaced")
        if before in (b"", enrolment.user_key):
            return True
        if time is None:
            return False
        self.ended.end(name_of_key(enrolment.user_id, before), time, False, event)
        if before not in enrolment.replaces:
            raise CredentialError("a person's key was replaced, and the authority has not said so")
        return True

    def enrolled_unread(self, _: object) -> None:
        """An ENROLLED that cannot be read."""
        self.incomplete = True

    def revoked(self, revocation: Revocation, time: int, event: int = 0) -> None:
        """Check a REVOKED event: the EA's word; raises SignatureInvalidError, KeyInvalidError, CredentialError.

        Args:
            time: what its header says, Unix seconds. event: its number.
        """
        revocation.verify(self._trust.authority)
        self.ended.end(name_of_key(revocation.user_id, revocation.user_key), time, True, event)

    def answered(self, time_ms: int, forwarded: int) -> None:
        """The main service answered what was asked then (Unix milliseconds), and FORWARDED by an event."""
        self.seasons.answered(time_ms, forwarded)
        self.ended.answered(time_ms, forwarded)

    def is_in_use(self, user_id: str, key: bytes) -> bool:
        """Whether a key is the one that was enrolled last for a user, or linked if that is not known, and not over."""
        held = self._keys.get(user_id)
        linked = (person.user_key for person in reversed(self._by_key.values()) if person.user_id == user_id)
        newest = next(linked, b"") if held is None else held.key
        return newest == key and name_of_key(user_id, key) not in self.ended.keys

    def verify_not_revoked(self, person: Person, time_ms: int) -> None:
        """Something is taken under an epoch key; raises RegistrationError if it was lost, or its user's key revoked.

        The gateway takes nothing after the step that records REVOKED, or LINKED of a key in its place.

        Args:
            time_ms: of the message, which the gateway found fresh.
        """
        self.ended.asked(time_ms)
        if self.lost.is_lost(person.prox_id):
            raise RegistrationError("message under an epoch key whose place another had taken")
        ended = self.ended.keys.get(name_of_key(person.user_id, person.user_key)) if self.ended.keys else None
        if ended is not None and ended.revoked:
            raise RegistrationError("message under an epoch key whose person's key had been revoked")

    def verify_held(self, enrolment: Enrolment, event: int, time_ms: int) -> None:
        """Check that a right was exercised with a key that was not over; raises CredentialError.

        What was asked just before may be recorded long after, if the main service was away. Of keys that were replaced
        in logs of before the time is not known: there it may be recorded just after.

        Args:
            time_ms: of the request, which the gateway found fresh.
        """
        name = name_of_key(enrolment.user_id, enrolment.user_key)
        if name in self.ended.keys:
            if not self.ended.holds(name, time_ms):
                raise CredentialError("a right was exercised with a key that had been revoked or replaced")
            return
        held = self._keys.get(enrolment.user_id)
        if held is None or enrolment.user_key == held.key:
            return
        if enrolment.user_key != held.before or event - held.event > _JUST_AFTER:
            raise CredentialError("a right was exercised with another key than the person's")

    def linked(self, payload: LinkedPayload, tag: bytes, event: int = 0) -> None:
        """Check a LINKED event and register its key.

        Args:
            tag: the subject tag of its header. event: its number.

        Raises:
            ProxidError: a document does not hold, names something else, or the key or user is linked twice.
        """
        trust = self._trust
        enrolment, link = Enrolment.decode(payload.enrolment), Link.decode(payload.link)
        if (link.service, link.screener) != (trust.service, trust.screener):
            raise CredentialError("link is for another service or screener")
        if link.epoch_key in self._by_key:
            raise RegistrationError("epoch key is linked twice")
        credential = self._credential(payload.credential, link)
        earlier = self.last_of(link.user_id, link.epoch)
        # The main service goes by the credential alone: whatever else is wrong is no reason to accuse it.
        said = (link.user_id, link.user_key, link.prox_id, link.epoch, credential.seasoned, credential.digest)
        person = Person(*said, payload.part, credential.instead)
        self.lost.linked(person, self._shown.get(link.epoch_key))
        self._by_key[link.epoch_key] = self._by_prox[link.prox_id] = person
        self._live[link.user_id, link.epoch] = link.epoch_key
        self._tags[tag] = link.epoch_key
        enrolment.verify(trust.authority)
        link.verify(enrolment)
        entered = self._verify_enrolled(enrolment, (link.prox_id, tag))
        enrolment.verify_time(trust.epochs.start(link.epoch))
        self.lost.verify(earlier, credential.instead, link.epoch, event)
        if not credential.instead:
            self.seasons.linked(enrolment, credential, entered, event)
        if subject_tag(credential.evidence_key) != tag:
            raise CredentialError("link is filed under another evidence key than its credential's")
        if not payload.part and link.epoch in self._policies.keyed:
            raise RegistrationError("link says nothing of the person's aliases")
        before, self._parts[link.user_id] = self._parts.get(link.user_id), payload.part
        if before and payload.part and before != payload.part:
            raise RegistrationError("the part of a person's aliases was drawn again")

    def _verify_enrolled(self, enrolment: Enrolment, first: tuple[str, bytes]) -> int | None:
        """A link is by the key that was enrolled last; what that says of its time. Raises RegistrationError.

        Args:
            first: its PROX_ID and subject tag, which an ENROLLED just before it names.
        """
        held = self._keys.get(enrolment.user_id)
        over = name_of_key(enrolment.user_id, enrolment.user_key) in self.ended.keys
        if over or (held is not None and held.key != enrolment.user_key):
            raise RegistrationError("epoch key is linked by a key that was revoked or replaced")
        if held is None and not self.incomplete:
            raise RegistrationError("epoch key is linked by an enrolment that is not in the log")
        entered, self._entered = self._entered, None
        if entered is not None and entered[:2] != (enrolment.user_id, first):
            raise RegistrationError("enrolment is filed under another link than the first by it")
        return None if entered is None else entered.time

    def forget_part(self, user_id: str | None) -> None:
        """Somebody was erased, whose aliases nobody finds again; None if it cannot be read who."""
        if user_id is None:
            self._parts.clear()
        else:
            self._parts.pop(user_id, None)

    def erased(self, tag: bytes) -> Person | None:
        """Forget a person-epoch; who it was, if it was read."""
        key = self._tags.pop(tag, None)
        person = None if key is None else self._by_key.pop(key, None)
        if person is not None:
            self._by_prox.pop(person.prox_id, None)
            self.lost.forget(person.prox_id)
            self._shown.pop(key or b"", None)
            self._live.pop((person.user_id, person.epoch), None)
            self._keys.pop(person.user_id, None)
            self.gone.add(hashlib.sha256(person.prox_id.encode()).digest()[:16])
        return person

    @property
    def count(self) -> int:
        """Distinct users who can be named: neither erased nor of an epoch whose links have expired."""
        return len({user_id for user_id, _ in self._live})

    def find(self, prox_id: str) -> Person | None:
        """The person of a PROX_ID; None if it is not linked (any more)."""
        return self._by_prox.get(prox_id)

    def last_of(self, user_id: str, epoch: int) -> Person | None:
        """The key of a user's that was linked last in an epoch; None if none was, or it is not known any more."""
        return self._by_key.get(self._live.get((user_id, epoch), b""))

    def user_of(self, prox_id: str) -> str:
        """The USER_ID of a PROX_ID; empty if it is not linked."""
        return found.user_id if (found := self._by_prox.get(prox_id)) else ""

    def is_erased(self, prox_id: str) -> bool:
        """Whether this PROX_ID was of somebody who has been erased."""
        return hashlib.sha256(prox_id.encode()).digest()[:16] in self.gone

    def of_tag(self, tag: bytes) -> Person | None:
        """The person whose evidence has a subject tag; None if it is not known (any more)."""
        return self._by_key.get(self._tags.get(tag, b""))

    def state(self) -> PeopleState:
        """For storing."""
        return (
            self._by_key, self._tags, self._shown, self.gone, self._keys, self._parts, self.ended.state(),
            self.incomplete, self.lost.state(), self.seasons.state(), self._entered,
        )  # fmt: skip

    def restore(self, state: PeopleState) -> None:
        """Go on from a state."""
        (
            self._by_key, self._tags, self._shown, self.gone, self._keys, self._parts, ended, self.incomplete, lost,
            seasons, self._entered,
        ) = state  # fmt: skip
        self.ended.restore(ended)
        self.seasons.restore(seasons)
        self.lost.restore(lost, self._by_key.values())
        self._by_prox = {person.prox_id: person for person in self._by_key.values()}
        self._live = {(person.user_id, person.epoch): key for key, person in self._by_key.items()}

    def _credential(self, data: bytes, link: Link) -> Credential:
        credential = Credential.decode(data)
        if credential.epoch_key != link.epoch_key:
            raise CredentialError("credential is of another key than the link")
        credential.verify(self._trust.screener, link.service, link.epoch, self._trust.epochs.start(link.epoch))
        if credential.not_after != self._trust.epochs.end(link.epoch):
            raise CredentialError("credential ends at another time than its epoch")
        return credential

    def of_key(self, key: bytes) -> Person:
        """The person of an epoch key; raises RegistrationError."""
        found = self._by_key.get(key)
        if found is None:
            raise RegistrationError("epoch key is not linked")
        return found

    def verify_credential(self, key: bytes, epoch: int, shown: bytes) -> None:
        """Check what RECEIVED says of the credential of an epoch key: one that IS signed, or that was shown before.

        Args:
            shown: the encoding, or the digest of one that LINKED or an earlier RECEIVED shows.

        Raises:
            CredentialError, SignatureInvalidError, EncodingError: MS had no such word of IS.
        """
        linked = self._by_key.get(key)
        if len(shown) == DIGEST_SIZE:
            known = self._shown.get(key)
            if shown not in {linked.credential if linked else b"", known.digest if known else b""}:
                raise CredentialError("request was accepted under a credential that nobody has shown")
            return
        credential = Credential.decode(shown)
        if linked is not None and linked.credential == credential.digest:
            return  # verified with the link
        trust = self._trust
        if credential.epoch_key != key:
            raise CredentialError("credential is of another key")
        credential.verify(trust.screener, trust.service, epoch, trust.epochs.start(epoch))
        self._shown[key] = Shown(credential.digest, credential.seasoned, credential.instead)
        self.lost.compare(linked, self._shown[key])

    def of_prox(self, prox_id: str) -> Person:
        """The person of a PROX_ID; raises RegistrationError."""
        found = self._by_prox.get(prox_id)
        if found is None:
            raise RegistrationError("PROX_ID is not linked")
        return found
