"""What the Main Service is: its keys, what it was provisioned with, its limits, its clock; and its epochs' secrets."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey, SealingKey
from proxid.crypto.identity import EpochKey
from proxid.errors import EpochError, FreshnessError
from proxid.protocol.epochs import Epochs
from proxid.runtime.clock import Clocks, ClockWatch
from proxid.runtime.config.terms import Terms

_SPARE_SECONDS: Final = 31 * 86_400
"""What nothing ends sooner is kept for so long beyond its epoch."""
_AWAY_SECONDS: Final = 400 * 86_400
"""A service that was away closes its epoch when it is back, and has to know then of whom it is: else an audit accuses
it. As long as links are kept, unless a policy says more."""


@dataclass(frozen=True, slots=True)
class Service:
    """The Main Service's identity and rules.

    Attributes:
        name: MS id, part of everything signed. key: sk_MS. screener: pk_IS. auditor: HPKE key for disclosures.
        parties: HPKE keys of the third parties. nonce_ttl: seconds that a nonce is kept at least.
        clock_skew, grace: seconds, as in force at the start: for clocks, which epoch is current, and how long the
            store keeps what is an epoch's. Its messages and its end go by its own document.
        watch: whether `clock` can be relied on.
    """

    name: str
    key: SigningKey
    screener: bytes
    auditor: SealingKey
    parties: dict[str, SealingKey]
    epochs: Epochs = field(default_factory=Epochs)
    clock_skew: float = 120.0
    nonce_ttl: int = 300
    grace: float = 300.0
    clock: Callable[[], float] = field(default=time.time)
    watch: ClockWatch = field(default_factory=lambda: ClockWatch(Clocks(), 120.0))

    def verify_fresh(self, epoch: int, time_ms: int, skew: float) -> None:
        """First half of check 5 of 5.3: epoch and time within the skew; raises EpochError, FreshnessError.

        IS decides by its clock which epoch is current; near an end that is another one than by this clock.

        Raises:
            EpochError, FreshnessError: the message is of another time.
        """
        self.verify_near(epoch, skew)
        if abs(time_ms / 1000 - self.clock()) > skew:
            raise FreshnessError("time is outside the allowed skew")

    def verify_near(self, epoch: int, skew: float) -> None:
        """That an epoch is current by this clock, or by one that differs so much; raises EpochError."""
        if epoch not in self.epochs.near(self.clock(), skew):
            raise EpochError("epoch is not the current one")

    def moment(self, epoch: int) -> int:
        """Now, as a time of the epoch (Unix milliseconds): what is asked in one waits, and is counted, in that one."""
        first, last = self.epochs.start(epoch) * 1000, self.epochs.end(epoch) * 1000 - 1
        return min(max(int(self.clock() * 1000), first), last)

    def kept_for(self, epoch: int) -> int:
        """Seconds from now for which the store keeps what belongs to an epoch.

        The store counts them by its machine's clock: set a day ahead, or away for months, it must not forget what is
        still needed. Once the epoch is closed that ends sooner (`EpochStore.let_go`).
        """
        return self._left(epoch) + _AWAY_SECONDS

    def marked_for(self, epoch: int) -> int:
        """The same for what is not of its people's keys and choices, and lasts."""
        return self._left(epoch) + _SPARE_SECONDS

    def _left(self, epoch: int) -> int:
        return max(0, int(self.epochs.end(epoch) - self.clock() + max(self.grace, self.clock_skew)))


@dataclass(frozen=True, slots=True)
class EpochSecrets:
    """What MS holds for one epoch and destroys after its grace time.

    Attributes:
        seed: the seed of all cycles, committed to in `key`. opening: opens the epoch's requests.
        terms: of the policy document that the epoch goes by, which `key` names.
        feeds: of each party its feed key, sealed and signed; none in an epoch that was opened before there were any.
    """

    epoch: int
    seed: bytes
    opening: OpeningKey
    key: EpochKey
    terms: Terms
    feeds: tuple[bytes, ...] = ()
