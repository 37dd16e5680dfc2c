"""Of a thousand questions an upstream is told the text and nothing else: recorded by a real server (DESIGN 5.5)."""

import asyncio
import base64
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from proxid.classify import load_default
from proxid.protocol import request
from tests.support.needles import found
from tests.support.trial import PEOPLE, WithClassifier, running
from tests.support.upstream import Says, chat_server

GIVEN = (
    "anna", "bernd", "carla", "dmitri", "elif", "fatima", "george", "hannah", "ivan", "julia", "kofi", "laura",
    "mehmet", "nadia", "oscar", "priya", "quentin", "rosa", "stefan", "tanja", "uwe", "vera", "wei", "yusuf", "zoe",
)  # fmt: skip
FAMILY = (
    "kowalski", "schneider", "rossi", "novak", "yilmaz", "okafor", "garcia", "johansson", "petrov", "martin", "mensah",
    "lindqvist", "demir", "haddad", "nilsson", "sharma", "dubois", "moreno", "huber", "popescu", "krause", "ivanova",
    "zhang", "rahman", "jones", "smith", "taylor", "wagner", "costa", "silva", "keller", "brandt", "fischer", "larsen",
    "murphy", "oconnor", "patel", "kaplan", "vogel", "weiss",
)  # fmt: skip
ASKED = (
    "explain to {} what quantum physics is", "tell {} a story about a dragon", "what should i cook for {} tonight",
    "write {} a poem about the sea", "what would {} say about the winter",
)  # fmt: skip
UNASKED = ("Sorry, I can't do that from here.", "Sorry, I can't answer that just now.")
"""Of what is taken for a command, or cannot be read: the upstream hears nothing of it."""
NAMES = [f"{given} {family}" for given, family in itertools.product(GIVEN, FAMILY)]


def questions(number: int) -> list[tuple[str, str]]:
    """Names and the questions that name them; more than there are names come round in another question."""
    names = [NAMES[37 * n % len(NAMES)] for n in range(number)]
    return [(name, ASKED[(n + n // len(NAMES)) % len(ASKED)].format(name)) for n, name in enumerate(names)]


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What devices of this process put into their requests, as they make them: it must not leave the main service."""
    made, kept = request.make, list[bytes]()

    def recorded(utterance: Any, user_id: str, key: Any, route: Any, now_ms: int, random: Any) -> Any:
        signed = made(utterance, user_id, key, route, now_ms, random)
        header = signed.header
        kept.extend([
            header.nonce, signed.session_id, signed.fixed, signed.full, header.signer, header.sanitizer,
            route.seal_key.data, signed.message.blocks[1], utterance.salt, utterance.response_key, utterance.commit,
        ])  # fmt: skip
        return signed

    monkeypatch.setattr(request, "make", recorded)
    return kept


@pytest.mark.parametrize(("number", "calls"), [(24, 20), pytest.param(1050, 1000, marks=pytest.mark.slow)])
async def test_nothing_of_a_person_a_session_or_a_key_in_any_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secrets: list[bytes], number: int, calls: int
) -> None:
    """With stand-ins in the place of who is named, as far as the classifier sees that somebody is."""
    echo: Says = lambda text: f"About {text}"  # noqa: E731
    with chat_server(echo) as server:
        settings = {"url": server.url, "model": "small", "identifiers": "replace", "concurrency": 8}
        monkeypatch.setenv("PROXID_MAIN_SERVICE__RESPONDER", json.dumps({"upstream": settings}))
        async with running(tmp_path, WithClassifier) as trial:
            asked = questions(number)

            async def ask(person: str, mine: list[tuple[str, str]]) -> None:
                for name, text in mine:
                    answer = (await trial.device.ask(person, text)).text
                    assert name in answer or answer in UNASKED

            await asyncio.gather(*(ask(person, asked[n :: len(PEOPLE)]) for n, person in enumerate(PEOPLE)))
            sessions = [await trial.device.session(person) for person in PEOPLE]
    assert len(server.seen) >= calls
    told = b"".join(server.seen)
    keys = secrets_of(tmp_path)
    lasting = [session.key.public for session in sessions] + keys
    lasting += [text.encode() for session in sessions for text in (session.user.user_id, session.prox_id)]
    assert len(secrets) >= 11 * calls and len(keys) > len(PEOPLE)
    assert found([*secrets, *lasting], told) == []
    classifier = load_default()
    missed = {name for name, text in asked if name in str(classifier.classify(text).masked)}
    leaked = {name for name, _ in asked if name.encode() in told}
    assert leaked <= missed and len(missed) <= number // 10
    assert told.count(b"Person-1") >= len(server.seen) - len(missed)


def secrets_of(folder: Path) -> list[bytes]:
    """The end of what each key's file holds in base64, in which the secret is."""
    found = []
    for path in folder.rglob("*.key"):
        lines = [line for line in path.read_text("ascii").splitlines() if line and not line.startswith(("-", "#"))]
        found.append(base64.b64decode("".join(lines).rpartition(" ")[2])[-32:])
    return found


def test_a_secret_is_found_in_every_form() -> None:
    """Of the search itself: it finds what it looks for, wherever it stands."""
    secret = bytes(range(40, 72))
    for told in (secret, secret.hex().encode(), secret.hex().upper().encode()):
        assert found([secret], b"some" + told + b"more") == [secret]
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            assert secret in found([secret], b"x" + encode(bytes(before) + secret))
    assert found([secret], bytes(range(80, 200))) == []
