"""Lies in what an event does not hold, or only says that it holds."""

from typing import Any

import gateway.rights
from gateway.aliases import Namer
from proxid.crypto.sansig import SignedMessage
from proxid.evidence.events import EventType
from proxid.protocol import response
from proxid.protocol.rights import Right
from tests.support.lies import GATEWAY, MAIN, Liar, lie, unseen
from tests.support.lies_epochs import headed
from tests.support.lies_first_forms import without_payload
from tests.support.lies_objections import exercise
from tests.support.lies_ported import aliased, chosen
from tests.support.trial import PEOPLE

E = EventType


@lie(3)
async def gateway_keeps_the_key_of_aliases_to_itself_and_picks_them(liar: Liar) -> None:
    """It commits to one, and discloses none."""
    liar.changes(GATEWAY, E.KEYED, without_payload, times=99)
    liar.patch.setattr(Namer, "name", lambda self, person: chosen(person.user_id + self.party))
    await aliased(liar)


@lie(3)
async def service_says_of_a_choice_that_it_is_of_another_message(liar: Liar) -> None:
    """As it may have promised; the choice is the person's next one all the same."""
    liar.changes(MAIN, E.CONSENT, lambda event: headed(event, message="00" * 64))
    await liar.trial.busy(1)


@unseen("answers")
async def gateway_shows_somebody_less_than_it_holds_of_them(liar: Liar) -> None:
    """Nobody but who asked can compare."""

    def nothing(*_: Any) -> dict[str, Any]:
        return {}

    liar.patch.setattr(gateway.rights, "_share", nothing)
    await liar.trial.consent()
    await exercise(liar, Right.ACCESS)


@unseen("answers")
async def service_tells_the_gateway_in_the_nonce_of_an_answer_what_was_asked(liar: Liar) -> None:
    """Sixteen bytes an answer; nobody knows a chosen one from one that was drawn."""
    honest = response.make

    def make(*what: Any) -> SignedMessage:
        return honest(*what, lambda size: b"node1 question  "[:size])

    liar.patch.setattr(response, "make", make)
    await liar.trial.consent("nothing", PEOPLE[:1])
    await liar.trial.ask("node1 question", PEOPLE[:1])
    await liar.trial.settle()
