"""`proxid invite`, `proxid join`, `proxid admit`: a house of many machines by three kinds of file (docs/adr/0031).

proxid init house --only ea,gateway --parties acme     who invites: the CA, and what it runs itself
proxid invite party acme --house house                 a file for acme
proxid join party-acme.invitation                      at acme: its keys, a request, words to read out
proxid admit party-acme.request --house house          once the words were compared: an admission
proxid join party-acme.admission                       at acme, again whenever somebody new has to be known
"""

import base64
import datetime
import json
import secrets
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from auditor.config import AuditorConfig
from proxid.cli.failing import about
from proxid.clients.household import enrolment
from proxid.clients.household.config import EnrolmentAuthorityConfig
from proxid.clients.household.keys_lock import KeysLock
from proxid.clients.household.state import HouseholdState
from proxid.crypto.identity import Enrolment
from proxid.errors import ConfigError, CredentialError, InputError
from proxid.runtime.config.loading import load, load_section, made_section
from proxid.runtime.config.trust import Trust
from proxid.runtime.provision import Party, PublicFile, init_party, install_certificate
from proxid.runtime.provision.host import Host, next_steps, serving_at, settings_of
from proxid.runtime.provision.invitation import (
    Admission,
    Invitation,
    JoinRequest,
    Person,
    decoded,
    digest,
    read_letter,
    stem,
    words_of,
    words_of_keys,
)
from proxid.runtime.provision.party import introduce
from proxid.runtime.provision.policies import PolicyFolder
from proxid.runtime.provision.public import read_public, write_public
from proxid.runtime.provision.roles import ROLES
from proxid.runtime.provision.templates import GOVERNED, Settings, render
from proxid.runtime.provision.words import same

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)
_HOUSE = click.option(
    "--house", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".", show_default=True,
    help="Folder of who invites, made by proxid init --only.",
)  # fmt: skip
_JSON = click.option("--json", "as_json", is_flag=True, help="Print an object.")
_YES, _NO = ("y", "yes"), ("", "n", "no")
_DIFFER = "the words differ; ask again, or its file or the invitation was changed on the way"
_COMPARED = ("gateway", "main-service", "ea", "auditor")
"""Roles whose keys somebody who joins may want to hear from themselves."""


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


@click.command("invite", epilog="Example: proxid invite party acme globex --house house")
@click.argument("role")
@click.argument("names", nargs=-1)
@_HOUSE
@_JSON
def invite(role: str, names: tuple[str, ...], house: Path, as_json: bool) -> None:
    """Write an invitation for each NAME (default: the role): the CA's certificate, addresses, policy and public keys.

    It holds no secret: who joins makes the keys. That it arrived unchanged is seen when words are compared.
    """
    host = Host(house)
    written = []
    for name in names or (role,):
        host.invite(role, name)
        written.append(str(host.place("invited", role, name, "invitation")))
    click.echo(json.dumps({"written": written}) if as_json else "\n".join(written))


@click.command("admit", epilog="Example: proxid admit party-acme.request --house house")
@click.argument("files", nargs=-1, required=True, type=_FILE)
@_HOUSE
@click.option("--words", "heard", multiple=True, help="What somebody who joins has read out, instead of being asked.")
@click.option("--yes", is_flag=True, help="All words were compared.")
@click.option("--ea", type=_FOLDER, help="The enrolment authority's folder (default: ea in the house, if it is there).")
@click.option(
    "--since", type=click.DateTime(["%Y-%m-%d"]), help="Since when accounts of households exist (default: now)."
)
@_JSON
def admit(
    files: tuple[Path, ...], house: Path, heard: tuple[str, ...], yes: bool, ea: Path | None,
    since: datetime.datetime | None, as_json: bool,
) -> None:  # fmt: skip
    """Admit whoever answered an invitation, once the words that `proxid join` printed there were read to you.

    Writes an admission for each of them, and a new one for everybody who has to know them now.
    """
    host, requests = Host(house), [_request(path) for path in files]
    when = (since or _now()).replace(tzinfo=datetime.UTC)
    for request in requests:
        host.verify(request)
        if request.people:
            people = ", ".join(repr(one.user_id) for one in request.people)
            click.echo(f"{request.role} {request.name}: enrols {people}, since {when:%Y-%m-%d}", err=True)
        _compare(request, heard, yes)
    with about(house):
        for request in requests:
            if host.enrolled(request) is None:
                host.admit(request, _enrolled(request, ea or house / "ea", when), _now())
        came = [f"{request.role}/{request.name}" for request in requests]
        admissions = host.admissions(came, _now())
    places = {f"{one.role}/{one.name}": host.place("admitted", one.role, one.name, "admission") for one in admissions}
    written, again = [str(path) for path in places.values()], [str(places[who]) for who in places if who not in came]
    click.echo(json.dumps({"written": written, "again": again}) if as_json else "\n".join(written))
    if not as_json:
        click.echo("\n".join(next_steps(requests, admissions, places)), err=True)


def _request(path: Path) -> JoinRequest:
    letter = read_letter(path)
    if not isinstance(letter, JoinRequest):
        raise InputError(f"{path.name}: is no request; it is what proxid join writes")
    return letter


def _compare(request: JoinRequest, heard: Sequence[str], yes: bool) -> None:
    words = words_of(request)
    who = f"{request.role} {request.name}"
    if yes or any(same(one, words) for one in heard):
        return
    if heard:
        raise InputError(f"{who}: {_DIFFER}")
    if not sys.stdin.isatty():
        raise InputError(f"{who}: nobody has read out its words; give what you heard with --words, or --yes")
    said = click.prompt(f"{who} reads out: {words}? [y/N, or what you hear]", "n", show_default=False, err=True)
    if said.strip().lower() in _NO:
        raise InputError(f"{who}: not admitted; its file or the invitation was changed on the way")
    if said.strip().lower() not in _YES and not same(said, words):
        raise InputError(f"{who}: {_DIFFER}")


def _enrolled(request: JoinRequest, ea: Path, since: datetime.datetime) -> list[bytes]:
    if not request.people:
        return []
    if not (ea / "ea.toml").exists():
        click.echo(f"{request.name}: nobody was enrolled, the enrolment authority is not here (--ea)", err=True)
        return []
    asked = [(one.user_id, base64.b64decode(one.key)) for one in request.people]
    issued = enrolment.issue(load(EnrolmentAuthorityConfig, ea / "ea.toml"), asked, int(since.timestamp()))
    return [one.encode() for one in issued]


@click.command("join", epilog="Example: proxid join device-home.invitation -u ann")
@click.argument("file", type=_FILE)
@click.option("--into", type=_FOLDER, help="Folder of who joins (default: its name).")
@click.option("-u", "--user", "users", multiple=True, help="Of a household: somebody to enrol.")
@click.option("--listen", metavar="HOST:PORT", help="Where a server listens (default: its port, at every address).")
@click.option("--metrics", metavar="HOST:PORT", help="Where a server serves its metrics (default: this machine alone).")
@click.option("--yes", is_flag=True, help="Of the first admission: who invited you has said that the words agree.")
@_JSON
def join(
    file: Path, into: Path | None, users: tuple[str, ...], listen: str | None, metrics: str | None, yes: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Answer an invitation, or take an admission.

    The first makes keys, which never leave this machine, and writes a request and words: send the one to who invited
    you, and read the other to them. The second completes the folder, once they said that the words agree; take each
    new one that you are sent.
    """
    letter = read_letter(file)
    if isinstance(letter, JoinRequest):
        raise InputError(f"{file.name}: is a request; who invited takes it with proxid admit")
    folder = into or Path(letter.name)
    if isinstance(letter, Invitation):
        settings = serving_at(letter.role, settings_of(letter, file), listen, metrics)
        done = _answer(letter, folder, users, settings)
    else:
        assert isinstance(letter, Admission)
        with about(file):
            done = _take(letter, file, folder, yes)
    click.echo(json.dumps(done) if as_json else "\n".join(_said(done)))


def _answer(invitation: Invitation, folder: Path, users: Sequence[str], settings: Settings) -> dict[str, Any]:
    if users and invitation.role != "device":
        raise InputError(f"a {invitation.role} has no users to enrol")
    path = folder / f"{invitation.stem}.request"
    before = _answered(path, invitation)
    if before is None and not (folder / "tls.crt").exists():
        _only_by(invitation, folder, settings)
    party = init_party(folder, invitation.role, invitation.name, settings, invitation.policy, _now())
    _pin(folder, invitation.ca)
    csr = folder / "tls.csr"
    request = made_section(JoinRequest, folder, {
        "role": party.role, "name": party.name, "invitation": digest(invitation),
        "fresh": before or secrets.token_hex(32), "csr": read_public(csr) if csr.exists() else "",
        "public": party.public, "people": _people(folder, users),
    })  # fmt: skip
    request.write(path)
    return {"written": [str(path)], "words": words_of(request), **_keys(party, invitation.known)}


def _answered(path: Path, invitation: Invitation) -> str | None:
    """What the folder's request drew for this very invitation: its words can be heard again."""
    request = read_letter(path) if path.exists() else None
    return request.fresh if isinstance(request, JoinRequest) and request.invitation == digest(invitation) else None


def _only_by(invitation: Invitation, folder: Path, settings: Settings) -> None:
    """Raises CredentialError if files are there that another invitation may have left, whose words did not agree."""
    texts = {"ca.crt": invitation.ca, f"{invitation.role}.toml": render(invitation.role, invitation.name, settings)}
    if invitation.role in GOVERNED:
        texts["policy.toml"] = invitation.policy
    for name, text in texts.items():
        if (folder / name).exists() and read_public(folder / name, "utf-8") != text:
            raise CredentialError(
                f"{folder.name}/{name}: is not by this invitation; answer it in another folder (--into)"
            )


def _keys(party: Party, known: Sequence[PublicFile]) -> dict[str, Any]:
    others = {stem(one.role, one.name): words_of_keys(one) for one in known if one.role in _COMPARED}
    return {"own_keys": words_of_keys(party.public), "keys": others}


def _pin(folder: Path, ca: str) -> None:
    path = folder / "ca.crt"
    if path.exists() and read_public(path) != ca:
        raise CredentialError(f"{folder.name}: belongs to a house with another CA")
    write_public(path, ca)


def _people(folder: Path, users: Sequence[str]) -> tuple[Person, ...]:
    if not users:
        return ()
    lock = KeysLock(folder / "data")
    try:
        asked = enrolment.make_request(HouseholdState(folder / "data"), users)
    finally:
        lock.release()
    return tuple(Person(user_id=user, key=base64.b64encode(key).decode("ascii")) for user, key in asked)


def _take(admission: Admission, file: Path, folder: Path, yes: bool) -> dict[str, Any]:
    if not (folder / "public.toml").exists():
        step = f"proxid join {admission.stem}.invitation comes first; --into names the folder that it made"
        raise InputError(f"{folder.name}: is no folder of somebody who joins").at(str(folder), step)
    party = Party.at(folder)
    if (party.role, party.name) != (admission.role, admission.name):
        raise InputError(f"{folder.name}: is not the folder of {admission.role} {admission.name}")
    ca = read_public(folder / "ca.crt").encode("ascii")
    admission.verify(ca)
    path = folder / f"{admission.stem}.request"
    request = read_letter(path) if path.exists() else None
    if not isinstance(request, JoinRequest) or digest(request) != admission.request:
        raise CredentialError(f"{path.name}: the admission answers another request; join and be admitted again")
    if not yes and not (folder / "tls.crt").exists():
        _confirm(words_of(request))
    written = []
    if ROLES[party.role].networked:
        introduce(party, admission.known, admission.number)
        written.append(str(folder / "trust.toml"))
    if admission.certificate:
        install_certificate(party, admission.certificate.encode("ascii"), ca)
        written.append(str(folder / "tls.crt"))
    if party.role == "auditor":
        with suppress(ConfigError):  # it does not know all yet
            accept_first(folder)
    count = _enrol(folder, decoded(admission.enrolments, file))
    return {"written": written, "enrolled": count, **_keys(party, admission.known)}


def _confirm(words: str) -> None:
    """Ask whether the words agreed: else whoever wrote the invitation has signed the admission too."""
    if not sys.stdin.isatty():
        raise InputError("nobody has said that the words agree; --yes once who invited you has")
    if not click.confirm(
        f"Has who invited you heard these words from you, and said that they agree: {words}?", err=True
    ):
        raise InputError("nothing was taken; the invitation or the request may have been changed on the way")


def accept_first(folder: Path) -> None:
    """The policy that an auditor begins with stays accepted when its files say something else; raises ConfigError."""
    auditor = load(AuditorConfig, folder / "auditor.toml")
    policies = PolicyFolder(auditor.data_dir)
    if not policies.digests():
        policies.accept(auditor)


def _enrol(folder: Path, enrolments: Sequence[bytes]) -> int:
    authority = load_section(Trust, folder / "trust.toml").enrolment_authority if enrolments else None
    if authority is None:
        return 0
    issued = [Enrolment.decode(one) for one in enrolments]
    lock = KeysLock(folder / "data")
    try:
        state = HouseholdState(folder / "data")
        known = set(state.names())
        return enrolment.accept(state, [one for one in issued if one.user_id not in known], authority)
    finally:
        lock.release()


def _said(done: dict[str, Any]) -> list[str]:
    lines = [*done["written"]]
    if "words" in done:
        lines += [f"send {done['written'][0]} to who invited you, and read them these words:", f"  {done['words']}"]
    if done.get("enrolled"):
        lines.append(f"{done['enrolled']} enrolled")
    if done["keys"]:
        lines.append("keys as who invited you says; whoever would rather hear it from their owners compares:")
        lines += [f"  {who}: {words}" for who, words in sorted(done["keys"].items())]
    return [*lines, f"your own keys: {done['own_keys']}"]
