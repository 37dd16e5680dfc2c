"""What goes out at the ticks of form `split`, and at the close of an epoch (DESIGN 8.11, 9).

A tick or a close stands still in the store once it has begun. What goes out is worked out from it and from the epoch
seed, in portions that each go out once: whatever a crash interrupts is worked out again, and is the same.
"""

import asyncio
from collections import defaultdict
from typing import Final

import structlog

from main_service.epochs import EpochKeys
from main_service.identity import EpochSecrets, Service
from main_service.integrator import Integrator
from main_service.store.split import Lot, SplitState, SplitStore
from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.rounds import form
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.ticks import leaving_at_close
from proxid.anonymise.split.types import Contents, Leaving, Node, SplitRecord
from proxid.errors import EpochError, RestrictionError
from proxid.evidence.events import EventType, encode_header
from proxid.evidence.splitting import batched_header, contents_plaintext, portions, split_record
from proxid.protocol.contents import digest_of
from proxid.protocol.record import group_number

_log = structlog.get_logger(__name__)
_ROUNDS: Final = "rounds"


class Splitting:
    """Worker 0's part of form `split`."""

    def __init__(self, service: Service, store: SplitStore, epochs: EpochKeys, integrator: Integrator) -> None:
        self._service = service
        self._store = store
        self._epochs = epochs
        self._integrator = integrator

    async def tick(self, epoch: int, now: float, taken: float) -> None:
        """Begin the tick that is due, if one is, and let go what it took; nothing for an epoch of pairs.

        Args:
            now: Unix seconds, by a clock that is relied on. taken: what was asked until then is classified.
        """
        secrets = await self._secrets(epoch)
        settings = secrets.terms.split
        if settings is None:
            return
        await self._finish(secrets, settings)
        due = settings.tick(taken - self._service.epochs.start(epoch))
        if due and await self._store.tick(epoch, due, settings, now):
            await self._finish(secrets, settings)

    async def close(self, epoch: int) -> None:
        """End an epoch and let go, give up and show what the close decides; nothing for an epoch of pairs."""
        secrets = await self._secrets(epoch)
        settings = secrets.terms.split
        if settings is None:
            return
        await self._finish(secrets, settings)
        if await self._store.close(epoch, settings, self._service.clock()):
            await self._finish(secrets, settings)
        while not await self._store.forget(epoch):
            pass

    async def _secrets(self, epoch: int) -> EpochSecrets:
        secrets = await self._epochs.closing(epoch)
        if secrets is None:
            raise EpochError("secrets of an epoch with unreleased entries are gone")
        return secrets

    async def _finish(self, secrets: EpochSecrets, settings: SplitSettings) -> None:
        """What is under way goes on where a crash may have left it."""
        state = await self._store.state(secrets.epoch, settings)
        if not state.busy:
            return
        if state.closed:
            await self._closing(secrets, settings, state)
        else:
            leaving: dict[str, list[Leaving]] = defaultdict(list)
            for lot in state.lots:
                if lot.tick == state.tick:
                    records = await self._records(secrets.epoch, lot, everybody=True)
                    leaving[lot.audience] += [Leaving(record, lot.node) for record in records]
            await self._let_go(secrets, settings, state.tick, leaving)
        await self._store.done(secrets.epoch, state.tick)

    async def _closing(self, secrets: EpochSecrets, settings: SplitSettings, state: SplitState) -> None:
        epoch, draws = secrets.epoch, Draws(secrets.seed)
        waiting: dict[str, dict[Node, list[SplitRecord]]] = defaultdict(dict)
        opened: dict[str, set[Node]] = defaultdict(set)
        left: dict[str, list[Leaving]] = defaultdict(list)
        for lot in state.lots:
            records = await self._records(epoch, lot, everybody=not lot.tick)
            if lot.opened:
                opened[lot.audience].add(lot.node)
            if lot.tick:
                left[lot.audience] += [Leaving(record, lot.node) for record in records]
            else:
                waiting[lot.audience][lot.node] = records
        leaving = {}
        for audience in state.audiences:
            own = (waiting[audience], opened[audience], settings, draws)
            leaving[audience], gone = await asyncio.to_thread(leaving_at_close, *own)
            await self._store.suppress(epoch, state.tick, gone)
        await self._let_go(secrets, settings, state.tick, leaving)
        if secrets.terms.anonymiser.content != _ROUNDS:
            return
        for number, audience in enumerate(state.audiences, 1):
            group, seen = group_number("contents", number), [*left[audience], *leaving[audience]]
            try:
                contents = await asyncio.to_thread(form, audience, seen, settings, draws)
            except RestrictionError as error:
                _log.error("group withheld", code=error.code.value, group=group)
                continue
            await self._show(secrets, settings, contents, group)

    async def _records(self, epoch: int, lot: Lot, everybody: bool) -> list[SplitRecord]:
        """The records of a lot, without those that were taken back unless everybody's are wanted."""
        found: list[SplitRecord] = []
        async for held in self._store.held(epoch, lot):
            wanted = [one.id for one in held if everybody or not one.taken_back]
            found += [split_record(payload) for payload in await self._store.payloads(epoch, wanted)]
        return found

    async def _let_go(
        self, secrets: EpochSecrets, settings: SplitSettings, tick: int, leaving: dict[str, list[Leaving]]
    ) -> None:
        # Beside the loop: a close may have a hundred thousand lots to draw.
        for number, portion in await asyncio.to_thread(_portions, tick, leaving, Draws(secrets.seed)):
            payloads = await self._store.payloads(secrets.epoch, [one.record.id for one in portion])
            # Beside the loop, as all that takes long here: requests are answered meanwhile.
            release = await asyncio.to_thread(
                self._integrator.release_entries, portion, number, secrets, settings, payloads
            )
            audience = portion[0].record.audience
            header = encode_header(audience=audience, epoch=secrets.epoch, group=number, kind="entries", tick=tick)
            parties = [(party.party, party.records) for party in release.parties]
            event = (EventType.RELEASED, header, release.payload.encode())
            await self._store.release(secrets.epoch, (number, audience), event, parties)

    async def _show(self, secrets: EpochSecrets, settings: SplitSettings, contents: Contents, number: int) -> None:
        plaintext = await asyncio.to_thread(contents_plaintext, contents, secrets.epoch, settings, secrets.seed)
        own = (contents.audience, number, secrets, plaintext)
        messages = await asyncio.to_thread(self._integrator.release_contents, *own)
        header = batched_header(contents, secrets.epoch, number, digest_of(plaintext))
        await self._store.release(
            secrets.epoch, (number, contents.audience), (EventType.BATCHED, header, b""), messages
        )


def _portions(tick: int, leaving: dict[str, list[Leaving]], draws: Draws) -> list[tuple[int, list[Leaving]]]:
    return list(portions(tick, leaving, draws))
