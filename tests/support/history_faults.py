"""Faults of the past, planted again in services that start: a line of a store's steps is another, a check is left out.

Each is found by histories, by what parties got or by the audit.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from gateway.store.steps import SOURCES as steps_of_gateway
from main_service.jobs.timekeeping import Timekeeper
from main_service.store.library import SOURCES as steps_of_main
from proxid.runtime.store import functions

Plant = Callable[[pytest.MonkeyPatch], None]
_OWN_GRANTS = "  redis.call('DEL', entry)\n  redis.call('HSET', entry, 'v', version, 'w', f.payload, unpack(told))\n"
_WAITING = "  pool_withdraw(p, prox, keep)\n  slots_withdraw(p.prefix, p.epoch, f.salt, prox, keep)\n"
_REMOVED = "for _, group in ipairs(groups_of(prefix, user, 'e', 'n', 't')) do"
_TOMBSTONE = "  if redis.call('EXISTS', key(prefix, 'x', user)) == 1 then return 'erased' end\n"
_SETTLED = "  settle(prefix, user, '', a[2], a[3], groups_named(prefix, some[2], unpack(SETTLED)))\n"
_PENDING = "  suppress_pending(p.prefix, prox, salts_of(f.salt .. 'w'), 'restricted')\n"
_KEPT_BACK = "  local gone = pool_withdraw(p, prox, {})\n"


def spoiled(*changes: tuple[str, str]) -> Plant:
    """Lines of the steps of either store, and what stands in their place."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        real = functions.library_source
        steps = real("gateway", steps_of_gateway) + real("main-service", steps_of_main)
        assert all(steps.count(old) == 1 for old, _ in changes), "a line that is to be another is not there any more"

        def source(name: str, sources: Any) -> str:
            text = real(name, sources)
            for old, new in changes:
                text = text.replace(old, new)
            return text

        patch.setattr(functions, "library_source", source)

    return plant


def believes_its_clock(patch: pytest.MonkeyPatch) -> None:
    """The main service ends an epoch when its own clock says so."""
    close = Timekeeper.close_epochs

    class Sure:
        def doubt(self) -> None:
            return None

        def alone(self) -> bool:
            return True

    async def closes(job: Timekeeper) -> None:
        held, job._service = job._service, replace(job._service, watch=Sure())  # type: ignore[arg-type]
        try:
            await close(job)
        finally:
            job._service = held

    patch.setattr(Timekeeper, "close_epochs", closes)


CHOICES = ("everybody_chooses", "chooses")
ASKS = ("everybody_asks", "settles", "reads")


@dataclass(frozen=True, slots=True)
class Fault:
    """How a fault is planted, the rules of histories that find it, and words of which one tells that it was found."""

    plant: Plant
    rules: tuple[str, ...]
    found: tuple[str, ...]


FAULTS = {
    "a withdrawal is acknowledged before it is in effect": Fault(
        spoiled((_OWN_GRANTS, _OWN_GRANTS.partition("\n")[2]), (_WAITING, "")),
        (*CHOICES, *ASKS), ("does not let out", "lets nothing out", "rule=6"),
    ),
    "an erasure forgets the feeds": Fault(
        spoiled((_REMOVED, "for _, group in ipairs({}) do"), (_SETTLED, ""), (_TOMBSTONE, "")),
        ("is_erased", *ASKS), ("does not let out", "rule="),
    ),
    "what was asked before an objection comes back": Fault(
        spoiled((_PENDING + _KEPT_BACK, "  local gone = 0\n")), ("objects", "resume", *ASKS),
        ("does not let out", "rule="),
    ),
}  # fmt: skip
