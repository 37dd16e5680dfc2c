"""Forms of names as IS keeps them: keyed hashes, so that its store shows no name (DESIGN 4.3)."""

import hashlib
import hmac
from typing import Final

from proxid.crypto.lookalike import looks_of_any
from proxid.encoding import encode, label

_FORM: Final = label("name-form")
_SIZE: Final = 32


def name_forms(secret: bytes, user_id: str) -> list[str]:
    """Of a name: if it is new, each must be nobody else's."""
    return [_keyed(secret, form) for form in sorted(looks_of_any(user_id))]


def _keyed(secret: bytes, form: str) -> str:
    return hmac.new(secret, encode(_FORM, form.encode("utf-8", "surrogatepass")), hashlib.sha256).hexdigest()[:_SIZE]
