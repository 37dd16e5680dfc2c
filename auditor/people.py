"""Who is who in the gateway's log: enrolments, links, credentials (checks 3 of DESIGN 10.4)."""

from dataclasses import dataclass

from auditor.trust import Trust
from proxid.crypto.identity import Credential, Enrolment, Link
from proxid.errors import CredentialError, RegistrationError
from proxid.evidence.events import LinkedPayload


@dataclass(frozen=True, slots=True)
class Person:
    """An epoch key that IS registered."""

    user_id: str
    user_key: bytes
    prox_id: str
    epoch: int
    seasoned: bool
    credential: bytes


class People:
    """Registered epoch keys, by key and by PROX_ID."""

    def __init__(self, trust: Trust) -> None:
        self._trust = trust
        self._by_key: dict[bytes, Person] = {}
        self._by_prox: dict[str, Person] = {}
        self._live: dict[tuple[str, int], bytes] = {}

    def enrolled(self, enrolment: Enrolment) -> None:
        """Check an ENROLLED event: the EA's word; raises SignatureInvalidError, KeyInvalidError."""
        enrolment.verify(self._trust.authority)

    def linked(self, payload: LinkedPayload) -> None:
        """Check a LINKED event and register its key.

        Raises:
            ProxidError: a document does not hold, names something else, or the key or user is linked twice.
        """
        trust = self._trust
        enrolment, link = Enrolment.decode(payload.enrolment), Link.decode(payload.link)
        enrolment.verify(trust.authority)
        link.verify(enrolment)
        if (link.service, link.screener) != (trust.service, trust.screener):
            raise CredentialError("link is for another service or screener")
        if link.epoch_key in self._by_key:
            raise RegistrationError("epoch key is linked twice")
        if (link.user_id, link.epoch) in self._live:
            raise RegistrationError("user has two live epoch keys in one epoch")
        credential = self._credential(payload.credential, link)
        self._verify_season(enrolment, credential)
        person = Person(link.user_id, link.user_key, link.prox_id, link.epoch, credential.seasoned, payload.credential)
        self._by_key[link.epoch_key] = self._by_prox[link.prox_id] = person
        self._live[link.user_id, link.epoch] = link.epoch_key

    def _credential(self, data: bytes, link: Link) -> Credential:
        credential = Credential.decode(data)
        if credential.epoch_key != link.epoch_key:
            raise CredentialError("credential is of another key than the link")
        credential.verify(self._trust.screener, link.service, link.epoch, self._trust.epochs.start(link.epoch))
        return credential

    def _verify_season(self, enrolment: Enrolment, credential: Credential) -> None:
        # The log holds no time of the link: it was within the epoch.
        epochs, ripe = self._trust.epochs, enrolment.since + self._trust.season_seconds
        if credential.seasoned and ripe > epochs.end(credential.epoch):
            raise CredentialError("credential says seasoned before the account was")
        if not credential.seasoned and ripe <= epochs.start(credential.epoch):
            raise CredentialError("credential says unseasoned although the account was seasoned")

    def of_key(self, key: bytes) -> Person:
        """The person of an epoch key; raises RegistrationError."""
        found = self._by_key.get(key)
        if found is None:
            raise RegistrationError("epoch key is not linked")
        return found

    def of_prox(self, prox_id: str) -> Person:
        """The person of a PROX_ID; raises RegistrationError."""
        found = self._by_prox.get(prox_id)
        if found is None:
            raise RegistrationError("PROX_ID is not linked")
        return found
