"""Enrolment by the offline authority (DESIGN 4.3, 16): requests and answers are files that travel by hand.

request   {"users": [{"user_id": …, "key": base64}]}
answer    {"enrolments": [base64]}
"""

import base64
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from proxid.clients.household.config import EnrolmentAuthorityConfig
from proxid.clients.household.register import Register
from proxid.clients.household.state import HouseholdState
from proxid.crypto.identity import Enrolment
from proxid.crypto.revocation import Revocation
from proxid.encoding import encode_text
from proxid.errors import MALFORMED, EncodingError, InputError
from proxid.jsontext import load_json
from proxid.protocol.request import MAX_USER_BLOCK
from proxid.regular import regular_text
from proxid.runtime.provision.keyfile import load_signing_key
from proxid.runtime.provision.public import write_public

Request = tuple[str, bytes]
"""USER_ID and public key."""


def make_request(state: HouseholdState, user_ids: Iterable[str], anew: bool = False) -> list[Request]:
    """Make keys for new users of a household; raises InputError for an unusable USER_ID.

    Args:
        anew: keys to take the place of those that its users have, instead.
    """
    requests = []
    for user_id in user_ids:
        try:
            usable = 0 < len(encode_text(user_id)) <= MAX_USER_BLOCK
        except EncodingError:
            usable = False
        if not usable:
            raise InputError("a USER_ID has 1 to 128 bytes of NFC text")
        key = state.next_key(user_id) if anew else state.new_user(user_id)
        requests.append((user_id, key.public))
    return requests


def issue(
    authority: EnrolmentAuthorityConfig, requests: Sequence[Request], since: int, alike: bool = False, until: int = 0
) -> list[Enrolment]:
    """The authority's word for each request, entered in its register.

    Args:
        since: Unix seconds. until: Unix seconds at which it ends; 0 if it does not. alike: enrol names too that are,
            or look like, names in the register.

    Raises:
        NameAlikeError, CredentialError: a name is not new, or no username, or its key is over. KeyInvalidError,
        InputError, OutputError.
    """
    key, register = load_signing_key(authority.signing_key), Register.open(authority.signing_key.parent)
    if not alike:
        register.verify(requests)
    issued = [
        Enrolment.issue(user_id, public, since, key, until, register.replaced(user_id, public))
        for user_id, public in requests
    ]
    register.add(issued)
    return issued


def revoke(authority: EnrolmentAuthorityConfig, user_ids: Iterable[str], time: int) -> list[Revocation]:
    """The authority's word that the newest key of each name is nobody's any more, entered in its register.

    Args:
        time: Unix seconds.

    Raises:
        InputError: a name was never enrolled. KeyInvalidError, OutputError.
    """
    key, register = load_signing_key(authority.signing_key), Register.open(authority.signing_key.parent)
    return [Revocation.issue(user_id, register.revoke(user_id, time), time, key) for user_id in user_ids]


def accept(state: HouseholdState, enrolments: Iterable[Enrolment], authority: bytes) -> int:
    """Keep what the authority issued for users of this household; returns how many. Raises as `add_enrolment`."""
    count = 0
    for enrolment in enrolments:
        state.add_enrolment(enrolment, authority)
        count += 1
    return count


def write_request(path: Path, requests: Sequence[Request]) -> None:
    """Write a request file; raises OutputError."""
    users = [{"user_id": user_id, "key": base64.b64encode(key).decode("ascii")} for user_id, key in requests]
    write_public(path, json.dumps({"users": users}, indent=1) + "\n")


def read_request(path: Path) -> list[Request]:
    """The requests of a file; raises InputError."""
    try:
        return [(str(user["user_id"]), base64.b64decode(user["key"])) for user in _read(path)["users"]]
    except MALFORMED:
        raise InputError(f"{path.name}: not an enrolment request") from None


def write_answer(path: Path, enrolments: Sequence[Enrolment]) -> None:
    """Write an answer file; raises OutputError."""
    texts = [base64.b64encode(enrolment.encode()).decode("ascii") for enrolment in enrolments]
    write_public(path, json.dumps({"enrolments": texts}, indent=1) + "\n")


def read_answer(path: Path) -> list[Enrolment]:
    """The enrolments of a file; raises InputError."""
    try:
        return [Enrolment.decode(base64.b64decode(text)) for text in _read(path)["enrolments"]]
    except (EncodingError, *MALFORMED):
        raise InputError(f"{path.name}: not an enrolment answer") from None


def _read(path: Path) -> Any:
    try:
        return load_json(regular_text(path))
    except (OSError, ValueError):
        raise InputError(f"{path.name}: the file cannot be read") from None
