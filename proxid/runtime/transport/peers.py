"""Who is calling: role and name from the verified certificate, refused unless it is allowed (DESIGN 16)."""

import asyncio
import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from proxid.errors import PeerRefusedError
from proxid.runtime.pem import malformed_as
from proxid.runtime.transport.budget import Budget
from proxid.runtime.transport.throttle import Heed

URI_SCHEME = "proxid:"


@dataclass(frozen=True, slots=True)
class Peer:
    """A caller: its role (`gateway`, `main-service`, `device`, `party`, `auditor`, …) and name.

    Attributes:
        ends: Unix time at which its certificate does.
    """

    role: str
    name: str
    ends: float = field(default=math.inf, compare=False)


def fingerprint(pem: bytes) -> str:
    """SHA-256 of the DER certificate, lower-case hex."""
    return hashlib.sha256(x509.load_pem_x509_certificate(pem).public_bytes(Encoding.DER)).hexdigest()


def peer_of_certificate(pem: bytes) -> Peer:
    """Role and name in the subject alternative name `URI:proxid:ROLE/NAME`; raises PeerRefusedError."""
    with malformed_as(PeerRefusedError("certificate has no readable subject alternative name")):
        certificate = x509.load_pem_x509_certificate(pem)
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        uris, ends = names.get_values_for_type(x509.UniformResourceIdentifier), certificate.not_valid_after_utc
    for uri in uris:
        role, slash, name = uri.removeprefix(URI_SCHEME).partition("/")
        if uri.startswith(URI_SCHEME) and slash and role and name:
            return Peer(role, name, ends.timestamp())
    raise PeerRefusedError("certificate names no role")


def _shown(context: Any) -> bytes:
    pems = context.auth_context().get("x509_pem_cert") or ()
    if not pems:
        raise PeerRefusedError("caller shows no certificate")
    pem: bytes = pems[0]
    return pem


class PeerRegistry:
    """The certificates that a service accepts.

    Args:
        allowed: fingerprint → `ROLE/NAME`. A certificate that the CA signed but that is not here is refused, so
            taking one out revokes it.
        clock: Unix seconds; TLS looks at a certificate's end when a connection begins, this whenever it is asked.
        own: this service's certificate, in PEM.

    Attributes:
        budget: what callers have under way here. heed: which of them ask on and on while they are refused.
    """

    def __init__(
        self, allowed: Mapping[str, str], clock: Callable[[], float] = time.time, own: bytes | None = None
    ) -> None:
        self.clock = clock
        self._own = None if own is None else peer_of_certificate(own)
        self._allowed = dict(allowed)
        self._seen: dict[bytes, Peer] = {}
        self._watching: set[Callable[[], None]] = set()
        self.budget, self.heed = Budget(), Heed()
        self._closing = asyncio.Event()

    @property
    def closed(self) -> bool:
        """Whether the service stops."""
        return self._closing.is_set()

    async def pause(self, seconds: float) -> None:
        """Wait, but no longer than the service runs."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)

    def replace(self, allowed: Mapping[str, str]) -> bool:
        """Go by another list from now on; False if it is the same."""
        if allowed == self._allowed:
            return False
        self._allowed, self._seen = dict(allowed), {}
        for changed in tuple(self._watching):
            changed()
        return True

    def close(self) -> None:
        """The service stops: whoever serves a long call hears of it."""
        self._closing.set()
        for changed in tuple(self._watching):
            changed()

    @contextmanager
    def watching(self, changed: Callable[[], None]) -> Iterator[None]:
        """Have `changed` called at every change of the list and at `close` while the block runs: for long calls."""
        self._watching.add(changed)
        try:
            yield
        finally:
            self._watching.discard(changed)

    def is_own(self, context: Any) -> bool:
        """Whether this service itself is calling: by the name in a certificate of the CA, also in a renewed one."""
        try:
            peer = peer_of_certificate(_shown(context))
        except PeerRefusedError:
            return False
        return peer == self._own and self.clock() < peer.ends

    def identify(self, context: Any) -> Peer:
        """The peer of a call; raises PeerRefusedError."""
        pem = _shown(context)
        seen = self._seen
        peer = seen.get(pem)
        if peer is None:
            peer = peer_of_certificate(pem)
            if self._allowed.get(fingerprint(pem)) != f"{peer.role}/{peer.name}":
                raise PeerRefusedError("certificate is not on the allow-list")
            if len(seen) < 100_000:
                seen[pem] = peer
        if self.clock() >= peer.ends:
            raise PeerRefusedError("certificate has ended")
        return peer
