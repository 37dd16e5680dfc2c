"""When two USER_IDs look like one (DESIGN 4.3): forms that are equal for names that people would take for each other.

Names are compared case-mapped as usernames are (RFC 8265, UsernameCaseMapped), and by their skeleton (Unicode TR 39,
section 4), each of the name as it is and as it is mapped. The list of confusable characters is Unicode's, of which a
USER_ID can only hold those of Unicode 3.2 (`proxid.crypto.user_id`).
"""

import unicodedata
from functools import cache
from importlib.resources import files

from precis_i18n import get_profile

from proxid.crypto.user_id import verify_user_id
from proxid.errors import CredentialError


def looks(user_id: str) -> frozenset[str]:
    """The forms of a new name: it looks like another if they have one in common.

    Raises:
        CredentialError: it is no USER_ID, or none that RFC 8265 allows. EncodingError: it is not NFC.
    """
    verify_user_id(user_id)
    mapped = casemapped(user_id)
    return frozenset((skeleton(user_id), skeleton(mapped)))


def looks_of_any(user_id: str) -> frozenset[str]:
    """The forms of a name that was taken before, which RFC 8265 need not allow."""
    try:
        return looks(user_id)
    except CredentialError:
        return frozenset((skeleton(user_id), skeleton(user_id.casefold())))


def casemapped(user_id: str) -> str:
    """A name of words as RFC 8265 3.3 compares usernames; raises CredentialError for what it does not allow."""
    profile = get_profile("UsernameCaseMapped")
    try:
        return " ".join(str(profile.enforce(word)) for word in user_id.split(" "))
    except UnicodeEncodeError:
        raise CredentialError("a USER_ID holds characters that RFC 8265 does not allow in a username") from None


def skeleton(text: str) -> str:
    """The skeleton of a text: equal for texts that look alike (Unicode TR 39, section 4)."""
    prototypes = _prototypes()
    return _nfd("".join(prototypes.get(character, character) for character in _nfd(text)))


def _nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


@cache
def _prototypes() -> dict[str, str]:
    lines = files("proxid.crypto").joinpath("data", "confusables.tsv").read_text("utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if not line.startswith("#"))
    return {_text(source): _text(target) for source, target in pairs}


def _text(points: str) -> str:
    return "".join(chr(int(point, 16)) for point in points.split())
