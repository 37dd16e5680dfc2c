"""The budget ledger of released logs (DESIGN 13): what was published of each input, and refusal past its budget.

A ledger is one JSON file, written whole (temporary file, fsync, rename) under a lock file, so that a crash leaves the
old or the new ledger and two releases never both take the last of a budget. A release is charged before its noise is
drawn: one that fails afterwards has been paid for.

Entries are kept as they were guaranteed, with neighbour relation and kind of delta, and converted to the budget's
relation before they are added (`Guarantee.under`). Releases about the same users add up (sequential composition);
releases about disjoint classes of users (`--part i/n`, by a hash of the user id) cost each user only the classes the
user is in: the total is the maximum over classes (parallel composition). It holds for both relations, since a user who
is replaced keeps the id and so the class.
"""

import fcntl
import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from proxid.anonymise.release.guarantee import DeltaKind, Guarantee, Relation, nothing_spent
from proxid.errors import BudgetError, ConfigError, InputError
from proxid.logs.whole import whole_file

VERSION: Final = 1
MOST_PARTS: Final = 12
SLACK: Final = 1e-12
"""Relative slack of comparisons, for sums of decimal fractions."""

UNDECLARED: Final = "none was declared, so it is the first release's cost (--budget-epsilon, --budget-delta)"

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Part:
    """A class of users: those whose hash modulo `parts` is `part`; 0 of 1 is everybody."""

    part: int = 0
    parts: int = 1

    @classmethod
    def parse(cls, text: str) -> "Part":
        """`i/n` with 0 <= i < n <= 12; empty is everybody. Raises ConfigError."""
        if not text:
            return cls()
        left, _, right = text.partition("/")
        if not (left.isdecimal() and right.isdecimal()) or not int(left) < int(right) <= MOST_PARTS:
            raise ConfigError(f"part is i/n with 0 <= i < n <= {MOST_PARTS}")
        return cls(int(left), int(right))


@dataclass(frozen=True, slots=True)
class Entry:
    """One release that was charged: when, by which mechanism, about which users, at which cost."""

    time: str
    mechanism: str
    part: Part
    cost: Guarantee


@dataclass(frozen=True, slots=True)
class Account:
    """One input's budget and entries. declared: false while the budget is just the first release's own cost."""

    budget: Guarantee
    declared: bool
    entries: tuple[Entry, ...] = ()

    def spent(self) -> Guarantee:
        """The cost of all entries to the user who paid most, in the budget's relation."""
        relation = self.budget.relation
        modulus = math.lcm(*(entry.part.parts for entry in self.entries))
        worst = nothing_spent(relation)
        for residue in range(modulus):
            total = nothing_spent(relation)
            for entry in self.entries:
                if residue % entry.part.parts == entry.part.part:
                    total = total.and_then(entry.cost)
            worst = Guarantee(max(worst.epsilon, total.epsilon), max(worst.delta, total.delta), relation)
        return worst


class Ledger:
    """The ledger file at `path`; it and its lock are created when first needed, readable by the owner alone."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def account(self, digest: str) -> Account | None:
        """What is on record for an input. Raises InputError when the ledger is damaged."""
        with self._locked():
            return self._read().get(digest)

    def charge(self, digest: str, entry: Entry, budget: Guarantee | None = None) -> Account:
        """Take an entry's cost from an input's budget, or refuse; returns the account afterwards.

        budget: declares the input's budget, once. Without any declaration the budget is the first release's cost.
        Raises BudgetError when the budget does not suffice, or was declared differently before.
        """
        with self._locked():
            accounts = self._read()
            account = _declared(accounts.get(digest), entry, budget)
            charged = Account(account.budget, account.declared, (*account.entries, entry))
            _require_within(charged)
            accounts[digest] = charged
            self._write(accounts)
            return charged

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(
                self.path.with_name(self.path.name + ".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600
            )
        except OSError as error:
            raise InputError(f"the ledger cannot be opened: {error.strerror}") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _read(self) -> dict[str, Account]:
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError):
            raise InputError("the ledger cannot be read: nothing is released without it") from None
        try:
            data = json.loads(text)
            if data["version"] != VERSION:
                raise InputError("the ledger has a version that this release does not know")
            return {digest: _account(item) for digest, item in data["inputs"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError("the ledger is damaged: nothing is released without it") from None

    def _write(self, accounts: dict[str, Account]) -> None:
        data = {"version": VERSION, "inputs": {digest: _as_dict(item) for digest, item in accounts.items()}}
        with whole_file(self.path, 0o600) as file:
            file.write(json.dumps(data, indent=1).encode())
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def entry_now(mechanism: str, cost: Guarantee, part: Part, clock: Clock = lambda: datetime.now(UTC)) -> Entry:
    """An entry for a release that is about to be made."""
    return Entry(clock().isoformat(timespec="seconds"), mechanism, part, cost)


def default_ledger() -> Path:
    """Where the ledger is unless an option says otherwise: the user's state folder."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "proxid" / "release-ledger.json"


def _declared(account: Account | None, entry: Entry, budget: Guarantee | None) -> Account:
    if account is None:
        return Account(budget or entry.cost.approximate(), declared=budget is not None)
    if budget is None or budget == account.budget:
        return account
    if account.declared:
        raise BudgetError("this input's budget is declared already; a budget is declared once")
    return Account(budget, True, account.entries)


def _require_within(account: Account) -> None:
    spent, budget = account.spent(), account.budget
    for name, used, allowed in (("epsilon", spent.epsilon, budget.epsilon), ("delta", spent.delta, budget.delta)):
        if used > allowed * (1 + SLACK):
            hint = (
                ""
                if account.declared
                else "; none was declared, so it is the first release's cost (--budget-epsilon, --budget-delta)"
            )
            raise BudgetError(
                f"the release would exceed the input's budget: {name} {used:.6g} of {allowed:.6g} "
                f"({budget.relation.value} neighbours){hint}"
            )


def _as_dict(account: Account) -> dict[str, Any]:
    entries = [
        {"time": e.time, "mechanism": e.mechanism, "part": [e.part.part, e.part.parts], **_cost(e.cost)}
        for e in account.entries
    ]
    return {"budget": _cost(account.budget), "declared": account.declared, "entries": entries}


def _account(item: dict[str, Any]) -> Account:
    entries = tuple(
        Entry(str(e["time"]), str(e["mechanism"]), Part(int(e["part"][0]), int(e["part"][1])), _guarantee(e))
        for e in item["entries"]
    )
    return Account(_guarantee(item["budget"]), bool(item["declared"]), entries)


def _cost(cost: Guarantee) -> dict[str, Any]:
    return {k: v for k, v in cost.as_dict().items() if k not in ("kind", "unit")}


def _guarantee(item: dict[str, Any]) -> Guarantee:
    return Guarantee(
        float(item["epsilon"]), float(item["delta"]), Relation(item["relation"]), DeltaKind(item["delta_kind"])
    )
