"""The policy as a document that is named by its digest (DESIGN 7, 10.4): what services do and an audit recomputes from.

    text    canonical JSON: sorted keys, no spaces, ASCII     parties, bundles, settings
    digest  SHA-256(E("proxid/v1/policy", text))

A text that is not the canonical one of what it says is refused, so one digest names one policy and one policy has one
digest. An epoch is opened under one document, whose digest stands in the epoch key that MS signs.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from proxid.encoding import encode, label
from proxid.errors import MALFORMED, EncodingError
from proxid.jsontext import load_json
from proxid.protocol.consent import FIDELITIES, NOTHING, TYPES, Bundles, Grant

DIGEST_SIZE: Final = 32
MAX_TEXT: Final = 4 << 20
"""Bytes of the longest text: ten thousand parties take a quarter of it."""

_POLICY: Final = label("policy")
_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_MALFORMED: Final = "policy document is malformed"


@dataclass(frozen=True)
class PolicyDocument:
    """Third parties, the bundles that are offered, and the settings of both services.

    Attributes:
        parties: names, sorted. bundles: grants by bundle id, sorted; `NOTHING` is always among them.
        settings: a tree of numbers, texts, truths, lists and tables by name; what they mean says
        `proxid.runtime.config`.
    """

    parties: tuple[str, ...]
    bundles: Bundles
    settings: Mapping[str, Any]

    @cached_property
    def text(self) -> str:
        """The canonical text; raises EncodingError for settings that JSON cannot say."""
        bundles = {name: {g.party: _granted(g) for g in grants} for name, grants in self.bundles.items()}
        try:
            return _CANONICAL.encode(
                {"bundles": bundles, "parties": list(self.parties), "settings": dict(self.settings)}
            )
        except MALFORMED:
            raise EncodingError(_MALFORMED) from None

    @cached_property
    def digest(self) -> bytes:
        """The name of the document, 32 bytes."""
        return hashlib.sha256(encode(_POLICY, self.text)).digest()

    @classmethod
    def decode(cls, text: str) -> "PolicyDocument":
        """The document of a text; raises EncodingError unless it is the canonical text of one."""
        if len(text) > MAX_TEXT:
            raise EncodingError("policy document is too long")
        try:
            found = load_json(text)
            bundles = {name: _grants(table) for name, table in found["bundles"].items()}
            parties, settings = tuple(found["parties"]), found["settings"]
            document = cls(parties, bundles, settings)
            names = {grant.party for grants in bundles.values() for grant in grants}
            good = bundles[NOTHING] == () and list(parties) == sorted(set(parties)) and names <= set(parties)
            if not good or not isinstance(settings, dict) or document.text != text:
                raise EncodingError(_MALFORMED)
        except MALFORMED:
            raise EncodingError(_MALFORMED) from None
        return document

    @classmethod
    def named(cls, text: str, digest: bytes) -> "PolicyDocument":
        """The document of a text that must have this digest; raises EncodingError."""
        document = cls.decode(text)
        if document.digest != digest:
            raise EncodingError("policy document is not the one that the digest names")
        return document


def differences(old: PolicyDocument, new: PolicyDocument) -> list[tuple[str, Any, Any]]:
    """What two documents say differently: dotted name, what the old one says and what the new one; None for nothing."""
    before, after = _flat(load_json(old.text)), _flat(load_json(new.text))
    names = sorted(before.keys() | after.keys())
    return [(n, before.get(n), after.get(n)) for n in names if before.get(n) != after.get(n)]


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    rows: dict[str, Any] = {}
    for name, value in table.items():
        rows |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) and value else {f"{prefix}{name}": value}
    return rows


def _granted(grant: Grant) -> dict[str, Any]:
    return {"as": grant.fidelity, "types": sorted(grant.types)}


def _grants(table: Mapping[str, Mapping[str, Any]]) -> tuple[Grant, ...]:
    grants = []
    for party, said in sorted(table.items()):
        types, fidelity = tuple(said["types"]), said["as"]
        if (
            not party
            or fidelity not in FIDELITIES
            or not types
            or list(types) != [t for t in sorted(TYPES) if t in types]
        ):
            raise EncodingError(_MALFORMED)
        grants.append(Grant(party, types, fidelity))
    return tuple(grants)
