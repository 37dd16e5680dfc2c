"""Secrets reach neither a representation, a copy, a pickle nor a traceback; errors name rules, never data."""

import copy
import io
import json
import logging
import pickle
import traceback
from collections.abc import Callable

import pytest

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey
from proxid.crypto.identity import Enrolment, Link
from proxid.crypto.response import open_response, seal_response
from proxid.crypto.sansig import Role, judge, sign, verify
from proxid.errors import KeyInvalidError, ProxidError
from tests.support import scene

KEYS: list[SigningKey | OpeningKey] = [scene.DEVICE, scene.opening_key("service")]
IDS = ["SigningKey", "OpeningKey"]


def _traces(secret: bytes) -> list[str]:
    """A secret as it could appear in text: raw, hex, as Python writes bytes, as a number."""
    half = secret[: len(secret) // 2]
    return [secret.hex(), half.hex(), repr(secret)[2:-1], repr(half)[2:-1], str(int.from_bytes(secret, "big"))]


@pytest.mark.parametrize("key", KEYS, ids=IDS)
def test_no_representation(key: SigningKey | OpeningKey) -> None:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    logging.getLogger("test").addHandler(handler)
    logging.getLogger("test").warning("%s %r %s", key, key, {"key": key})
    logging.getLogger("test").removeHandler(handler)
    texts = [repr(key), str(key), f"{key}", f"{[key]} {(key,)}", out.getvalue(), json.dumps({"k": key}, default=str)]
    assert not any(trace in text for text in texts for trace in _traces(key.seed))


@pytest.mark.parametrize("key", KEYS, ids=IDS)
def test_no_copy_and_no_pickle(key: SigningKey | OpeningKey) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(KeyInvalidError):
            pickle.dumps({"key": key}, protocol)
    for attempt in (copy.copy, copy.deepcopy):
        with pytest.raises(KeyInvalidError):
            attempt(key)
    assert not hasattr(key, "__dict__")


FAILURES: dict[str, Callable[[], object]] = {
    "short seed": lambda: SigningKey(scene.DEVICE.seed[:31]),
    "short HPKE seed": lambda: OpeningKey(KEYS[1].seed[:95]),
    "wrong key": lambda: sign(scene.request().message, scene.USER),
    "wrong role": lambda: verify(scene.request(), scene.expectation(), Role.SANITIZER),
    "wrong header": lambda: verify(scene.request(), scene.expectation(service="x"), Role.SIGNER),
    "bad key": lambda: ed25519.verify(bytes(32), scene.DEVICE.seed, bytes(64)),
    "bad signature": lambda: ed25519.verify(scene.DEVICE.public, scene.DEVICE.seed, bytes(64)),
    "bad seal": lambda: scene.opening_key("service").open(bytes(2000), b"info"),
    "bad response": lambda: open_response(seal_response(b"answer", bytes(32), bytes(64)), scene.DEVICE.seed, bytes(64)),
    "long answer": lambda: seal_response(scene.USER_ID.encode() * 9999, scene.DEVICE.seed, bytes(64)),
    "foreign link": lambda: scene.link().verify(Enrolment("bob", scene.USER.public, 0)),
    "bad name": lambda: Enrolment.issue(scene.USER_ID + "\n", scene.USER.public, 0, scene.AUTHORITY),
    "name not NFC": lambda: Link.make(
        scene.USER_ID + "e\u0301", scene.USER, scene.DEVICE, 0, scene.MS, scene.SCREENER.public
    ),
    "pickled": lambda: pickle.dumps(scene.DEVICE),
    "judged": lambda: judge(scene.raw_sign(scene.request().message, scene.USER, scene.USER, Role.SIGNER)),
}


@pytest.mark.parametrize("name", FAILURES)
def test_no_traceback_or_message_holds_a_secret_or_a_name(name: str) -> None:
    with pytest.raises(ProxidError) as caught:
        FAILURES[name]()
    text = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + caught.value.rule
    secrets = [scene.DEVICE.seed, scene.USER.seed, scene.AUTHORITY.seed, KEYS[1].seed]
    assert not any(trace in text for secret in secrets for trace in _traces(secret))
    assert scene.USER_ID not in text
    assert caught.value.args == (caught.value.rule,)
    # Nothing of a library's own message follows along.
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("key", KEYS, ids=IDS)
def test_no_local_of_a_failing_frame_shows_a_key(key: SigningKey | OpeningKey) -> None:
    """A traceback that prints the locals of the library's frames shows keys as their representation only."""

    def fail(held: SigningKey | OpeningKey) -> None:
        if isinstance(held, SigningKey):
            sign(scene.request(nonce=bytes(16)).message, scene.key("some other key") if held is None else scene.USER)
        else:
            held.open(bytes(2000), b"")

    try:
        fail(key)
    except ProxidError as error:
        text = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
        assert not any(trace in text for secret in (key.seed, scene.USER.seed) for trace in _traces(secret))
    else:
        pytest.fail("nothing was raised")


def test_a_key_comes_from_its_random_source_alone() -> None:
    assert SigningKey.generate(bytes).public == SigningKey(bytes(32)).public
    assert SigningKey.generate().public != SigningKey.generate().public
    with pytest.raises(KeyInvalidError):
        SigningKey.generate(lambda n: bytes(n - 1))
    with pytest.raises(KeyInvalidError):
        OpeningKey.generate(lambda n: bytes(n - 1))
