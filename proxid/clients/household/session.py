"""What a device knows while an epoch lasts: the keys it was provisioned with, and each user's linked key."""

from collections.abc import Callable
from dataclasses import dataclass

from proxid.clients.household.state import UserState
from proxid.crypto.ed25519 import SigningKey
from proxid.protocol.request import Route

Clock = Callable[[], float]
"""Unix seconds."""

Random = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Pinned:
    """The keys that the device was provisioned with."""

    service: bytes
    screener: bytes


@dataclass(frozen=True, slots=True)
class Session:
    """One user's linked key in one epoch."""

    user: UserState
    key: SigningKey
    route: Route
    prox_id: str
    seasoned: bool
