"""What the store's steps take of IS's word that somebody objects, or does so no more (DESIGN 11)."""

from dataclasses import dataclass

from main_service.store.library import PREFIX
from proxid.evidence.events import RestrictedPayload, encode_header
from proxid.protocol.restriction import Restriction
from proxid.runtime.evidence_log.writer import evidence_key_name
from proxid.runtime.store.pipeline import Argument


@dataclass(frozen=True, slots=True)
class Told:
    """Whom MS was told of.

    Attributes:
        ttl: seconds for which it is remembered. salt: of RESTRICTED. word: None from an IS of before there were any.
        evidence_key: of the person-epoch; empty if it is to be here already, or nothing is recorded.
    """

    prox_id: str
    begins: bool
    ttl: int
    salt: bytes
    word: Restriction | None = None
    evidence_key: bytes = b""

    @property
    def fields(self) -> dict[str, Argument]:
        """As the steps take it."""
        word, digest = (b"", "") if self.word is None else (self.word.encode(), self.word.digest.hex())
        return {
            "prox_id": self.prox_id,
            "ttl": self.ttl,
            "evidence_name": evidence_key_name(PREFIX, self.prox_id),
            "evidence_key": self.evidence_key,
            "word": digest,
            "event_salt": self.salt,
            "header": encode_header(begins=self.begins, word=digest),
            "payload": RestrictedPayload(self.prox_id, word).encode(),
        }
