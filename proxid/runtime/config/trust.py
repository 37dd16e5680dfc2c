"""What a party was provisioned with: whose certificates it admits, whose keys it believes (DESIGN 2, 16)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from proxid.errors import ConfigError
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


class Server(Section):
    """A server's certificate, in PEM. A caller accepts those that are listed alone, whatever the CA signed."""

    role: Role
    name: Name
    certificate: str = Field(min_length=1, max_length=65_536)


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
    servers: tuple[Server, ...] = ()

    def certificates(self, role: Role) -> bytes:
        """PEM of the servers of a role that are accepted; raises ConfigError if there is none."""
        found = [server.certificate for server in self.servers if server.role == role]
        if not found:
            raise ConfigError(f"trust.servers: no certificate of a {role} is accepted; import its public.toml")
        return "\n".join(found).encode("ascii", "replace")

    def allow_list(self) -> dict[str, str]:
        """`ROLE/NAME` by fingerprint, as `proxid.runtime.transport.peers.PeerRegistry` takes it."""
        return {peer.fingerprint: f"{peer.role}/{peer.name}" for peer in self.peers}


TrustField = Annotated[Trust, BeforeValidator(table_or_file)]
"""`[trust]` as a table, or `trust = "trust.toml"`."""
