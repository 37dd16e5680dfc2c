"""Whether bytes that must not leave stand anywhere in what left: as they are, in hexadecimal, in base64."""

import base64
from collections.abc import Iterable
from typing import Final

WINDOW: Final = 8
"""Bytes of a form that are looked for; shorter secrets would be found in anything."""
_FEW: Final = 200
"""Forms that are looked for one by one; more in one pass over what was told."""


def forms(secret: bytes) -> set[bytes]:
    """How a secret may be written, each form cut to its first bytes; in base64 it stands at one of three places."""
    assert len(secret) >= WINDOW
    found = {secret[:WINDOW], secret.hex().encode()[: 2 * WINDOW], secret.hex().upper().encode()[: 2 * WINDOW]}
    for before in range(3):
        shown = base64.b64encode(bytes(before) + secret)[-(-8 * before // 6) :]
        found |= {shown[:WINDOW], shown.replace(b"+", b"-").replace(b"/", b"_")[:WINDOW]}
    return found


def found(secrets: Iterable[bytes], told: bytes) -> list[bytes]:
    """The secrets that stand in what was told, in whatever form."""
    wanted = {form: secret for secret in secrets for form in forms(secret)}
    if len(wanted) <= _FEW:
        return [secret for form, secret in wanted.items() if form in told]
    sizes = {len(form) for form in wanted}
    return [
        wanted[part]
        for size in sorted(sizes)
        for at in range(len(told) - size + 1)
        if (part := told[at : at + size]) in wanted
    ]
