"""The enrolment authority's register of names (DESIGN 4.3): a new name must not look like one that was enrolled.

`register.jsonl` beside the authority's key, a line an enrolment, and one a revocation (with `revoked`, Unix seconds).
Names from before there was a register are not in it.
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from proxid.crypto.identity import Enrolment
from proxid.crypto.lookalike import looks, looks_of_any
from proxid.encoding import encode_text
from proxid.errors import MALFORMED, CredentialError, EncodingError, InputError, NameAlikeError, OutputError
from proxid.jsontext import load_json
from proxid.regular import regular_bytes

FILE: Final = "register.jsonl"


@dataclass(slots=True)
class Register:
    """What was enrolled: name and newest key of each, those before it, revoked ones, and whose name has which form."""

    path: Path
    keys: dict[str, str] = field(default_factory=dict)
    before: dict[str, list[str]] = field(default_factory=dict)
    revoked: set[tuple[str, str]] = field(default_factory=set)
    owners: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The register of an authority's folder; raises InputError if it is damaged."""
        register = cls(folder / FILE)
        try:
            lines = regular_bytes(register.path).splitlines()
        except FileNotFoundError:
            return register
        except OSError:
            raise InputError(f"{FILE}: the register cannot be read").at(str(register.path)) from None
        for number, line in enumerate(lines, 1):
            register._read(number, line)
        return register

    def _read(self, number: int, line: bytes) -> None:
        try:
            entry: dict[str, Any] = load_json(line)
            user_id, key = entry["user_id"], bytes.fromhex(entry["key"]).hex()
            encode_text(user_id)
        except (EncodingError, *MALFORMED):
            raise InputError(f"{FILE}: line {number} is damaged").at(str(self.path)) from None
        if "revoked" in entry:
            self.revoked.add((user_id, key))
        else:
            self._enter(user_id, key)

    def _enter(self, user_id: str, key: str) -> None:
        if (held := self.keys.get(user_id)) not in (None, key):
            self.before.setdefault(user_id, []).append(str(held))
        self.keys[user_id] = key
        for form in looks_of_any(user_id):
            self.owners.setdefault(form, user_id)

    def verify(self, requests: Sequence[tuple[str, bytes]]) -> None:
        """Accept names to be enrolled with their keys; the same name with the same key is no new one.

        Raises:
            NameAlikeError: one is, or looks like, somebody else's. CredentialError: one is no username (RFC 8265).
        """
        owners = dict(self.owners)
        for user_id, key in requests:
            if self.keys.get(user_id) == key.hex():
                continue
            forms = looks(user_id)
            if user_id in self.keys or any(owners.get(form, user_id) != user_id for form in forms):
                raise NameAlikeError("a new USER_ID is, or looks like, one that was enrolled before")
            owners.update(dict.fromkeys(forms, user_id))

    def replaced(self, user_id: str, key: bytes) -> tuple[bytes, ...]:
        """The keys of a name whose place a key takes, oldest first; raises CredentialError if its own time is over."""
        held = [*self.before.get(user_id, ()), *((self.keys[user_id],) if user_id in self.keys else ())]
        earlier = dict.fromkeys(one for one in held if one != key.hex())
        if (user_id, key.hex()) in self.revoked or key.hex() in self.before.get(user_id, ()):
            raise CredentialError("this key was revoked or replaced: make a new one")
        return tuple(bytes.fromhex(one) for one in earlier)

    def revoke(self, user_id: str, time: int) -> bytes:
        """The newest key of a name, revoked from now on, durably; raises InputError, OutputError."""
        if user_id not in self.keys:
            raise InputError(f"{FILE}: nobody of this name was enrolled")
        key = self.keys[user_id]
        self._append([{"user_id": user_id, "key": key, "revoked": time}])
        self.revoked.add((user_id, key))
        return bytes.fromhex(key)

    def add(self, enrolments: Iterable[Enrolment]) -> None:
        """Keep who was enrolled, durably; raises OutputError."""
        fresh = [e for e in enrolments if self.keys.get(e.user_id) != e.user_key.hex()]
        self._append([{"user_id": e.user_id, "key": e.user_key.hex(), "since": e.since} for e in fresh])
        for enrolment in fresh:
            self._enter(enrolment.user_id, enrolment.user_key.hex())

    def _append(self, lines: Sequence[dict[str, Any]]) -> None:
        try:
            with open(os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600), "wb") as file:
                file.writelines(json.dumps(line).encode("ascii") + b"\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            raise OutputError(f"{FILE}: the register cannot be written") from None
