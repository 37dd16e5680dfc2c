"""`proxid bench crypto`: microseconds of each crypto step, and each as a ratio to plain Ed25519 in the same run.

Every step starts where a service starts: from the bytes that arrived, with nothing cached but the validity of keys
that were seen before. The message is a request of 2 kB. Steps take turns in short batches; a figure is the median
over the batches, a ratio the median of the ratios to the plain batch of the same turn, so that a machine that
slows down for a while slows both. Time is the thread's processor time.
"""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, Final

from bench import Figure
from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey
from proxid.crypto.identity import Credential, Enrolment, Link
from proxid.crypto.response import open_response, seal_response
from proxid.crypto.sansig import (
    Direction,
    Expectation,
    Header,
    Limit,
    Message,
    Role,
    SignedMessage,
    judge,
    prox_id,
    sanitize,
    sign,
    verify,
    verify_prox_id,
)
from proxid.protocol.feedkey import FeedKey
from proxid.protocol.record import Issuer, Mechanism, Place, Recipient, RecordBody, make

SIGN, VERIFY = "ed25519_sign", "ed25519_verify"
BASELINES: Final = {
    "sign": SIGN,
    "sanitize": VERIFY,
    "verify": VERIFY,
    "judge": VERIFY,
    "hpke_seal": SIGN,
    "hpke_open": SIGN,
    "link_verify": VERIFY,
    "credential_verify": VERIFY,
    "response_seal": SIGN,
    "response_open": SIGN,
    "record_sealed": SIGN,
    "record_keyed": SIGN,
}
REACH: Final = {"sign": 2.7, "sanitize": 3.2, "verify": 2.4}
"""Ratios of a prototype on messages of 2 kB, the validity of points cached by key."""

_MS, _EPOCH, _NOW = "ms.example", 20_454, 1_767_225_600
_BODY_SIZE: Final = 1_900
Step = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class _Cast:
    user: SigningKey
    device: SigningKey
    screener: SigningKey
    authority: SigningKey
    service: OpeningKey
    blocks: tuple[bytes, ...]

    def known(self) -> Expectation:
        return Expectation(
            Direction.REQUEST, _MS, _EPOCH, self.device.public, self.screener.public, len(self.blocks), Limit.PROX_ID
        )

    def header(self) -> Header:
        return Header(
            Direction.REQUEST, _MS, _EPOCH, self.device.public, self.screener.public, bytes(16), _NOW * 1000,
            len(self.blocks), Limit.PROX_ID,
        )  # fmt: skip


def _cast() -> _Cast:
    blocks = (b"alice@example.org", bytes(_BODY_SIZE), hashlib.sha256().digest(), b"answer")
    user, device, screener, authority = (SigningKey.generate() for _ in range(4))
    return _Cast(user, device, screener, authority, OpeningKey.generate(), blocks)


def _signature_steps(cast: _Cast) -> dict[str, Step]:
    device, screener, known = cast.device, cast.screener, cast.known()
    pseudonym = prox_id(_MS, _EPOCH, device.public).encode()

    def allowed(block: bytes) -> object:
        return verify_prox_id(block, _MS, _EPOCH, device.public)

    signed = sign(Message(cast.header(), cast.blocks), device)
    arrived = signed.encode()
    forwarded = sanitize(signed, pseudonym, screener, known, allowed).encode()
    plain = b"".join(cast.blocks)
    signature = device.sign(plain)
    decode = SignedMessage.decode
    return {
        SIGN: lambda: device.sign(plain),
        VERIFY: lambda: ed25519.verify(device.public, plain, signature),
        "sign": lambda: sign(Message(cast.header(), cast.blocks), device),
        "sanitize": lambda: sanitize(decode(arrived), pseudonym, screener, known, allowed),
        "verify": lambda: verify(decode(forwarded), known, Role.SANITIZER),
        "judge": lambda: judge(decode(forwarded)),
    }


def _identity_steps(cast: _Cast) -> dict[str, Step]:
    user_id, screener = "alice@example.org", cast.screener
    enrolment = Enrolment.issue(user_id, cast.user.public, 0, cast.authority)
    link = Link.make(user_id, cast.user, cast.device, _EPOCH, _MS, screener.public).encode()
    evidence_key = cast.service.public.data
    credential = Credential(cast.device.public, _EPOCH, _MS, _NOW, True, evidence_key).issue(screener).encode()
    return {
        "link_verify": lambda: Link.decode(link).verify_for(enrolment, _MS, _EPOCH, screener.public),
        "credential_verify": lambda: Credential.decode(credential).verify(screener.public, _MS, _EPOCH, _NOW),
    }


def _sealing_steps(cast: _Cast) -> dict[str, Step]:
    info, answer, key, request_hash = b"req", b"It is noon.", bytes(32), bytes(64)
    plaintext = bytes(512)
    sealed = cast.service.public.seal(plaintext, info)
    body = seal_response(answer, key, request_hash)
    return {
        "hpke_seal": lambda: cast.service.public.seal(plaintext, info),
        "hpke_open": lambda: cast.service.open(sealed, info),
        "response_seal": lambda: seal_response(answer, key, request_hash),
        "response_open": lambda: open_response(body, key, request_hash),
    }


def _record_steps(cast: _Cast) -> dict[str, Step]:
    """A record sealed to its party by itself, as it was before there were feed keys, and under a feed key."""
    body = RecordBody("aa" * 16, "general", Mechanism("mix", 10, 1, 2, 2), _EPOCH, 4, _NOW, 0, ("a", "b"), "hi")
    issuer, name, place = Issuer(_MS, cast.device, cast.screener.public), "px1" + "a" * 32, Place(4, 0, 12)
    seed = bytes(range(32))
    return {
        step: partial(make, body, name, place, Recipient("acme", "user_id", key), issuer, seed)
        for step, key in (
            ("record_sealed", cast.service.public), ("record_keyed", FeedKey.of(seed, _MS, _EPOCH, "acme")),
        )
    }  # fmt: skip


def _sizes(cast: _Cast) -> dict[str, Figure]:
    made = {name: len(step()[0].encode()) for name, step in _record_steps(cast).items()}
    return {f"{name}_bytes": {"value": size, "unit": "bytes"} for name, size in made.items()}


def _microseconds(step: Step, times: int) -> float:
    begin = time.thread_time_ns()
    for _ in range(times):
        step()
    return (time.thread_time_ns() - begin) / times / 1000


def _measure(steps: Mapping[str, Step], rounds: int, times: int) -> dict[str, list[float]]:
    for step in steps.values():
        _microseconds(step, times)
    found: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            found[name].append(_microseconds(step, times))
    return found


def crypto_figures(rounds: int = 31, times: int = 40) -> dict[str, Figure]:
    """`NAME_us` and `NAME_ratio` of every step, plain `ed25519_sign_us` and `ed25519_verify_us`, sizes of records."""
    cast = _cast()
    steps = _signature_steps(cast) | _identity_steps(cast) | _sealing_steps(cast) | _record_steps(cast)
    found = _measure(steps, rounds, times)
    figures: dict[str, Figure] = _sizes(cast)
    for name in (SIGN, VERIFY):
        figures[f"{name}_us"] = {"value": round(median(found[name]), 2), "unit": "µs"}
    for name, baseline in BASELINES.items():
        ratio = median(a / b for a, b in zip(found[name], found[baseline], strict=True))
        figures[f"{name}_us"] = {"value": round(median(found[name]), 2), "unit": "µs", "baseline": f"{baseline}_us"}
        figures[f"{name}_ratio"] = {
            "value": round(ratio, 3),
            "unit": "x",
            "baseline": f"{baseline}_us",
            "reach": REACH.get(name),
        }
    return figures


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """The figures; options `rounds` and `times` (batches, and runs in a batch)."""
    return crypto_figures(int(options.get("rounds", 31)), int(options.get("times", 40)))
