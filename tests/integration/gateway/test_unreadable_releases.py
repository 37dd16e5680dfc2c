"""What the main service releases and nobody can read is dropped and named; the gateway goes on."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

import main_service.rpc
from proxid.crypto.sansig import SignedMessage
from proxid.crypto.sansig.message import Message
from proxid.runtime.transport.convert import to_wire
from proxid.wire.v1 import common_pb2
from tests.support.trial import PEOPLE, running


def without_header(signed: SignedMessage) -> Any:
    sent = to_wire(signed)
    return common_pb2.SignedMessage(header=b"?", blocks=sent.blocks, signature=sent.signature)


def with_one_block(signed: SignedMessage) -> Any:
    header = dataclasses.replace(signed.header, blocks=1)
    return to_wire(SignedMessage(Message(header, signed.message.blocks[:1]), signed.signature))


@pytest.mark.parametrize("lie", [without_header, with_one_block])
async def test_a_release_that_is_no_record_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: Any
) -> None:
    async with running(tmp_path) as trial:
        await trial.consent()

        def lying(data: bytes) -> Any:
            return lie(SignedMessage.decode(data))

        with monkeypatch.context() as patch:
            patch.setattr(main_service.rpc, "encoded_to_wire", lying)
            await trial.ask("node1 question")
            await trial.settle()
        await trial.ask("node2 question", PEOPLE)
        await trial.settle()
        got = await trial.receive()
        assert got["acme"] and got["globex"]
        report = await trial.audit()
        assert report.counts["dropped.invalid"] > 0
