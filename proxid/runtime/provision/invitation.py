"""The three files by which somebody joins (docs/adr/0031): all of it is public, and keys are made by who joins.

    invitation   from the host: the CA's certificate, addresses, policy, public files known so far
    request      from who joins: certificate request, public file, names and keys of people to enrol
    admission    from the host, signed with the CA's key: certificate, public files, enrolments

Whoever changed one of the first two on its way is found by words that both sides read to each other; the third is
signed by the key whose certificate the first one held.
"""

import base64
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import Field

from proxid.encoding import encode, label
from proxid.errors import InputError
from proxid.runtime.config.fields import CENTURY, Address, Name
from proxid.runtime.config.loading import Section, load_section, read_toml
from proxid.runtime.provision import toml
from proxid.runtime.provision.certificate import sign_with_ca, verify_by_ca
from proxid.runtime.provision.public import PublicFile, write_public
from proxid.runtime.provision.words import words

_ADMISSION: Final = label("admission")
Pem = Annotated[str, Field(max_length=65_536, pattern=r"^[\x00-\x7f]*$")]


class Person(Section):
    """Somebody whom a household's request asks to enrol: USER_ID, public key in base64."""

    user_id: str = Field(min_length=1, max_length=512)
    key: str = Field(pattern="^[A-Za-z0-9+/]{43}=$")


class Letter(Section):
    """What the three files have in common: for whom they are, or of whom."""

    role: str = Field(min_length=1)
    name: Name

    @property
    def stem(self) -> str:
        """What its file is called, without ending."""
        return stem(self.role, self.name)

    @property
    def canonical(self) -> bytes:
        """What words and signatures are made of: all of it but a signature, whatever the file looks like."""
        return json.dumps(self.table(), sort_keys=True, separators=(",", ":")).encode("ascii")

    def table(self) -> dict[str, Any]:
        """As it is written."""
        said = self.model_dump(exclude={"known", "public", "signature"})
        more: dict[str, Any] = {}
        if (known := getattr(self, "known", None)) is not None:
            more["known"] = [public.table() for public in known]
        if (public := getattr(self, "public", None)) is not None:
            more["public"] = public.table()
        return {**said, **more}

    def write(self, path: Path) -> None:
        """Write it, replacing an older one; raises OutputError."""
        write_public(path, toml.dumps({**self.table(), "signature": getattr(self, "signature", None) or None}))


class House(Section):
    """What the host tells everybody: id of the Main Service, addresses, length of an epoch."""

    service: Name
    gateway: Address
    main_service: Address
    auditor: str = ""
    epoch_seconds: int = Field(ge=60, le=CENTURY)


class Invitation(Letter):
    """See the module; `policy` is the text of policy.toml, `ca` PEM."""

    kind: Literal["invitation"] = "invitation"
    house: House
    ca: Pem
    policy: str = ""
    known: tuple[PublicFile, ...] = ()


class JoinRequest(Letter):
    """See the module; `csr` is PEM, empty for a role without a network; `invitation` its SHA-256, hexadecimal.

    `fresh` is 32 bytes, hexadecimal, drawn once the invitation was there: else whoever changes that could try changes
    until the words of both pairs of files are the same, and 80 bits would be 40.
    """

    kind: Literal["request"] = "request"
    invitation: str = Field(pattern="^[0-9a-f]{64}$")
    fresh: str = Field(pattern="^[0-9a-f]{64}$")
    csr: Pem = ""
    public: PublicFile
    people: tuple[Person, ...] = ()


class Admission(Letter):
    """See the module; `request` is the SHA-256 of the request, `enrolments` and `signature` are in base64.

    `number` grows with each for the same recipient.
    """

    kind: Literal["admission"] = "admission"
    number: int = Field(ge=1)
    request: str = Field(pattern="^[0-9a-f]{64}$")
    certificate: Pem = ""
    known: tuple[PublicFile, ...] = ()
    enrolments: tuple[str, ...] = ()
    signature: str = ""

    def sign(self, ca_key: bytes) -> "Admission":
        """Signed with the CA's key (PEM)."""
        signature = sign_with_ca(ca_key, encode(_ADMISSION, self.canonical))
        return self.model_copy(update={"signature": base64.b64encode(signature).decode("ascii")})

    def verify(self, ca: bytes) -> None:
        """Raises CredentialError unless the CA of a certificate (PEM) signed it."""
        try:
            signature = base64.b64decode(self.signature, validate=True)
        except ValueError:
            signature = b""
        verify_by_ca(ca, encode(_ADMISSION, self.canonical), signature)


L = TypeVar("L", bound=Letter)
_KINDS: Final[dict[str, type[Letter]]] = {"invitation": Invitation, "request": JoinRequest, "admission": Admission}


def read_letter(path: Path) -> Letter:
    """An invitation, a request or an admission; raises ConfigError, InputError."""
    kind = _KINDS.get(str(read_toml(path).get("kind")))
    if kind is None:
        raise InputError(f"{path.name}: is no invitation, request or admission")
    return load_section(kind, path)


def stem(role: str, name: str) -> str:
    """What files of somebody are called: ROLE-NAME, or the role alone if that is the name."""
    return role if role == name else f"{role}-{name}"


def decoded(texts: Iterable[str], path: Path) -> list[bytes]:
    """What a file holds in base64; raises InputError, which names it."""
    try:
        return [base64.b64decode(text, validate=True) for text in texts]
    except ValueError:
        raise InputError(f"{path.name}: is damaged").at(str(path)) from None


def digest(letter: Letter) -> str:
    """SHA-256 of a file, hexadecimal, whatever its blanks."""
    return hashlib.sha256(letter.canonical).hexdigest()


def words_of(request: JoinRequest) -> str:
    """What the host and who joins read to each other: it stands for the invitation and the request."""
    return words(b"join", bytes.fromhex(request.invitation), bytes.fromhex(digest(request)))


def words_of_keys(public: PublicFile) -> str:
    """What somebody reads out who is asked for their keys, and nobody else can make others of."""
    return words(b"keys", public.role.encode(), public.name.encode(), public.sign or b"", public.seal or b"")
