"""The Main Service's state on the request path: each method is one atomic step of `lua/requests.lua`."""

import hashlib
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from main_service.store.library import KEYS, PREFIX
from proxid.crypto.identity import Credential
from proxid.crypto.sansig import SignedMessage
from proxid.encoding import decode, decode_int, decode_text
from proxid.errors import Code, CredentialError, EpochError, NonceReplayError, refusal_of
from proxid.evidence.events import SALT_SIZE, encode_header, session_header
from proxid.runtime.evidence_log.writer import evidence_key_name
from proxid.runtime.store import FunctionLibrary
from proxid.runtime.store.functions import named

_TAG: Final = 32


@dataclass(frozen=True, slots=True)
class Pending:
    """A request that was answered and waits for classification and anonymisation.

    Attributes:
        session: 64 bytes. opening: of its commit. bundle, version: the consent in effect when it was received.
    """

    session: bytes
    opening: bytes
    prox_id: str
    seasoned: bool
    time_ms: int
    bundle: str
    version: int


def _tag(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()[:_TAG]


class RequestStore:
    """See the module; every method raises StoreError when the store is away or full."""

    def __init__(self, functions: FunctionLibrary, random: Callable[[int], bytes] = os.urandom) -> None:
        self._functions = functions
        self._random = random

    def _salt(self) -> bytes:
        return self._random(SALT_SIZE)

    async def credential(self, key: bytes) -> bytes | None:
        """The credential that an epoch key showed before."""
        found = await self._functions.call("ms_credential", KEYS, _tag(key))
        return None if found is None else bytes(found)

    async def put_credential(self, found: Credential, ttl: int) -> None:
        """Keep a verified credential for `ttl` seconds, and its evidence key for the writer.

        Raises:
            CredentialError: its key takes the place of a lost one, and what waits under that was not given up.
        """
        done = await self._functions.call(
            "ms_put_credential", KEYS,
            *named(
                key_tag=_tag(found.epoch_key), credential=found.encode(), epoch=found.epoch, ttl=ttl,
                evidence_name=evidence_key_name(PREFIX, found.prox_id), evidence_key=found.evidence_key,
                prox_id=found.prox_id, instead=found.instead,
            ),
        )  # fmt: skip
        if done == b"WAITS":
            raise CredentialError("what waits under the lost key was not given up")

    async def answer(self, signed: SignedMessage) -> bytes | None:
        """The stored answer to this very request, or None; raises NonceReplayError if its nonce was another's."""
        header = signed.header
        state, answer = await self._functions.call(
            "ms_answer", KEYS, _tag(header.signer, header.nonce), signed.session_id
        )
        if state == b"REPLAYED":
            raise NonceReplayError("nonce was used before for another message")
        if state != b"ANSWERED":
            return None
        await self._functions.on_disk(KEYS)
        return bytes(answer)

    async def begin(self, signed: SignedMessage, prox_id: str, ttl: int, seconds: float) -> float | None:
        """Enter a session as the one that asks an upstream; kept for `ttl` seconds.

        Returns:
            None for whoever is first; after that the seconds, of `seconds`, that the first has left.
        """
        left = await self._functions.call(
            "ms_begin", KEYS, signed.session_id, prox_id, ttl, math.ceil(1000 * seconds)
        )  # fmt: skip
        return None if left is None else int(left) / 1000

    async def receive(
        self, signed: SignedMessage, prox_id: str, answer: bytes, pending: bytes, payload: bytes,
        kept: tuple[int, str],
    ) -> bytes | None:  # fmt: skip
        """Mark the nonce, keep the answer, record RECEIVED, leave what may be logged: one step.

        Args:
            kept: seconds that nonce and answer stay; the reason to withhold the text whatever the consent, or empty.

        Returns:
            The answer of whoever was first, if that was somebody else.

        Raises:
            NonceReplayError: the nonce was another message's. EpochError: its epoch was closed meanwhile.
            ProxidError: the message was refused before, in the same way.
        """
        header, session = signed.header, signed.session_id
        ttl, withheld = kept
        result = await self._functions.call(
            "ms_receive", KEYS,
            *named(
                nonce_tag=_tag(header.signer, header.nonce), session=session, epoch=header.epoch, ttl=ttl,
                prox_id=prox_id, answer=answer, pending=pending, salt=self._salt(), header=session_header(session),
                payload=payload, suppressed_salt=self._salt(), withheld=withheld,
            ),
        )  # fmt: skip
        if result[0] == b"REPLAYED":
            raise NonceReplayError("nonce was used before for another message")
        if result[0] == b"OVER":
            raise EpochError("epoch was closed while the request was answered")
        if result[0] == b"REFUSED":
            raise refusal_of(Code(result[1].decode()))
        return bytes(result[1]) if result[0] == b"ANSWERED" else None

    async def refuse(self, session: bytes, rule: str, ttl: int) -> str:
        """Record REFUSED with the rule's code, once; the code by which the message was refused first.

        Args:
            ttl: seconds for which the same bytes get the same refusal.
        """
        header = encode_header(rule=rule, session=session.hex(), v=2)
        return str((await self._functions.call("ms_refuse", KEYS, self._salt(), header, session, rule, ttl)).decode())

    async def pending(self, limit: int) -> list[Pending]:
        """Requests that wait for anonymisation, oldest first."""
        rows = await self._functions.call("ms_pending", KEYS, limit)
        return [_pending(*rows[i : i + 4]) for i in range(0, len(rows), 4)]


def _pending(session: bytes, blob: bytes, bundle: bytes, version: bytes) -> Pending:
    opening, prox, seasoned, time_ms = decode(blob, 4)
    return Pending(
        session, opening, decode_text(prox), bool(decode_int(seasoned)), decode_int(time_ms), bundle.decode(),
        int(version),
    )  # fmt: skip
