"""`proxid device enrol`: keys for users, and the authority's word for them (DESIGN 4.3).

With `--ea` both sides are at hand. In earnest the request file travels to the authority's machine and back:

    proxid device enrol --config device.toml -u ann --request ann.json          at the household
    proxid device enrol --ea ea --sign ann.json --since 2026-01-01 --answer ann.enrolled     at the authority
    proxid device enrol --config device.toml --answer ann.enrolled              at the household

A key that is lost or stolen is revoked at the authority, and the answer brought to the gateway:

    proxid device enrol --ea ea --revoke -u ann --answer ann.revoked            at the authority
    proxid init --into gateway --import ann.revoked                             at the gateway

A new one takes its place in the folder that the person has, by files as the first: with `--new-key` where it is made,
and with `--alike` where it is signed, since the name is no new one.
"""

import datetime
import itertools
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from device_sim.commands.common import JSON, load_households
from device_sim.corpus import read_events
from proxid.clients.household import enrolment
from proxid.clients.household.config import DeviceConfig, EnrolmentAuthorityConfig
from proxid.clients.household.keys_lock import KeysLock
from proxid.clients.household.state import HouseholdState
from proxid.errors import InputError
from proxid.runtime.config import load
from proxid.runtime.provision.revocations import write_revocations

_FILE = click.Path(dir_okay=False, path_type=Path)
_STEPS = {"revoke": "revoked", "sign": "signed", "request": "requested"}
"""What an option makes of those who are named, if they are not enrolled at once."""


@click.command("enrol", epilog="Example: proxid device enrol --config device.toml --ea ../../ea -u ann -u bob")
@click.option(
    "--config",
    "paths",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="device.toml, or a folder of households; several share the users.",
)
@click.option("-u", "--user", "users", multiple=True, help="USER_ID to enrol.")
@click.option("--users-of", type=_FILE, help="Enrol everybody who occurs in a JSONL or TSV file.")
@click.option("--people", type=click.IntRange(1), help="At most so many of them.")
@click.option("--ea", type=click.Path(exists=True, file_okay=False, path_type=Path), help="The authority's folder.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Since when the account exists (default: now).")
@click.option(
    "--until", type=click.DateTime(["%Y-%m-%d"]), help="From when on nobody is linked by it (default: never)."
)
@click.option("--alike", is_flag=True, help="At the authority: enrol a name too that looks like one in its register.")
@click.option("--new-key", is_flag=True, help="Give users who are enrolled here a new key in the place of theirs.")
@click.option("--request", type=_FILE, help="Write the request here instead.")
@click.option("--sign", type=_FILE, help="At the authority: sign this request into --answer.")
@click.option("--revoke", is_flag=True, help="At the authority: revoke the keys of the users, into --answer.")
@click.option("--answer", type=_FILE, help="The authority's answer.")
@JSON
def enrol(as_json: bool, **options: Any) -> int:
    """Enrol users of households with the offline enrolment authority.

    Who is enrolled already is left as it is. A new name must not look like another (RFC 8265, Unicode TR 39): the
    authority compares it with its register, and the gateway, which no option persuades, with everybody it knows.
    Exit status 1 if somebody was erased: an erased name cannot be enrolled
    again. With --new-key somebody who is enrolled here gets a new key, in the same folder, once the authority has
    signed it (with --alike): from the first link under it on, the one before is over.
    """
    known = Known()
    what = next((word for option, word in _STEPS.items() if options[option]), "enrolled")
    done = {what: _enrol(options, known), "enrolled_before": known.enrolled, "erased": known.erased}
    if as_json:
        click.echo(json.dumps(done))
    else:
        before = f", {known.enrolled} enrolled before" if known.enrolled else ""
        erased = f", {known.erased} erased: an erased name cannot be enrolled again" if known.erased else ""
        click.echo(f"{done[what]} {what}{before}{erased}")
    return 1 if known.erased else 0


@dataclass(slots=True)
class Known:
    """How many of those to enrol were enrolled before, and how many were erased since."""

    enrolled: int = 0
    erased: int = 0


def _enrol(options: dict[str, Any], known: Known) -> int:
    now = datetime.datetime.now(datetime.UTC)
    since = int((options["since"] or now).replace(tzinfo=datetime.UTC).timestamp())
    until = 0 if options["until"] is None else int(options["until"].replace(tzinfo=datetime.UTC).timestamp())
    if since < 0 or 0 < until <= since or (options["until"] is not None and until <= 0):
        raise InputError("--since is 1970-01-01 or later, and --until after it")
    if options["revoke"]:
        revoked = enrolment.revoke(_authority(options), _users(options), int(now.timestamp()))
        write_revocations(_need(options, "answer"), revoked)
        return len(revoked)
    if options["sign"] is not None:
        requests = enrolment.read_request(options["sign"])
        issued = enrolment.issue(_authority(options), requests, since, options["alike"], until)
        enrolment.write_answer(_need(options, "answer"), issued)
        return len(requests)
    configs = load_households(options["paths"])
    with ExitStack() as locks:
        for config in configs:
            locks.callback(KeysLock(config.data_dir).release)
        return _enrol_at(configs, options, known, since, until)


def _enrol_at(configs: Sequence[DeviceConfig], options: dict[str, Any], known: Known, since: int, until: int) -> int:
    if options["answer"] is not None:
        return _accept(configs[0], enrolment.read_answer(options["answer"]))
    anew = bool(options["new_key"])
    parts = _by_home(_users(options), configs, known) if anew else share_out(_fresh(options, configs, known), configs)
    if options["request"] is not None:
        whole = parts if anew else [(configs[0], [user for _, part in parts for user in part])]
        requests = [one for config, part in whole for one in enrolment.make_request(_state(config), part, anew)]
        enrolment.write_request(options["request"], requests)
        return len(requests)
    authority, alike = _authority(options), options["alike"] or anew
    return sum(
        _accept(
            config,
            enrolment.issue(authority, enrolment.make_request(_state(config), part, anew), since, alike, until),
        )
        for config, part in parts
    )


def _by_home(
    users: Sequence[str], configs: Sequence[DeviceConfig], known: Known
) -> list[tuple[DeviceConfig, list[str]]]:
    """Those who are enrolled, by household; counts who was erased since. Raises InputError for anybody else."""
    homes = {user: (config, state) for config in configs for user, state in _state(config).users().items()}
    if not homes.keys() >= set(users):
        raise InputError("nobody of that name is enrolled in this household")
    known.erased = sum(homes[user][1].erased for user in users)
    living = [user for user in users if not homes[user][1].erased]
    return [(config, [user for user in living if homes[user][0] is config]) for config in configs]


def _fresh(options: dict[str, Any], configs: Sequence[DeviceConfig], known: Known) -> list[str]:
    """Those who are enrolled nowhere yet; counts the others."""
    users = _users(options)
    enrolled = {user: state for config in configs for user, state in _state(config).users().items()}
    known.erased = sum(1 for user in users if user in enrolled and enrolled[user].erased)
    known.enrolled = sum(1 for user in users if user in enrolled) - known.erased
    return [user for user in users if user not in enrolled]


def share_out(users: Sequence[str], configs: Sequence[DeviceConfig]) -> list[tuple[DeviceConfig, Sequence[str]]]:
    """Users by household, in turn."""
    return [(config, users[i :: len(configs)]) for i, config in enumerate(configs)]


def _users(options: dict[str, Any]) -> list[str]:
    users = list(options["users"])
    if options["users_of"] is not None:
        users += [event.user for event in read_events(options["users_of"], lambda said: click.echo(said, err=True))]
    if not users:
        raise InputError("nobody to enrol: give --user or --users-of")
    return list(itertools.islice(dict.fromkeys(users), options["people"]))


def _state(config: DeviceConfig) -> HouseholdState:
    return HouseholdState(config.data_dir)


def _accept(config: DeviceConfig, answer: Sequence[Any]) -> int:
    assert config.trust.enrolment_authority is not None
    return enrolment.accept(_state(config), answer, config.trust.enrolment_authority)


def _authority(options: dict[str, Any]) -> EnrolmentAuthorityConfig:
    return load(EnrolmentAuthorityConfig, _need(options, "ea") / "ea.toml")


def _need(options: dict[str, Any], name: str) -> Path:
    value = options[name]
    if value is None:
        raise InputError(f"option --{name} is missing")
    assert isinstance(value, Path)
    return value
