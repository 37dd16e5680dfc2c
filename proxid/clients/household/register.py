"""The enrolment authority's register of names (DESIGN 4.3): a new name must not look like one that was enrolled.

`register.jsonl` beside the authority's key, a line an enrolment. Names from before there was a register are not in it.
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
from proxid.errors import InputError, NameAlikeError, OutputError
from proxid.jsontext import load_json

FILE: Final = "register.jsonl"


@dataclass(slots=True)
class Register:
    """What was enrolled: name and key of each, and whose name has which form."""

    path: Path
    keys: dict[str, str] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The register of an authority's folder; raises InputError if it is damaged."""
        register = cls(folder / FILE)
        if register.path.exists():
            for number, line in enumerate(register.path.read_bytes().splitlines(), 1):
                register._read(number, line)
        return register

    def _read(self, number: int, line: bytes) -> None:
        try:
            entry: dict[str, Any] = load_json(line)
            user_id, key = str(entry["user_id"]), str(entry["key"])
            encode_text(user_id)
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{FILE}: line {number} is damaged") from None
        self._enter(user_id, key)

    def _enter(self, user_id: str, key: str) -> None:
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

    def add(self, enrolments: Iterable[Enrolment]) -> None:
        """Keep who was enrolled, durably; raises OutputError."""
        fresh = [e for e in enrolments if self.keys.get(e.user_id) != e.user_key.hex()]
        lines = [{"user_id": e.user_id, "key": e.user_key.hex(), "since": e.since} for e in fresh]
        try:
            with open(os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "wb") as file:
                file.writelines(json.dumps(line).encode("ascii") + b"\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            raise OutputError(f"{FILE}: the register cannot be written") from None
        for enrolment in fresh:
            self._enter(enrolment.user_id, enrolment.user_key.hex())
