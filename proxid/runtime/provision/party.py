"""One party's folder: keys, certificate request, TOML, public file; then its certificate and the others' keys.

init_party            keys (kept if they exist), tls.csr, ROLE.toml, public.toml, trust.toml, policy.toml
install_certificate   tls.crt, ca.crt, and the fingerprint into public.toml
import_public         another party's public.toml into trust.toml, if this role needs it
introduce             the same by an admission: introduced.toml remembers whose certificates came that way
"""

import datetime
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from proxid.errors import CredentialError, InputError, OutputError
from proxid.regular import regular_bytes
from proxid.runtime.config.fields import Fingerprint, check_name
from proxid.runtime.config.loading import Section, load_section, made_section
from proxid.runtime.config.trust import PartyKeys, Trust
from proxid.runtime.provision import certificate, templates
from proxid.runtime.provision.keyfile import (
    OPENING,
    SIGNING,
    create_key,
    load_opening_key,
    load_signing_key,
    read_private,
    write_private,
)
from proxid.runtime.provision.public import PublicFile, add_to_trust, read_public, write_public, write_trust
from proxid.runtime.provision.roles import ROLES, SERVERS
from proxid.runtime.provision.templates import Settings
from proxid.runtime.provision.toml import dumps


@dataclass(frozen=True, slots=True)
class Party:
    """A party's folder on disk."""

    folder: Path
    role: str
    name: str

    @property
    def config(self) -> Path:
        """Its TOML."""
        return self.folder / f"{self.role}.toml"

    @property
    def public(self) -> PublicFile:
        """Its public file; raises ConfigError."""
        return PublicFile.read(self.folder / "public.toml")

    @classmethod
    def at(cls, folder: Path) -> "Party":
        """The party whose folder this is; raises ConfigError."""
        public = PublicFile.read(folder / "public.toml")
        return cls(folder, public.role, public.name)


def init_party(folder: Path, role: str, name: str, settings: Settings, policy: str, now: datetime.datetime) -> Party:
    """Write what is missing of a party's folder; what is there is kept.

    Args:
        policy: text of policy.toml. now: for the CA's own certificate.

    Raises:
        InputError: unknown role, no name, or the folder is another party's. OutputError: a file cannot be written.
    """
    if role not in ROLES:
        raise InputError("unknown role")
    check_name(name)
    party = Party(folder, role, name)
    make_folder(folder)
    if (folder / "public.toml").exists() and Party.at(folder) != party:
        raise InputError("the folder belongs to another party").at(str(folder))
    for file, kind in ROLES[role].keys:
        create_key(folder / file, kind)
    if role == "ca":
        _init_ca(folder, now)
        return party
    if ROLES[role].networked and write_private(folder / "tls.key", certificate.new_tls_key()):
        csr = certificate.request(read_private(folder / "tls.key"), role, name)
        write_public(folder / "tls.csr", csr.decode("ascii"))
    _write_once(party.config, templates.render(role, name, settings))
    if ROLES[role].networked:
        _write_once(folder / "trust.toml", "")
    if role in templates.GOVERNED:
        _write_once(folder / "policy.toml", policy)
    _write_public(party)
    return party


def make_folder(folder: Path) -> None:
    """Make a folder that its owner alone may open, unless it is there; raises OutputError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"{folder.name}: the folder cannot be created") from None


def _write_once(path: Path, text: str) -> None:
    if not path.exists():
        write_public(path, text)


def _init_ca(folder: Path, now: datetime.datetime) -> None:
    if write_private(folder / "ca.key", certificate.new_tls_key()):
        write_public(folder / "ca.crt", certificate.self_sign(read_private(folder / "ca.key"), now).decode("ascii"))


def _write_public(party: Party) -> None:
    folder = party.folder
    files = {kind: folder / file for file, kind in ROLES[party.role].keys}
    crt = folder / "tls.crt"
    pem = read_public(crt) if crt.exists() else None
    public = made_section(PublicFile, folder, {
        "role": party.role, "name": party.name,
        "sign": load_signing_key(files[SIGNING]).public if SIGNING in files else None,
        "seal": load_opening_key(files[OPENING]).public.data if OPENING in files else None,
        "fingerprint": None if pem is None else certificate.fingerprint(pem.encode("ascii")),
        "certificate": pem if party.role in SERVERS else None,
    })  # fmt: skip
    public.write(folder / "public.toml")


def sign_request(ca_folder: Path, csr: bytes, now: datetime.datetime, hosts: tuple[str, ...] = ()) -> bytes:
    """A certificate (PEM) by the CA of a folder; raises CredentialError, KeyInvalidError, InputError."""
    try:
        ca = regular_bytes(ca_folder / "ca.crt")
    except OSError:
        raise InputError(f"{ca_folder.name}: no CA's folder, ca.crt cannot be read") from None
    return certificate.sign_request(csr, read_private(ca_folder / "ca.key"), ca, now, hosts)


def install_certificate(party: Party, certificate_pem: bytes, ca_pem: bytes) -> None:
    """Put a certificate and its CA's into the folder; raises CredentialError unless it is for the party's key."""
    certificate.verify_issued(certificate_pem, read_private(party.folder / "tls.key"), ca_pem)
    if not (certificate_pem + ca_pem).isascii():
        raise CredentialError("a certificate's file holds something else besides")
    write_public(party.folder / "ca.crt", ca_pem.decode("ascii"))
    write_public(party.folder / "tls.crt", certificate_pem.decode("ascii"))
    _write_public(party)


class Introduced(Section):
    """`introduced.toml`: the number of the admission taken last, and certificates that admissions brought."""

    number: int = 0
    certificates: tuple[Fingerprint, ...] = ()


def introduce(party: Party, known: Iterable[PublicFile], number: int = 0) -> None:
    """Add whom an admission names to the party's trust, each certificate once: whoever took it out has revoked it.

    Args:
        number: the admission's; 0 at the host's own parties, which need none.

    Raises:
        CredentialError: a later one was taken already, or as `import_public`.
    """
    path, known = party.folder / "introduced.toml", list(known)
    before = load_section(Introduced, path) if path.exists() else Introduced()
    if number < before.number:
        raise CredentialError("a later admission was taken already")
    import_public(party, known, before.certificates)
    came = (other.fingerprint for other in known if other.fingerprint is not None)
    certificates = list(dict.fromkeys((*before.certificates, *came)))
    write_public(path, dumps({"number": number, "certificates": certificates}))


def import_public(party: Party, others: Iterable[PublicFile], but: Collection[str] = ()) -> None:
    """Add what others published to the party's trust.

    Args:
        but: fingerprints of certificates that are not added; keys that come with them are.

    Raises:
        CredentialError: this role must not know that one (DESIGN 2), or a key contradicts a trusted one.
    """
    path = party.folder / "trust.toml"
    trust, role = load_section(Trust, path), ROLES[party.role]
    # Collected first: copying ten thousand parties for each one added would be quadratic.
    parties, peers, but = dict(trust.parties), dict.fromkeys(trust.peers), frozenset(but)
    for other in others:
        if other.role not in role.knows:
            raise CredentialError(f"a {party.role} has no need of a {other.role}'s keys")
        keys, again = other.role != party.role, other.fingerprint in but
        admit = other.role in role.admits and not again
        changed = add_to_trust(
            _only(trust, parties, other),
            other.model_copy(update={"certificate": None}) if again else other, admit=admit, keys=keys,
        )  # fmt: skip
        parties.update(changed.parties)
        peers.update(dict.fromkeys(changed.peers))
        trust = changed.model_copy(update={"parties": {}, "peers": ()})
    write_trust(path, trust.model_copy(update={"parties": parties, "peers": tuple(peers)}))


def _only(trust: Trust, parties: Mapping[str, PartyKeys], other: PublicFile) -> Trust:
    known = {other.name: parties[other.name]} if other.role == "party" and other.name in parties else {}
    return trust.model_copy(update={"parties": known, "peers": ()})
