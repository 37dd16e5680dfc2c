"""Cross-protocol: no signature of one purpose, direction, service, epoch, suite or version serves for another."""

import ast
import re
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.identity import Credential, Enrolment, EpochKey, Link
from proxid.crypto.sansig import Direction, Expectation, Limit, Message, Role, SignedMessage, judge, sign, verify
from proxid.encoding import decode, encode
from proxid.errors import HeaderMismatchError, KeyInvalidError, SignatureInvalidError
from tests.support import scene

ROOT = Path(__file__).parents[3]


class Recorder(SigningKey):
    """A key that remembers what it signed."""

    __slots__ = ("signed",)

    def __init__(self, seed: bytes) -> None:
        super().__init__(seed)
        self.signed: list[tuple[bytes, bytes]] = []

    def sign(self, message: bytes) -> bytes:
        signature = super().sign(message)
        self.signed.append((message, signature))
        return signature


def _everything_signed_by_one_key() -> list[tuple[bytes, bytes]]:
    """The worst case: one key, misused in every role of the library, over contents as alike as can be."""
    key = Recorder(scene.DEVICE.seed)
    other = scene.MALLORY.public
    for direction in Direction:
        message = Message(scene.header(direction=direction, signer=key.public), scene.BLOCKS)
        sign(message, key)
        key.sign(
            replace(message, header=replace(message.header, sanitizer=other)).full_input(Role.SANITIZER, bytes(64))
        )
    Enrolment.issue(scene.USER_ID, other, scene.EPOCH, key)
    Link.make(scene.USER_ID, key, key, scene.EPOCH, scene.MS, other)
    Credential(other, scene.EPOCH, scene.MS, scene.NOW, True).issue(key)
    EpochKey(scene.MS, scene.EPOCH, bytes(1216), bytes(32), bytes(32)).issue(key)
    return key.signed


def test_no_signature_of_one_purpose_holds_for_another() -> None:
    signed = _everything_signed_by_one_key()
    assert len(signed) == 5 * 3 + 1 + 2 + 1 + 1
    for (_, signature), (message, _) in permutations(signed, 2):
        with pytest.raises(SignatureInvalidError):
            ed25519.verify(scene.DEVICE.public, message, signature)


def test_everything_signed_is_an_encoding_that_begins_with_its_label() -> None:
    purposes = set()
    for message, _ in _everything_signed_by_one_key():
        found = re.fullmatch(rb"proxid/(v[12])/(.+)", decode(message)[0])
        assert found is not None
        purposes.add(found.groups())
    assert purposes == {(b"v2", b"epoch-key")} | {
        (b"v1", purpose) for purpose in (b"FIX", b"FULL", b"enrol", b"link", b"pop", b"cred")
    }


def test_every_label_is_one_constant_of_one_module() -> None:
    """Two modules that write one label would share a domain without knowing it."""
    found: dict[tuple[str, ...], list[str]] = {}
    packages = ("proxid", "gateway", "main_service", "auditor", "device_sim")
    for path in (p for package in packages for p in (ROOT / package).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "label(" in text else ():
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "label"
            if called and node.args and isinstance(node.args[0], ast.Constant):  # type: ignore[attr-defined]
                name = tuple(ast.unparse(argument) for argument in node.args)  # type: ignore[attr-defined]
                found.setdefault(name, []).append(str(path))
    purposes = {ast.literal_eval(purpose) for purpose, *_ in found}
    assert {"FIX", "FULL", "session", "prox", "link", "pop", "cred", "enrol", "epoch-key", "response"} <= purposes
    assert {purpose: places for purpose, places in found.items() if len(places) > 1} == {}


@pytest.mark.parametrize(
    "foreign",
    [b"", b"hello", b"proxid/v1/FIX", scene.BODY, bytes(64), encode(b"other/v1/FIX", b"x"), b"ms.example\n1\nroot\n"],
    ids=["empty", "text", "label alone", "body", "zeros", "other application", "signed note"],
)
def test_signatures_made_elsewhere_with_the_same_key_serve_nowhere(foreign: bytes) -> None:
    """Whatever another application signs, it must begin like an encoding of ours to be one of ours."""
    signature = scene.DEVICE.sign(foreign)
    user_signature = scene.USER.sign(foreign)
    with pytest.raises(SignatureInvalidError):
        judge(SignedMessage(scene.request().message, signature + scene.request().full))
    with pytest.raises(SignatureInvalidError):
        judge(SignedMessage(scene.request().message, scene.request().fixed + signature))
    for forged in (user_signature + scene.link().signature[64:], scene.link().signature[:64] + signature):
        with pytest.raises(SignatureInvalidError):
            replace(scene.link(), signature=forged).verify(scene.enrolment())


def test_identity_signatures_transplanted() -> None:
    """enrol, link, pop, cred and epoch-key signed by one key over the same fields: none stands for another."""
    key = scene.SCREENER
    documents: dict[str, Enrolment | Credential | EpochKey] = {
        "enrol": Enrolment.issue(scene.USER_ID, scene.USER.public, scene.EPOCH, key),
        "cred": scene.credential(evidence=False),
        "epoch-key": EpochKey(scene.MS, scene.EPOCH, bytes(1216), bytes(32), bytes(32)).issue(key),
    }
    link = Link.make(scene.USER_ID, key, scene.DEVICE, scene.EPOCH, scene.MS, scene.SERVICE.public)
    signatures = {name: document.signature for name, document in documents.items()}
    signatures |= {"link": link.signature[:64], "pop": key.sign(encode(b"proxid/v1/pop", link._body()))}
    for name, document in documents.items():
        for other, signature in signatures.items():
            if other != name:
                with pytest.raises(SignatureInvalidError):
                    _verify(replace(document, signature=signature), key.public)


def _verify(document: Enrolment | Credential | EpochKey, key: bytes) -> None:
    if isinstance(document, Enrolment):
        document.verify(key)
    elif isinstance(document, Credential):
        document.verify(key, scene.MS, scene.EPOCH, scene.NOW)
    else:
        document.verify(key, scene.MS, scene.EPOCH)


OTHERS: dict[str, list[object]] = {
    "direction": [d for d in Direction if d is not Direction.REQUEST],
    "service": ["ms2.example", "MS.example", "ms.example ", ""],
    "epoch": [scene.EPOCH - 1, scene.EPOCH + 1, 0],
    "signer": [scene.MALLORY.public],
    "sanitizer": [scene.MALLORY.public],
    "blocks": [3, 5],
    "limit": [Limit.LINKED_USER, Limit.LINKED_ALIAS],
    "admissible": [(), (0, 1), (1,)],
    "version": [0, 2],
    "suite": [0, 2],
}
CASES = [(field, value) for field, values in OTHERS.items() for value in values]


def _blocks(field: str, value: object) -> tuple[bytes, ...]:
    """As many blocks as the header will say."""
    return (*scene.BLOCKS, b"x")[: value if field == "blocks" and isinstance(value, int) else 4]


def test_every_field_of_an_expectation_has_a_case() -> None:
    assert OTHERS.keys() == set(Expectation.__dataclass_fields__)


@pytest.mark.parametrize(("field", "value"), CASES, ids=str)
def test_presented_under_another_header(field: str, value: object) -> None:
    """The signature of the request under a header with one field changed, by somebody without keys."""
    for signed in (scene.request(), scene.sanitized()):
        blocks = _blocks(field, value)
        header = replace(signed.header, **{field: value})  # type: ignore[arg-type]
        forged = SignedMessage(Message(header, (signed.message.user_block, *blocks[1:])), signed.signature)
        with pytest.raises((SignatureInvalidError, HeaderMismatchError)):
            judge(forged)


@pytest.mark.parametrize(("field", "value"), CASES, ids=str)
def test_header_fields_are_never_taken_from_the_message(field: str, value: object) -> None:
    """Validly signed by its own signer, but not what this verifier expects: refused, and the field is named."""
    blocks = _blocks(field, value)
    header = scene.header(**({"blocks": len(blocks)} | {field: value}))
    signer = scene.MALLORY if field == "signer" else scene.DEVICE
    signed = scene.raw_sign(Message(header, blocks), signer, signer, Role.SIGNER)
    with pytest.raises(HeaderMismatchError, match=f"field {field} "):
        verify(signed, scene.expectation(), Role.SIGNER)


@pytest.mark.parametrize("field", ["version", "suite"])
def test_suite_1_neither_makes_nor_judges_another_suite(field: str) -> None:
    message = Message(scene.header(**{field: 2}), scene.BLOCKS)
    with pytest.raises(HeaderMismatchError):
        sign(message, scene.DEVICE)
    with pytest.raises(HeaderMismatchError):
        judge(scene.raw_sign(message, scene.DEVICE, scene.DEVICE, Role.SIGNER))
    # Even an expectation of that suite does not make suite 1 verify it.
    with pytest.raises(HeaderMismatchError):
        verify(
            scene.raw_sign(message, scene.DEVICE, scene.DEVICE, Role.SIGNER),
            scene.expectation(**{field: 2}),
            Role.SIGNER,
        )


def test_a_message_cannot_bring_its_own_keys() -> None:
    """Mallory as signer and sanitizer of a message that is flawless by itself."""
    helper = scene.key("mallory's helper")
    header = scene.header(signer=scene.MALLORY.public, sanitizer=helper.public)
    signed = sign(Message(header, scene.BLOCKS), scene.MALLORY)
    assert judge(signed) is Role.SIGNER
    with pytest.raises(HeaderMismatchError, match="signer"):
        verify(signed, scene.expectation(), Role.SIGNER)
    with pytest.raises(HeaderMismatchError, match="sanitizer"):
        verify(signed, scene.expectation(signer=scene.MALLORY.public), Role.SIGNER)
    with pytest.raises(KeyInvalidError):
        sign(Message(replace(header, signer=scene.DEVICE.public), scene.BLOCKS), scene.MALLORY)
