"""The budget ledger of released logs (DESIGN 13): what was published of each log, and refusal past its budget.

A ledger is one JSON file, written whole (temporary file, fsync, rename) under a lock file, so that a crash leaves the
old or the new ledger and two releases never both take the last of a budget. A release is charged before its noise is
drawn: one that fails afterwards has been paid for.

An account's key is `dataset:NAME`, or `records:DIGEST` of the records; the ledger remembers under which key a file's
bytes are charged, so that a file is read for its records once. Version 1 knew logs by their file's bytes alone: such
an account is taken over by the key of the file when it is seen again.
"""

import fcntl
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from proxid.errors import MALFORMED, BudgetError, InputError
from proxid.jsontext import load_json
from proxid.lab.logs.whole import whole_file
from proxid.lab.release.account import MOST_PARTS, Account, Entry, Part
from proxid.lab.release.guarantee import DeltaKind, Guarantee, Relation
from proxid.regular import regular_text

VERSION: Final = 2
_READ: Final = (1, 2)


@dataclass(slots=True)
class Book:
    """What a ledger's file says: accounts by key, and the key under which a file's SHA-256, or records, are charged."""

    accounts: dict[str, Account] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def key_of(self, name: str) -> str | None:
        """The key of a file or of records, also if the records were given a name later."""
        key = self.files.get(name)
        return key if key is None else self.files.get(key, key)

    def take_over(self, name: str, key: str) -> None:
        """Charge a file or records under a key from now on, and what they were charged before with it."""
        self.files[name] = key
        before, account = self.accounts.pop(name, None), self.accounts.get(key)
        if before is not None:
            entries = before.entries if account is None else before.entries + account.entries
            self.accounts[key] = replace(account or before, entries=entries)


class Ledger:
    """The ledger file at `path`; it and its lock are created when first needed, readable by the owner alone."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def accounts(self) -> dict[str, Account]:
        """Every account by key. Raises InputError when the ledger is damaged."""
        with self._locked():
            return self._read().accounts

    def account(self, key: str) -> Account | None:
        """What is on record under a key. Raises InputError when the ledger is damaged."""
        return self.accounts().get(key)

    def key_of(self, name: str) -> str | None:
        """The key under which a file's SHA-256 or `records:DIGEST` is charged, if it was seen. Raises InputError."""
        with self._locked():
            return self._read().key_of(name)

    def remember(self, sha256: str, key: str) -> str:
        """Charge a file under a key from now on; returns it, or the name that those records were given before.

        Raises BudgetError if the file is charged to another dataset.
        """
        with self._locked():
            book = self._read()
            key = book.key_of(key) or key
            before = book.key_of(sha256) or key
            if before.startswith("dataset:") and before != key:
                raise BudgetError(f"this log is charged to {before.replace(':', ' ', 1)} (ledger {self.path})")
            if book.files.get(sha256) != key or sha256 in book.accounts:
                book.take_over(sha256, key)
                if before != key:  # its records get a name
                    book.take_over(before, key)
                self._write(book)
            return key

    def check(self, key: str, entry: Entry, budget: Guarantee | None = None) -> None:
        """Raises BudgetError where `charge` would, and takes nothing."""
        with self._locked():
            self._charged(self._read(), key, entry, budget)

    def charge(self, key: str, entry: Entry, budget: Guarantee | None = None, name: str = "") -> Account:
        """Take an entry's cost from a log's budget, or refuse; returns the account afterwards.

        budget: declares the log's budget, once; a delta of 0 leaves delta undeclared. Without any declaration the
        budget is the first release's cost. name: of the file, for people.
        Raises BudgetError when the budget does not suffice, or was declared differently before.
        """
        with self._locked():
            book = self._read()
            account = self._charged(book, key, entry, budget)
            book.accounts[key] = replace(account, name=account.name or name)
            self._write(book)
            return book.accounts[key]

    def _charged(self, book: Book, key: str, entry: Entry, budget: Guarantee | None) -> Account:
        account = book.accounts.get(key, Account(budget or entry.cost.approximate(), declared=budget is not None))
        try:
            return account.declaring(budget).charged(entry)
        except BudgetError as error:
            raise BudgetError(f"{error.rule} (proxid budget; ledger {self.path})") from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(
                self.path.with_name(self.path.name + ".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600
            )
        except OSError as error:
            raise InputError(f"{self.path.name}: the ledger cannot be opened: {error.strerror}") from None
        except ValueError:
            raise InputError("--ledger names no file") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _read(self) -> Book:
        try:
            text = regular_text(self.path)
        except FileNotFoundError:
            return Book()
        except (OSError, UnicodeDecodeError):
            raise InputError(f"{self.path.name}: the ledger cannot be read: nothing is released without it") from None
        try:
            data = load_json(text)
            if data["version"] not in _READ:
                raise InputError(f"{self.path.name}: the ledger has a version that this release does not know")
            accounts = {str(key): _account(item) for key, item in data["inputs"].items()}
            return Book(accounts, {str(file): str(key) for file, key in data.get("files", {}).items()})
        except MALFORMED:
            raise InputError(f"{self.path.name}: the ledger is damaged: nothing is released without it") from None

    def _write(self, book: Book) -> None:
        inputs = {key: _as_dict(item) for key, item in book.accounts.items()}
        data = {"version": VERSION, "inputs": inputs, "files": book.files}
        with whole_file(self.path, 0o600) as file:
            file.write(json.dumps(data, indent=1).encode())
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def default_ledger() -> Path:
    """Where the ledger is unless an option says otherwise: the user's state folder."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "proxid" / "release-ledger.json"


def _as_dict(account: Account) -> dict[str, Any]:
    entries = [
        {"time": e.time, "mechanism": e.mechanism, "part": [e.part.part, e.part.parts], **_cost(e.cost)}
        for e in account.entries
    ]
    return {"name": account.name, "budget": _cost(account.budget), "declared": account.declared, "entries": entries}


def _account(item: dict[str, Any]) -> Account:
    if type(item["declared"]) is not bool:
        raise ValueError
    entries = tuple(
        Entry(str(e["time"]), str(e["mechanism"]), _part(e["part"]), _guarantee(e)) for e in item["entries"]
    )
    return Account(_guarantee(item["budget"]), item["declared"], entries, str(item.get("name", "")))


def _cost(cost: Guarantee) -> dict[str, Any]:
    return {k: v for k, v in cost.as_dict().items() if k not in ("kind", "unit")}


def _part(item: Any) -> Part:
    part, parts = item
    if type(part) is not int or type(parts) is not int or not 0 <= part < parts <= MOST_PARTS:
        raise ValueError
    return Part(part, parts)


def _guarantee(item: dict[str, Any]) -> Guarantee:
    epsilon, delta = float(item["epsilon"]), float(item["delta"])
    if not (0 <= epsilon < math.inf and 0 <= delta <= 1):  # of what is no number all sums stay within any budget
        raise ValueError
    return Guarantee(epsilon, delta, Relation(item["relation"]), DeltaKind(item["delta_kind"]))
