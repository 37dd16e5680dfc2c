"""What a party was provisioned with: whose certificates it admits, whose keys it believes (DESIGN 2, 16)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from proxid.runtime.config.fields import ConfigPath, Fingerprint, Name, SealKey, VerifyKey
from proxid.runtime.config.loading import Section, read_toml, resolve

Role = Literal["gateway", "main-service", "auditor", "witness", "party", "device"]


def table_or_file(value: Any) -> Any:
    """A table as it is; a path as the tables of the file that it names."""
    if isinstance(value, str):
        return read_toml(resolve(Path(value)))
    return value


class Tls(Section):
    """PEM files for mutual TLS: the CA's certificate, the own certificate and its key."""

    ca: ConfigPath = Field(default=Path("ca.crt"), validate_default=True)
    certificate: ConfigPath = Field(default=Path("tls.crt"), validate_default=True)
    key: ConfigPath = Field(default=Path("tls.key"), validate_default=True)


class Peer(Section):
    """One admitted certificate. Deleting the entry revokes it."""

    fingerprint: Fingerprint
    role: Role
    name: Name


class PartyKeys(Section):
    """A third party's keys: the one that verifies its acknowledgements, the one bodies are sealed to."""

    acknowledge: VerifyKey
    seal: SealKey


class Trust(Section):
    """Public keys by role (DESIGN 2). A party has those it needs; asking for another is a ConfigError."""

    enrolment_authority: VerifyKey | None = None
    screener: VerifyKey | None = None
    service: VerifyKey | None = None
    auditor: VerifyKey | None = None
    auditor_seal: SealKey | None = None
    witness: VerifyKey | None = None
    parties: Mapping[Name, PartyKeys] = {}
    peers: tuple[Peer, ...] = ()

    def allow_list(self) -> dict[str, str]:
        """`ROLE/NAME` by fingerprint, as `proxid.runtime.transport.peers.PeerRegistry` takes it."""
        return {peer.fingerprint: f"{peer.role}/{peer.name}" for peer in self.peers}


TrustField = Annotated[Trust, BeforeValidator(table_or_file)]
"""`[trust]` as a table, or `trust = "trust.toml"`."""
