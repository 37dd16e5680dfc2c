"""What a party tells the others: `public.toml`, its role, name, public keys, the fingerprint of its certificate.

A server tells its whole certificate: callers accept no other.

It is exchanged out of band: whoever imports one must know from elsewhere that it is the party's (compare its
digest by telephone, say). `trust.toml` collects what was imported.
"""

import base64
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from proxid.errors import CredentialError, InputError, OutputError
from proxid.regular import regular_text
from proxid.runtime.config.fields import Fingerprint, Name, SealKey, VerifyKey
from proxid.runtime.config.loading import Section, load_section
from proxid.runtime.config.trust import PartyKeys, Peer, Server, Trust
from proxid.runtime.provision import toml
from proxid.runtime.provision.roles import ROLES, SERVERS
from proxid.runtime.whole import EVERYBODYS, replace_whole

_SINGLE = {
    "ea": ("enrolment_authority", None),
    "gateway": ("screener", None),
    "main-service": ("service", None),
    "auditor": ("auditor", "auditor_seal"),
    "witness": ("witness", None),
}
"""Role → the fields of `Trust` that hold its verification and sealing key."""


_HEADER = """\
# Written by `proxid init --import`. Take out a [[peers]] entry to refuse that certificate from then on.
# [[servers]]: whoever is called must show one of these certificates.
"""


class PublicFile(Section):
    """The public half of a party."""

    role: str = Field(min_length=1)
    name: Name
    sign: VerifyKey | None = None
    seal: SealKey | None = None
    fingerprint: Fingerprint | None = None
    certificate: str | None = Field(default=None, max_length=65_536)

    @model_validator(mode="after")
    def _known_role(self) -> Self:
        if self.role not in ROLES:
            raise ValueError("role: unknown")
        return self

    @classmethod
    def read(cls, path: Path) -> "PublicFile":
        """The public file at a path; raises ConfigError naming the key that is wrong."""
        return load_section(cls, path)

    def write(self, path: Path) -> None:
        """Write it, replacing an older one; raises OutputError."""
        write_public(path, toml.dumps(self.table()))

    def table(self) -> dict[str, str | None]:
        """As it is written."""
        return {
            "role": self.role,
            "name": self.name,
            "sign": _text(self.sign),
            "seal": _text(self.seal),
            "fingerprint": self.fingerprint,
            "certificate": self.certificate,
        }


def _text(key: bytes | None) -> str | None:
    return None if key is None else base64.b64encode(key).decode("ascii")


def add_to_trust(trust: Trust, public: PublicFile, admit: bool, keys: bool = True) -> Trust:
    """The trust with one more party.

    Args:
        admit: its certificate may call. keys: its keys are believed too; of another one of the own role they are not.

    Raises:
        CredentialError: the party lacks a key, or another key is trusted under its name: that must be taken out by
            hand first, so that nobody is replaced unnoticed.
    """
    changes: dict[str, object] = {}
    if public.role == "party":
        if public.sign is None or public.seal is None:
            raise CredentialError("a party's public file needs a signing and a sealing key")
        own = PartyKeys(acknowledge=public.sign, seal=public.seal)
        if trust.parties.get(public.name, own) != own:
            raise CredentialError("another key is trusted under this party's name")
        changes["parties"] = {**trust.parties, public.name: own}
    elif keys and public.role in _SINGLE:
        for field, key in zip(_SINGLE[public.role], (public.sign, public.seal), strict=True):
            if field is None:
                continue
            if key is None or getattr(trust, field) not in (None, key):
                raise CredentialError(f"key for {field} is missing, or another is trusted already")
            changes[field] = key
    if public.role in SERVERS and public.certificate is not None:
        changes["servers"] = _with_server(trust.servers, public, public.certificate)
    if admit:
        changes["peers"] = _with_peer(trust.peers, public)
    return trust.model_copy(update=changes)


def _with_peer(peers: tuple[Peer, ...], public: PublicFile) -> tuple[Peer, ...]:
    if public.fingerprint is None:
        raise CredentialError("the public file has no certificate's fingerprint yet")
    peer = Peer.model_validate({"fingerprint": public.fingerprint, "role": public.role, "name": public.name})
    return peers if peer in peers else (*peers, peer)


def _with_server(servers: tuple[Server, ...], public: PublicFile, certificate: str) -> tuple[Server, ...]:
    server = Server.model_validate({"role": public.role, "name": public.name, "certificate": certificate})
    return servers if server in servers else (*servers, server)


def write_trust(path: Path, trust: Trust) -> None:
    """Write `trust.toml`; raises OutputError."""
    keys = ("enrolment_authority", "screener", "service", "auditor", "auditor_seal", "witness")
    table: dict[str, Any] = {key: _text(getattr(trust, key)) for key in keys}
    table["parties"] = {
        name: {"acknowledge": _text(party.acknowledge), "seal": _text(party.seal)}
        for name, party in trust.parties.items()
    }
    table["peers"] = [peer.model_dump() for peer in trust.peers]
    table["servers"] = [server.model_dump() for server in trust.servers]
    write_public(path, _HEADER + toml.dumps({key: value for key, value in table.items() if value}))


def read_public(path: Path, encoding: str = "ascii") -> str:
    """What a file that is no secret says; raises InputError, which names it, if it is no such text."""
    try:
        return regular_text(path, encoding)
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path.name}: the file cannot be read, or is no text").at(str(path)) from None


def write_public(path: Path, text: str) -> None:
    """Replace a file whole; raises OutputError."""
    try:
        replace_whole(path, text.encode("utf-8"), EVERYBODYS)
    except OSError:
        raise OutputError(f"{path.name}: the file cannot be written").at(str(path)) from None
