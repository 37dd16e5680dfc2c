"""Lies about form `split`, and the check that catches each (DESIGN 10.4)."""

import dataclasses
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from main_service.identity import EpochSecrets
from main_service.integrator import Integrator
from main_service.jobs import splitting
from proxid.anonymise.split import rounds
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Leaving
from proxid.evidence.events import DeliveredPayload, EventType, decode_header, encode_header
from proxid.protocol.contents import ContentsBody
from tests.support.lies import GATEWAY, MAIN, Liar, signed_twice

E = EventType


def fields(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Any], Any]:
    return lambda event: dataclasses.replace(event, fields=encode_header(**change(dict(decode_header(event.fields)))))


def a_ladder_over_the_epoch(liar: Liar) -> None:
    """What enough people asked in the epoch is shown in a round that holds it once."""
    honest = rounds.form

    def form(audience: str, left: Any, settings: Any, draws: Any) -> Any:
        asked = [text for one in left for text in one.record.texts]
        shown = lambda said: [x for x in said if asked.count(x) >= settings.threshold]  # noqa: E731

        def show(contents: Any, depth: int, _: Any) -> Any:
            return Counter((path[:depth], next(iter(shown(said)), "")) for path, said in contents)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rounds, "show", show)
            return honest(audience, left, settings, draws)

    liar.patch.setattr("main_service.jobs.splitting.form", form)


def one_batch_a_node(liar: Liar) -> None:
    """All records of a node together, however many are one person's."""

    def deal(records: Any, settings: Any, draws: Any) -> Any:
        return [list(records)], []

    honest = rounds.form

    def form(*arguments: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rounds, "deal", deal)
            patch.setattr(rounds, "check", lambda *_: None)
            return honest(*arguments)

    liar.patch.setattr("main_service.jobs.splitting.form", form)


def a_tick_of_one_node(liar: Liar) -> None:
    def leaving(waiting: Any, opened: Any, settings: Any, draws: Any) -> Any:
        return [
            Leaving(record, node) for node, records in waiting.items() if node[-1] == "news" for record in records
        ], []

    liar.patch.setattr("main_service.jobs.splitting.leaving_at_close", leaving)


def a_batch_formed_again(liar: Liar) -> None:
    """Once more, without somebody: whoever compares the two sees what was theirs."""
    honest = rounds.form

    def form(audience: str, left: Any, settings: Any, draws: Any) -> Any:
        left = list(left)
        return honest(audience, [one for one in left if one.record.person != left[0].record.person], settings, draws)

    liar.patch.setattr("main_service.jobs.splitting.form", form)


def a_batch_said_twice(liar: Liar) -> None:
    liar.records(MAIN, lambda events: [one for e in events for one in [e] * (2 if e.type is E.BATCHED else 1)])


def entries_in_order_of_arrival(liar: Liar) -> None:
    honest = splitting.portions

    def portions(tick: int, leaving: Any, draws: Any) -> Any:
        came = {one.record.id: at for lots in leaving.values() for at, one in enumerate(lots)}
        for number, lot in honest(tick, leaving, draws):
            yield number, sorted(lot, key=lambda one: came[one.record.id])

    liar.patch.setattr(splitting, "portions", portions)


def formed_with(liar: Liar, **changes: Any) -> None:
    honest = rounds.form

    def form(audience: str, left: Any, settings: Any, draws: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            for name, change in changes.items():
                patch.setattr(rounds, name, change)
            return honest(audience, left, settings, draws)

    liar.patch.setattr("main_service.jobs.splitting.form", form)


def rows_in_order_of_arrival(liar: Liar) -> None:
    honest = rounds.add_up
    formed_with(liar, add_up=lambda shown: honest(shown)[::-1])


def a_path_without_the_ladder(liar: Liar) -> None:
    formed_with(liar, _prefix=lambda path, *_: path)


def a_row_under_the_threshold(liar: Liar) -> None:
    honest = rounds.show
    less = lambda said, depth, settings: honest(said, depth, dataclasses.replace(settings, min_text_users=1))  # noqa: E731
    formed_with(liar, show=less)


def two_plaintexts(liar: Liar) -> None:
    """One party gets other contents than the others."""
    honest = Integrator.release_contents

    def release(self: Integrator, audience: str, number: int, secrets: EpochSecrets, plaintext: bytes) -> Any:
        first, *rest = honest(self, audience, number, secrets, plaintext)
        body = dataclasses.replace(ContentsBody.decode(plaintext), withheld=0).encode(bytes(32))
        return [first, *honest(self, audience, number, secrets, body)[1:]][: 1 + len(rest)]

    liar.patch.setattr(Integrator, "release_contents", release)


def another_digest(liar: Liar) -> None:
    liar.changes(MAIN, E.BATCHED, fields(lambda f: {**f, "digest": "00" * 32}))


def contents_kept_back(liar: Liar) -> None:
    liar.drops(MAIN, E.BATCHED)


def a_tick_unsaid(liar: Liar) -> None:
    liar.drops(MAIN, E.TICKED)


def a_tick_early(liar: Liar) -> None:
    """The main service lets go what waits at once."""
    liar.patch.setattr(SplitSettings, "tick", lambda self, since: min(int(since // self.bucket_s) + 1, self.ticks - 1))


def an_epoch_without_its_last_tick(liar: Liar) -> None:
    async def close(*_: Any) -> bool:
        return False

    async def forget(*_: Any) -> bool:
        return True

    liar.patch.setattr("main_service.store.split.SplitStore.close", close)
    liar.patch.setattr("main_service.store.split.SplitStore.forget", forget)


def an_entry_lost(liar: Liar) -> None:
    def change(data: bytes) -> bytes:
        said = DeliveredPayload.decode(data)
        return DeliveredPayload(said.acknowledgement, said.pairs[1:]).encode()

    liar.payloads(GATEWAY, E.DELIVERED, change)


def portions_that_never_leave(liar: Liar) -> None:
    """A tick takes entries, and none of them is released."""
    liar.patch.setattr(splitting, "_portions", lambda *_: [])


def never_sent(liar: Liar) -> None:
    liar.drops(GATEWAY, E.SENT)


def entries_sent_that_nobody_logged(liar: Liar) -> None:
    """The main service signs twice: one set of entries for its log, another for the gateway."""
    liar.patch.setattr(Integrator, "release_entries", signed_twice(Integrator.release_entries))


LIES = [
    (a_ladder_over_the_epoch, 5), (one_batch_a_node, 5), (a_tick_of_one_node, 5), (another_digest, 5),
    (contents_kept_back, 5), (a_tick_unsaid, 5), (an_entry_lost, 3), (never_sent, 7),
    (a_batch_formed_again, 5), (a_batch_said_twice, 7), (rows_in_order_of_arrival, 5), (entries_in_order_of_arrival, 5),
    (two_plaintexts, 7), (portions_that_never_leave, 5),
    (entries_sent_that_nobody_logged, 7), (an_epoch_without_its_last_tick, 5),
]  # fmt: skip
