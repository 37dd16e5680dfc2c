"""The folder of who invites (docs/adr/0031): the CA, the parties that it runs itself, and what it knows of the others.

    house.toml  policy.toml  ca/  gateway/ …
    invited/WHO.invitation  known/WHO.toml  admitted/WHO.crt, WHO.enrolled, WHO.request, WHO.admission

Who joins gets an admission; so does everybody again who has to know the newcomer. Its own parties know at once.
"""

import base64
import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from proxid.errors import InputError
from proxid.runtime.config.fields import check_name
from proxid.runtime.config.loading import load_section, made_section, parse_toml
from proxid.runtime.config.policy import SETTINGS, load_policy
from proxid.runtime.provision import certificate, templates
from proxid.runtime.provision.invitation import (
    Admission,
    House,
    Invitation,
    JoinRequest,
    Letter,
    decoded,
    digest,
    read_letter,
    stem,
)
from proxid.runtime.provision.keyfile import read_private
from proxid.runtime.provision.party import Party, init_party, install_certificate, introduce, make_folder, sign_request
from proxid.runtime.provision.public import PublicFile, read_public, write_public
from proxid.runtime.provision.roles import ROLES, SERVERS
from proxid.runtime.provision.templates import Settings
from proxid.runtime.provision.toml import dumps

ONE_OF_EACH: Final = ("ea", "gateway", "main-service", "auditor", "witness")
_LISTEN: Final = {"gateway": "gateway", "main-service": "main_service", "auditor": "auditor"}
"""Server → the setting that holds its address."""


@dataclass(frozen=True, slots=True)
class Host:
    """A host's folder."""

    folder: Path

    @classmethod
    def init(
        cls, folder: Path, own: Sequence[str], parties: tuple[str, ...], settings: Settings, now: datetime.datetime
    ) -> "Host":
        """Make the CA and the parties that the host runs itself, or what is missing of them.

        Args:
            own: their roles, each once. parties: third parties that the policy names. settings: addresses as others
                reach them.

        Raises:
            InputError: not such a role. InputError, OutputError: a folder is unusable.
        """
        host, policy = cls(folder), templates.render_policy(parties, settings)
        if unknown := set(own) - set(ONE_OF_EACH):
            raise InputError(f"a host runs no {min(unknown)} of its own; there are: {', '.join(ONE_OF_EACH)}")
        # Requests name people, and say when they came.
        for private in (folder, *(folder / sub for sub in ("invited", "known", "admitted"))):
            make_folder(private)
        init_party(folder / "ca", "ca", "ca", settings, "", now)
        house = House(
            service=settings.service, gateway=settings.gateway, main_service=settings.main_service,
            auditor=settings.auditor, epoch_seconds=settings.epoch_seconds,
        )  # fmt: skip
        for name, text in (("house.toml", dumps(house.model_dump())), ("policy.toml", policy)):
            if not (folder / name).exists():
                write_public(folder / name, text)
        for role in own:
            party = init_party(folder / role, role, role, serving_at(role, settings), policy, now)
            if ROLES[role].networked and not (party.folder / "tls.crt").exists():
                pem = sign_request(folder / "ca", read_public(party.folder / "tls.csr").encode("ascii"), now)
                install_certificate(party, pem, read_public(folder / "ca/ca.crt").encode("ascii"))
        for party in host.own():
            _introduce(party, host.known())
        return host

    def own(self) -> list[Party]:
        """The parties that it runs itself."""
        folders = [self.folder / role for role in ONE_OF_EACH]
        return [Party.at(folder) for folder in folders if (folder / "public.toml").exists()]

    def known(self) -> list[PublicFile]:
        """Everybody's public files, its own parties' first."""
        others = [PublicFile.read(path) for path in sorted((self.folder / "known").glob("*.toml"))]
        return [*(party.public for party in self.own()), *others]

    def invite(self, role: str, name: str) -> Invitation:
        """An invitation, kept here as well.

        Raises:
            InputError: no such role, no name, or a third party that the policy does not name. ConfigError: this is no
                host's folder.
        """
        if role not in ROLES or role == "ca":
            raise InputError(f"nobody joins as {role}; there are: {', '.join(sorted(ROLES.keys() - {'ca'}))}")
        check_name(name)
        policy = self.folder / "policy.toml"
        if role == "party" and name not in load_policy(policy).parties:
            raise InputError(
                f"{policy}: does not name the party {name}; add it to parties and bundles, and invite again"
            )
        invitation = made_section(Invitation, self.folder, {
            "role": role, "name": name, "house": load_section(House, self.folder / "house.toml"),
            "ca": read_public(self.folder / "ca/ca.crt"), "known": _for(role, self.known()),
            "policy": read_public(policy, "utf-8") if role in templates.GOVERNED else "",
        })  # fmt: skip
        invitation.write(self.place("invited", role, name, "invitation"))
        return invitation

    def place(self, where: str, role: str, name: str, ending: str) -> Path:
        """Where a file of somebody is kept."""
        return self.folder / where / f"{stem(role, name)}.{ending}"

    def verify(self, request: JoinRequest) -> None:
        """Raises InputError unless a request answers the invitation of its role and name, and holds what that needs."""
        path = self.place("invited", request.role, request.name, "invitation")
        if not path.exists() or digest(read_letter(path)) != request.invitation:
            raise InputError(f"{request.role} {request.name}: was not invited here, or by another invitation since")
        named = {(request.role, request.name), (request.public.role, request.public.name)}
        if request.csr:
            named.add(certificate.named_by(request.csr.encode()))
        if len(named) > 1 or bool(request.csr) != ROLES[request.role].networked:
            raise InputError(f"{request.role} {request.name}: the request is of somebody else")

    def enrolled(self, request: JoinRequest) -> list[bytes] | None:
        """The enrolments with which the very same request was admitted before; None if it was not."""
        path = self.place("admitted", request.role, request.name, "request")
        if not path.exists() or digest(read_letter(path)) != digest(request):
            return None
        return decoded(read_public(path.with_suffix(".enrolled")).split(), path.with_suffix(".enrolled"))

    def admit(self, request: JoinRequest, enrolments: Iterable[bytes], now: datetime.datetime) -> None:
        """Sign a verified request's certificate and let the host's own parties know who it is.

        Not for the very same request again (`enrolled`): another certificate would undo that the first was revoked.

        Args:
            enrolments: encoded, of the people that it asks to enrol.

        Raises:
            CredentialError: another key is trusted under that name.
        """
        public, text, place = request.public, "", (request.role, request.name)
        if request.csr:
            pem = sign_request(self.folder / "ca", request.csr.encode("ascii"), now)
            text = pem.decode("ascii")
            public = public.model_copy(
                update={
                    "fingerprint": certificate.fingerprint(pem),
                    "certificate": text if request.role in SERVERS else None,
                }
            )
        # The first may refuse: then nothing of this is in an admission. The request, without which there is none, last.
        for party in self.own():
            _introduce(party, [public])
        if text:
            write_public(self.place("admitted", *place, "crt"), text)
        texts = [base64.b64encode(one).decode("ascii") for one in enrolments]
        write_public(self.place("admitted", *place, "enrolled"), "\n".join(texts))
        public.write(self.place("known", *place, "toml"))
        request.write(self.place("admitted", *place, "request"))

    def admissions(self, newcomers: Iterable[str], now: datetime.datetime) -> list[Admission]:
        """What is to be sent: to newcomers, and to everybody admitted who has to know one of their roles.

        Each is kept here as well, and numbered above the one before: by the clock, so that a house that was restored
        from a copy goes on above numbers it has forgotten.
        """
        came, known, found = list(newcomers), self.known(), []
        roles = {role for role, _, _ in (name.partition("/") for name in came)}
        key = read_private(self.folder / "ca/ca.key")
        for path in sorted((self.folder / "admitted").glob("*.request")):
            request = read_letter(path)
            if not isinstance(request, JoinRequest):
                raise InputError(f"{path.name}: is no request").at(str(path), "take it out, and admit again")
            if f"{request.role}/{request.name}" in came or roles & ROLES[request.role].knows:
                last, number = path.with_suffix(".admission"), int(now.timestamp())
                if last.exists():
                    number = max(number, load_section(Admission, last).number + 1)
                found.append(self._admission(request, number, known).sign(key))
                found[-1].write(last)
        return found

    def _admission(self, request: JoinRequest, number: int, known: Iterable[PublicFile]) -> Admission:
        place = (request.role, request.name)
        crt = self.place("admitted", *place, "crt")
        return made_section(Admission, crt, {
            "role": request.role, "name": request.name, "request": digest(request), "number": number,
            "known": _for(request.role, known), "certificate": read_public(crt) if crt.exists() else "",
            "enrolments": tuple(read_public(self.place("admitted", *place, "enrolled")).split()),
        })  # fmt: skip


def next_steps(
    requests: Iterable[JoinRequest], admissions: Iterable[Admission], places: Mapping[str, Path]
) -> list[str]:
    """What the host does with each admission; who has to know a newcomer refuses them until they take theirs.

    Args:
        places: `ROLE/NAME` → its file.
    """
    came, lines = {f"{request.role}/{request.name}": request for request in requests}, []
    for one in admissions:
        who = f"{one.role}/{one.name}"
        to, path = _called(one), places[who]
        if who in came:
            lines.append(f"send {path} to {to}, who takes it: proxid join {path.name}")
        else:
            new = ", ".join(_called(request) for request in came.values() if request.role in ROLES[one.role].knows)
            lines.append(f"send {path} to {to} again: until that takes it (proxid join {path.name}) it refuses {new}")
    return lines


def _called(one: Letter) -> str:
    return one.role if one.role == one.name else f"{one.role} {one.name}"


def _for(role: str, known: Iterable[PublicFile]) -> tuple[PublicFile, ...]:
    return tuple(public for public in known if public.role in ROLES[role].knows)


def _introduce(party: Party, known: Iterable[PublicFile]) -> None:
    if ROLES[party.role].networked:
        introduce(party, _for(party.role, known))


def serving_at(role: str, settings: Settings, listen: str | None = None, metrics: str | None = None) -> Settings:
    """Settings of one party; a server listens at its port of every address unless told otherwise.

    Raises:
        InputError: a party that is no server is told where to serve metrics.
    """
    field = _LISTEN.get(role)
    if metrics is not None:
        if field is None:
            raise InputError(f"a {role} serves no metrics")
        settings = replace(settings, by_role={**settings.by_role, role: {"metrics_listen": metrics}})
    if field is None or not (address := str(getattr(settings, field))):
        return settings
    changed: dict[str, Any] = {field: listen or f"0.0.0.0:{address.rpartition(':')[2]}"}
    return replace(settings, **changed)


def settings_of(invitation: Invitation, path: Path) -> Settings:
    """What the files of who joins are written by, by an invitation of a file; raises ConfigError."""
    said, house = parse_toml(invitation.policy, path), invitation.house
    return Settings(
        gateway=house.gateway, main_service=house.main_service, auditor=house.auditor, service=house.service,
        epoch_seconds=house.epoch_seconds, anonymiser=said.get("anonymiser", {}),
        shared={name: said[name] for name in SETTINGS if name in said and name != "anonymiser"},
    )  # fmt: skip
