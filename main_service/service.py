"""What the Main Service is: its keys, what it was provisioned with, its limits, its clock; and its epochs' secrets."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from proxid.config.terms import Terms
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey, SealingKey
from proxid.crypto.identity import EpochKey
from proxid.errors import EpochError, FreshnessError
from proxid.protocol.consent import Bundles
from proxid.protocol.epochs import Epochs


@dataclass(frozen=True, slots=True)
class Service:
    """The Main Service's identity and rules.

    Attributes:
        name: MS id, part of everything signed. key: sk_MS. screener: pk_IS. auditor: HPKE key for disclosures.
        parties: HPKE keys of the third parties. clock_skew, nonce_ttl, grace: seconds.
        answer_unlogged: answer without logging while a store is away, instead of refusing.
    """

    name: str
    key: SigningKey
    screener: bytes
    auditor: SealingKey
    parties: dict[str, SealingKey]
    bundles: Bundles
    epochs: Epochs = field(default_factory=Epochs)
    clock_skew: float = 120.0
    nonce_ttl: int = 300
    grace: float = 300.0
    clock: Callable[[], float] = field(default=time.time)
    answer_unlogged: bool = False

    def verify_fresh(self, epoch: int, time_ms: int) -> None:
        """First half of check 5 of 5.3: current epoch, time within the skew; raises EpochError, FreshnessError."""
        now = self.clock()
        if epoch != self.epochs.number(now):
            raise EpochError("epoch is not the current one")
        if abs(time_ms / 1000 - now) > self.clock_skew:
            raise FreshnessError("time is outside the allowed skew")


@dataclass(frozen=True, slots=True)
class EpochSecrets:
    """What MS holds for one epoch and destroys after its grace time.

    Attributes:
        seed: the seed of all cycles, committed to in `key`. opening: opens the epoch's requests.
        terms: of the policy document that the epoch goes by, which `key` names.
    """

    epoch: int
    seed: bytes
    opening: OpeningKey
    key: EpochKey
    terms: Terms
