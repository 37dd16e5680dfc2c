"""The thesis's tuples {session id, original, sanitised} checked (check 3 of DESIGN 10.4; 002 §5.3):

signing correctness (the original holds as the signer's), sanitizing correctness (the sanitised one holds as the
sanitizer's), proof correctness (only the user block differs).
"""

from auditor.checks.c3_links import People, Person
from auditor.checks.c3_signatures import Signatures
from auditor.policies import Policies
from proxid.crypto.sansig import Role, SignedMessage, verify_public_limit
from proxid.crypto.sansig.scheme import Expectation
from proxid.encoding import encode_text
from proxid.errors import ConsentError, LimitError, MessageInvalidError, ResponseMismatchError
from proxid.evidence.events import ConsentPayload, SanitizedPair
from proxid.protocol import consent, request, response
from proxid.protocol.consent import ConsentVector


def verify_pair(
    pair: SanitizedPair, expected: Expectation, blocks: tuple[str, str], signatures: Signatures
) -> None:  # fmt: skip
    """Check one pair against what it must be.

    Args:
        blocks: user block of the original, and of the sanitised message.

    Raises:
        ProxidError: signing, sanitizing or proof correctness fails, or another user block.
    """
    expected.verify_header(pair.original.message)
    signatures.pair(pair)
    before, after = blocks
    if pair.original.message.user_block != encode_text(before):
        raise MessageInvalidError("original names another user")
    if pair.sanitized.message.user_block != encode_text(after):
        raise LimitError("sanitised message names another user than the linked one")


class Tuples:
    """Checks requests, responses and consents of the gateway's log, and requests of MS's."""

    def __init__(self, policies: Policies, people: People, signatures: Signatures) -> None:
        self._policies = policies
        self._trust = policies.trust
        self._people = people
        self._signatures = signatures

    def forwarded(self, pair: SanitizedPair) -> Person:
        """A FORWARDED pair; whose request it is."""
        trust, header = self._trust, pair.original.header
        person = self._people.of_key(header.signer)
        expected = request.expectation(trust.service, person.epoch, header.signer, trust.screener)
        verify_pair(pair, expected, (person.user_id, person.prox_id), self._signatures)
        request.verify_layout(pair.original)
        return person

    def answered(self, pair: SanitizedPair, session: bytes, person: Person) -> None:
        """An ANSWERED pair of a session."""
        trust = self._trust
        blocks = response.blocks_of(pair.original)
        expected = response.expectation(trust.service, person.epoch, trust.service_key, trust.screener, blocks)
        verify_pair(pair, expected, (person.prox_id, person.user_id), self._signatures)
        if pair.original.message.blocks[response.REQUEST_HASH] != session:
            raise ResponseMismatchError("response is to another request")

    def received(self, signed: SignedMessage, credential: bytes, good: bytes) -> None:
        """A RECEIVED request, as MS must have verified it.

        Args:
            credential: what the event says of the one it was accepted under.
            good: the request that was forwarded, if it holds (`signatures.name_of`).
        """
        trust, header = self._trust, signed.header
        self._people.verify_credential(header.signer, header.epoch, credential)
        expected = request.expectation(trust.service, header.epoch, header.signer, trust.screener)
        expected.verify_header(signed.message)
        self._signatures.message(signed, Role.SANITIZER, good)
        verify_public_limit(signed.message)

    def consent(self, payload: ConsentPayload) -> tuple[Person, ConsentVector]:
        """A CONSENT as IS took it: vector and message say the same, by the same person."""
        trust = self._trust
        vector, pair = ConsentVector.decode(payload.vector), SanitizedPair.decode(payload.message)
        header = pair.original.header
        person = self._people.of_key(header.signer)
        expected = consent.expectation(trust.service, person.epoch, header.signer, trust.screener)
        verify_pair(pair, expected, (person.user_id, person.prox_id), self._signatures)
        judge = self._policies.of(person.epoch)
        named = self._policies.named.get(person.epoch, b"")
        vector.verify(person.user_key, None if judge is None else judge.bundles, named)
        said = (vector.user_id, vector.service, vector.epoch, vector.bundle, vector.version)
        if said != (person.user_id, trust.service, person.epoch, *consent.read(pair.original)):
            raise ConsentError("vector and message disagree")
        self._people.verify_not_revoked(person, header.time_ms)
        return person, vector

    def consent_acknowledged(self, data: bytes) -> SanitizedPair:
        """MS's acknowledgement of a consent, as IS passed it on."""
        trust, pair = self._trust, SanitizedPair.decode(data)
        person = self._people.of_prox(pair.original.message.user_block.decode("utf-8"))
        expected = consent.ack_expectation(trust.service, person.epoch, trust.service_key, trust.screener)
        verify_pair(pair, expected, (person.prox_id, person.user_id), self._signatures)
        return pair
