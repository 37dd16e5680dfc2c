"""All folders of a trial at once (`proxid init DIR`): every role on one disk, which only a trial should do.

    ca/ ea/ gateway/ main-service/ auditor/ witness/ parties/NAME/ devices/HOUSEHOLD/

Called again with more parties or households it adds them; keys that exist are kept.
"""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from proxid.runtime.config.fields import check_name
from proxid.runtime.config.policy import load_policy
from proxid.runtime.provision import templates
from proxid.runtime.provision.host import ONE_OF_EACH
from proxid.runtime.provision.party import Party, import_public, init_party, install_certificate, sign_request
from proxid.runtime.provision.public import read_public, write_public
from proxid.runtime.provision.roles import ROLES
from proxid.runtime.provision.templates import Settings


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """What a trial consists of.

    Attributes:
        parties: names of third parties. households: names of households. hosts: further DNS names of the servers.
    """

    parties: tuple[str, ...] = ("acme", "globex", "initech")
    households: tuple[str, ...] = ("household-1",)
    settings: Settings = field(default_factory=Settings)
    hosts: tuple[str, ...] = ()


def init_trial(directory: Path, options: TrialOptions, now: datetime.datetime) -> list[Party]:
    """Write every party's folder and introduce the parties to each other; returns all but the CA.

    Raises:
        InputError: a name is none, before anything is written. InputError, OutputError: a folder is unusable.
        CredentialError: keys on disk contradict each other.
    """
    for _, name in _members(options):
        check_name(name)
    ca = init_party(directory / "ca", "ca", "ca", options.settings, "", now)
    policy = templates.render_policy(options.parties, options.settings)
    parties = []
    for role, name in _members(options):
        folder = directory / ROLES[role].folder.format(name=name)
        parties.append(init_party(folder, role, name, options.settings, policy, now))
    for party in parties:
        if ROLES[party.role].networked and not (party.folder / "tls.crt").exists():
            _certify(party, ca.folder, options.hosts, now)
    _introduce(parties)
    _extend_policies(parties, options.parties, policy)
    return parties


def _members(options: TrialOptions) -> Iterator[tuple[str, str]]:
    yield from ((role, role) for role in ONE_OF_EACH)
    yield from (("party", name) for name in options.parties)
    yield from (("device", name) for name in options.households)


def _certify(party: Party, ca: Path, hosts: tuple[str, ...], now: datetime.datetime) -> None:
    pem = sign_request(ca, read_public(party.folder / "tls.csr").encode("ascii"), now, hosts)
    install_certificate(party, pem, read_public(ca / "ca.crt").encode("ascii"))


def _introduce(parties: list[Party]) -> None:
    public = [party.public for party in parties]
    for party in parties:
        role = ROLES[party.role]
        if role.networked:
            import_public(party, (other for other in public if other.role in role.knows))


def _extend_policies(parties: list[Party], names: tuple[str, ...], policy: str) -> None:
    """A party that was added later must stand in every policy; one that lists all of them is left as edited."""
    for party in parties:
        path = party.folder / "policy.toml"
        if path.exists() and not set(names) <= set(load_policy(path).parties):
            write_public(path, policy)
