"""Lies in what a header says beside, or not whole: headers stay for ever, whoever is erased."""

import dataclasses
import json
from typing import Any

from proxid.evidence.checkpoint import Checkpoint
from proxid.evidence.events import EventType
from proxid.evidence.note import NoteSignature
from proxid.protocol.rights import Right
from proxid.runtime.evidence_log import generations
from proxid.runtime.evidence_log.encryptor import PlainEvent
from tests.support.lies import GATEWAY, MAIN, Liar, lie
from tests.support.lies_epochs import headed, next_day
from tests.support.lies_unsaid import another, exercise
from tests.support.trial import PEOPLE, run_command

E = EventType


@lie(7, quick=True)
async def service_writes_what_was_asked_into_a_header(liar: Liar) -> None:
    """A later release may say more than this auditor knows, and not that."""
    liar.hides = True
    liar.changes(MAIN, E.BUFFERED, lambda event: headed(event, asked="node0 question"))
    await liar.trial.busy(1)


@lie(7)
async def gateway_writes_a_name_under_nobodys_key(liar: Liar) -> None:
    """In the payload of an event that has none."""
    liar.hides = True
    liar.changes(GATEWAY, E.SENT, lambda event: dataclasses.replace(event, payload=PEOPLE[0].encode()))
    await liar.trial.busy(1)


@lie(7)
async def service_writes_what_was_asked_in_the_place_of_a_time(liar: Liar) -> None:
    """Of what never waited nobody looks at one."""
    liar.hides = True
    liar.changes(MAIN, E.SUPPRESSED, lambda event: headed(event, time="node1 question"))
    await liar.trial.consent("nothing", PEOPLE[:1])
    await liar.trial.ask("node1 question", PEOPLE[:1])
    await liar.trial.settle()


@lie(2)
async def service_writes_what_was_asked_into_a_field_that_it_says_twice(liar: Liar) -> None:
    """Whoever reads the header as JSON sees the second one alone."""

    def twice(event: PlainEvent) -> PlainEvent:
        return dataclasses.replace(event, fields=b'{"session":"node0 question",' + event.fields[1:])

    liar.changes(MAIN, E.BUFFERED, twice)
    await liar.trial.busy(1)


@lie(7)
async def service_withholds_a_request_that_it_names_by_half(liar: Liar) -> None:
    """What comes of it is known by half of its hash, and what it said by the whole: so any reason would do."""

    def half(event: PlainEvent) -> PlainEvent:
        session = json.loads(event.fields)["session"][:64] + "0" * 64
        return another(event, E.SUPPRESSED, kind="general", reason="unseasoned", session=session, v=2)

    liar.changes(MAIN, E.BUFFERED, half)
    await liar.trial.consent()
    await liar.trial.ask("node1 question", PEOPLE[:1])
    await liar.trial.settle()


@lie(7, quick=True)
async def gateway_writes_who_objects_in_the_place_of_a_tag(liar: Liar) -> None:
    """What nobody else can read may be anything: but it is as long as it must be, and no word."""
    liar.hides = True
    liar.changes(GATEWAY, E.OBJECTED, lambda event: headed(event, person=PEOPLE[0]))
    await liar.trial.busy(1)
    await exercise(liar, Right.OBJECT)


@lie(7)
async def gateway_writes_between_the_digits_of_a_hash(liar: Liar) -> None:
    """Whoever reads the bytes of it reads over spaces, and over capital letters."""
    liar.hides = True

    def spaced(event: PlainEvent) -> PlainEvent:
        named = json.loads(event.fields)["request"]
        return headed(event, request=f"{named[:4]}    {named[4:].upper()}")

    liar.changes(GATEWAY, E.OBJECTED, spaced)
    await liar.trial.busy(1)
    await exercise(liar, Right.OBJECT)


@lie(7)
async def gateway_says_what_waits_for_whom_no_party_is(liar: Liar) -> None:
    """Nothing was released to that name, so nothing waits: the name stands there all the same."""
    liar.hides = True

    def named(event: PlainEvent) -> PlainEvent:
        return headed(event, feeds=[*json.loads(event.fields)["feeds"], f"{PEOPLE[0]}:0"])

    liar.changes(GATEWAY, E.EPOCH_OPENED, named)
    await liar.trial.busy(1)
    await next_day(liar)


@lie(7)
async def gateway_says_which_entries_of_a_group_it_sent(liar: Liar) -> None:
    """A group has none, so nobody looks for them."""
    liar.hides = True
    liar.changes(GATEWAY, E.SENT, lambda event: headed(event, entries=[PEOPLE[0]]))
    await liar.trial.busy(1)


@lie(7)
async def service_writes_what_was_asked_in_the_place_of_a_type(liar: Liar) -> None:
    """Of who allows nobody anything it does not matter."""
    liar.hides = True
    liar.changes(MAIN, E.SUPPRESSED, lambda event: headed(event, kind="node1 question"))
    await liar.trial.consent("nothing", PEOPLE[:1])
    await liar.trial.ask("node1 question", PEOPLE[:1])
    await liar.trial.settle()


@lie(7)
async def service_writes_in_the_spaces_of_a_header(liar: Liar) -> None:
    """Whoever reads the header as JSON reads over them."""
    liar.hides = True

    def spaced(event: PlainEvent) -> PlainEvent:
        return dataclasses.replace(event, fields=event.fields.replace(b",", b" ,\t \t"))

    liar.changes(MAIN, E.BUFFERED, spaced)
    await liar.trial.busy(1)


@lie(7)
async def service_says_a_number_of_what_never_waited(liar: Liar) -> None:
    """Letters are a number, too."""
    liar.hides = True
    liar.changes(MAIN, E.SUPPRESSED, lambda event: headed(event, tick=int.from_bytes(b"node1")))
    await liar.trial.consent("nothing", PEOPLE[:1])
    await liar.trial.ask("node1 question", PEOPLE[:1])
    await liar.trial.settle()


@lie(7)
async def gateway_writes_under_the_head_that_its_successor_names(liar: Liar) -> None:
    """In a line more than its own signature's, as a witness's is."""
    liar.hides = True
    trial, honest = liar.trial, generations.predecessor

    def written(*given: Any) -> tuple[Checkpoint, bytes]:
        head, note = honest(*given)
        return head, note + NoteSignature("node0", b"ques", b"tion").encode().encode()

    liar.patch.setattr(generations, "predecessor", written)
    await trial.busy(1)
    await trial.audit()  # waits until all of that is in the log
    await trial.halt(GATEWAY)
    config = trial.folder / GATEWAY / f"{GATEWAY}.toml"
    assert await run_command("mend", "successor", "--config", str(config)) == 0
    await trial.serve(GATEWAY)
    await trial.ask("node1 question")
    await trial.settle()
