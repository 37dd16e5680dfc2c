"""A household's users and their keys on disk, so that a restarted device goes on where it was (DESIGN 4.3).

    users/TAG/user.key        pk_U's secret               users/TAG/enrolment       the EA's word
    users/TAG/next.key        to take its place           users/TAG/enrolment.next  the EA's word for that, meanwhile
    users/TAG/erased          the user was erased at both services, for ever
    users/TAG/asked           what the user asked, sealed, if they want that (`history`)
    users/TAG/objection     Unix seconds of the receipt of an objection, until it is taken back
    users/TAG/choice.json     a bundle until it is withdrawn, and what the user was told that it means
    users/TAG/epoch-N.key     the epoch key's secret      users/TAG/epoch-N.json    consent: version, bundle, pending

TAG is a digest of the USER_ID, which may hold any characters. An epoch key is on disk before it is linked: of
each person one that was forgotten is replaced in an epoch, and no more.
"""

import base64
import hashlib
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from proxid.clients.household.history import OwnHistory
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.identity import Enrolment
from proxid.errors import MALFORMED, EncodingError, InputError, OutputError
from proxid.jsontext import load_json
from proxid.protocol.consent import NOTHING
from proxid.regular import regular_text
from proxid.runtime.provision.keyfile import (
    SIGNING,
    create_key,
    load_signing_key,
    read_private,
    replace_private,
    write_private,
)
from proxid.runtime.provision.public import write_public

_KEPT_EPOCHS: Final = 2
_NEXT_KEY: Final = "next.key"
_NEXT: Final = "enrolment.next"


@dataclass(frozen=True, slots=True)
class ConsentState:
    """What a user's consent is in one epoch, and what was sent and not yet acknowledged."""

    version: int = 0
    bundle: str = NOTHING
    pending: tuple[bytes, bytes] | None = None
    """The vector and the signed message, encoded, exactly as they were sent."""


@dataclass(frozen=True, slots=True)
class Lasting:
    """A bundle chosen until it is withdrawn, and what it meant then (`lasting.meaning`)."""

    bundle: str
    meaning: frozenset[str]


def _take_over(folder: Path) -> None:
    """A user's next key takes the place of theirs, if the EA's word is there; goes on where it was broken off."""
    if not (folder / _NEXT).exists():
        return
    if (folder / _NEXT_KEY).exists():
        OwnHistory(folder, load_signing_key(folder / "user.key")).reseal(load_signing_key(folder / _NEXT_KEY))
        for path in folder.glob("epoch-*"):  # linked by the key before
            os.unlink(path)
        os.replace(folder / _NEXT_KEY, folder / "user.key")
    os.replace(folder / _NEXT, folder / "enrolment")


def _enrolment(path: Path) -> Enrolment:
    """The EA's word in a file; raises KeyInvalidError, InputError."""
    try:
        return Enrolment.decode(read_private(path))
    except EncodingError:
        raise InputError(f"{path.name}: the enrolment is damaged; put it back from its copy").at(str(path)) from None


class UserState:
    """One user's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.key = load_signing_key(folder / "user.key")
        self.enrolment = _enrolment(folder / "enrolment")
        self.history = OwnHistory(folder, self.key)

    @property
    def user_id(self) -> str:
        """USER_ID."""
        return self.enrolment.user_id

    @property
    def erased(self) -> bool:
        """Whether the services have erased the user: the name can never be used again."""
        return (self._folder / "erased").exists()

    def mark_erased(self) -> None:
        """The services have erased the user; raises OutputError.

        What is kept here goes first: an erasure that ends in between is asked for again, and finishes this.
        """
        self.history.stop()
        self.keep_choice(None)
        self.keep_objection(None)
        write_private(self._folder / "erased", b"")

    @property
    def lasting(self) -> Lasting | None:
        """The choice that is made anew each epoch; raises InputError if its file is damaged."""
        path = self._folder / "choice.json"
        if not path.exists():
            return None
        try:
            data = load_json(regular_text(path))
            return Lasting(str(data["bundle"]), frozenset(str(row) for row in data["meaning"]))
        except (OSError, *MALFORMED):
            raise InputError(f"{path.name}: the lasting choice is damaged; choose again").at(str(path)) from None

    def keep_choice(self, choice: Lasting | None) -> None:
        """Replace the lasting choice, None for none; raises OutputError."""
        path = self._folder / "choice.json"
        if choice is None:
            path.unlink(missing_ok=True)
            return
        write_public(path, json.dumps({"bundle": choice.bundle, "meaning": sorted(choice.meaning)}))

    @property
    def objection(self) -> float | None:
        """Unix seconds since when the user objects, 0 if that is not known here; None for who does not."""
        try:
            since = float(regular_text(self._folder / "objection"))
            return since if math.isfinite(since) else 0.0
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            return 0.0

    def keep_objection(self, since: float | None) -> None:
        """Replace what `objection` says; raises OutputError."""
        path = self._folder / "objection"
        if since is None:
            path.unlink(missing_ok=True)
            return
        write_public(path, str(since))

    def epoch_key(self, epoch: int) -> SigningKey:
        """The key of an epoch, made and stored at the first call; keys of long past epochs are deleted."""
        path = self._folder / f"epoch-{epoch}.key"
        if create_key(path, SIGNING):
            self._forget_before(epoch - _KEPT_EPOCHS + 1)
            # What was chosen under a key that is lost is over with it: another one begins at version 1.
            (self._folder / f"epoch-{epoch}.json").unlink(missing_ok=True)
        return load_signing_key(path)

    def _forget_before(self, epoch: int) -> None:
        for path in self._folder.glob("epoch-*"):
            number = path.name.removeprefix("epoch-").partition(".")[0]
            if number.isdigit() and int(number) < epoch:
                path.unlink(missing_ok=True)

    def consent(self, epoch: int) -> ConsentState:
        """The consent of an epoch; raises InputError if the file is damaged."""
        path = self._folder / f"epoch-{epoch}.json"
        if not path.exists():
            return ConsentState()
        try:
            data = load_json(regular_text(path))
            pending = tuple(base64.b64decode(part) for part in data["pending"]) if data["pending"] else None
            if pending is not None and len(pending) != 2:
                raise ValueError
            return ConsentState(int(data["version"]), str(data["bundle"]), pending)
        except (OSError, *MALFORMED):
            raise InputError(f"{path.name}: the consent's state is damaged").at(str(path)) from None

    def save_consent(self, epoch: int, state: ConsentState) -> None:
        """Replace the consent of an epoch; raises OutputError."""
        pending = [base64.b64encode(part).decode("ascii") for part in state.pending] if state.pending else None
        text = json.dumps({"version": state.version, "bundle": state.bundle, "pending": pending})
        write_public(self._folder / f"epoch-{epoch}.json", text)


class HouseholdState:
    """All users of one household.

    Args:
        folder: the device's data folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._users = folder / "users"

    def users(self) -> dict[str, UserState]:
        """Enrolled users by USER_ID; raises KeyInvalidError, InputError for damaged files."""
        folders = sorted(self._users.glob("*")) if self._users.exists() else []
        for folder in folders:
            _take_over(folder)
        found = [UserState(folder) for folder in folders if (folder / "enrolment").exists()]
        return {user.user_id: user for user in found}

    def names(self) -> list[str]:
        """USER_IDs of the enrolled users, without opening a key; raises as `users`."""
        return [_enrolment(path).user_id for path in sorted(self._users.glob("*/enrolment"))]

    def _user_folder(self, user_id: str) -> Path:
        return self._users / hashlib.sha256(user_id.encode("utf-8")).hexdigest()[:32]

    def new_user(self, user_id: str) -> SigningKey:
        """The user's key, made at the first call; raises OutputError."""
        folder = self._user_folder(user_id)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            raise OutputError("the household's data folder cannot be written") from None
        create_key(folder / "user.key", SIGNING)
        return load_signing_key(folder / "user.key")

    def next_key(self, user_id: str) -> SigningKey:
        """A key to take the place of the user's, made at the first call; raises InputError, OutputError."""
        folder = self._user_folder(user_id)
        if not (folder / "enrolment").exists():
            raise InputError("nobody of that name is enrolled in this household")
        create_key(folder / _NEXT_KEY, SIGNING)
        return load_signing_key(folder / _NEXT_KEY)

    def add_enrolment(self, enrolment: Enrolment, authority: bytes) -> None:
        """Keep the EA's word for a user whose key was made here; one that was made to take a place takes it.

        Raises:
            InputError: it is for another key. SignatureInvalidError, KeyInvalidError: it is not the EA's.
        """
        enrolment.verify(authority)
        folder = self._user_folder(enrolment.user_id)
        if (folder / _NEXT_KEY).exists() and load_signing_key(folder / _NEXT_KEY).public == enrolment.user_key:
            replace_private(folder / _NEXT, enrolment.encode())
            _take_over(folder)
            return
        if not (folder / "user.key").exists() or load_signing_key(folder / "user.key").public != enrolment.user_key:
            raise InputError("enrolment is for a user or key that is not of this household")
        path = folder / "enrolment"
        if not write_private(path, enrolment.encode()) and _enrolment(path) != enrolment:
            raise InputError("user is enrolled already")
