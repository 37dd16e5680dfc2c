"""What each role owns, and whom it must know (DESIGN 2): nobody is told more keys than its work needs."""

from dataclasses import dataclass
from typing import Final

from proxid.runtime.provision.keyfile import OPENING, SECRET, SIGNING


@dataclass(frozen=True, slots=True)
class Role:
    """One role.

    Attributes:
        folder: where `proxid init` puts it; `{name}` for roles that occur more than once.
        keys: file and kind of its secret keys. networked: whether it has a TLS certificate.
        knows: roles whose public files it takes. admits: those of them whose certificates may call it.
    """

    folder: str
    keys: tuple[tuple[str, str], ...] = ()
    networked: bool = True
    knows: frozenset[str] = frozenset()
    admits: frozenset[str] = frozenset()


_SIGNING = ("signing.key", SIGNING)
_OPENING = ("opening.key", OPENING)

ROLES: Final[dict[str, Role]] = {
    "ca": Role("ca", networked=False),
    "ea": Role("ea", (_SIGNING,), networked=False),
    "gateway": Role(
        "gateway",
        (_SIGNING, ("alias.key", SECRET)),
        knows=frozenset({"ea", "main-service", "auditor", "witness", "party", "device"}),
        admits=frozenset({"auditor", "witness", "party", "device"}),
    ),
    # No device and no EA: what MS does not know, it cannot link.
    "main-service": Role(
        "main-service",
        (_SIGNING,),
        knows=frozenset({"gateway", "auditor", "witness", "party"}),
        admits=frozenset({"gateway", "auditor", "witness"}),
    ),
    # It also knows other auditors, with which it compares heads, and itself: its operator fetches its reports.
    "auditor": Role(
        "auditor",
        (_SIGNING, _OPENING),
        knows=frozenset({"ea", "gateway", "main-service", "witness", "party", "device", "auditor"}),
        admits=frozenset({"gateway", "main-service", "witness", "party", "device", "auditor"}),
    ),
    "witness": Role("witness", (_SIGNING,), knows=frozenset({"gateway", "main-service", "auditor"})),
    "party": Role("parties/{name}", (_SIGNING, _OPENING), knows=frozenset({"gateway", "main-service", "auditor"})),
    "device": Role("devices/{name}", knows=frozenset({"ea", "gateway", "main-service", "auditor"})),
}

SERVERS: Final = frozenset({"gateway", "main-service", "auditor"})
