"""Lies about a person's epoch key that was lost, and the one that takes its place."""

import dataclasses
from typing import Any

import gateway.links
from gateway.links import Links
from gateway.store.links import KeyLiveError, LinkSteps
from main_service.intake import Anonymiser, NotLogged, Withheld
from main_service.rights import Subjects
from proxid.crypto.identity import Credential
from proxid.runtime.provision.keyfile import load_signing_key
from tests.integration.auditor.test_epoch_keys_lost import USER, forgetful, lost
from tests.support.lies import GATEWAY, Liar, keys_kept_live, lie, store_of, unseen


@lie(3)
async def gateway_counts_a_key_in_a_lost_ones_place_as_seasoned(liar: Liar) -> None:
    honest = dataclasses.replace

    def seasoned(credential: Any, **changes: Any) -> Any:
        return honest(credential, **{**changes, "seasoned": True})

    await liar.trial.busy(1)
    await lost(liar.trial)
    liar.patch.setattr(gateway.links, "replace", seasoned)
    await liar.trial.device.session(USER)


@lie(3, quick=True)
async def gateway_gives_a_person_a_second_key_beside_the_first(liar: Liar) -> None:
    """Somebody counts twice: the main service is not told whose place the key takes."""
    honest = LinkSteps.link

    async def link(self: LinkSteps, *said: Any) -> bool:
        try:
            return await honest(self, *said)
        except KeyLiveError:
            return await honest(self, *said[:-1], await self.lost(said[1].user_tag, said[1].epoch))

    await liar.trial.busy(1)
    liar.patch.setattr(LinkSteps, "link", link)
    await lost(liar.trial)
    await liar.trial.ask("node1 question", [USER])


@lie(3)
async def gateway_shows_another_credential_of_a_key_than_its_log_holds(liar: Liar) -> None:
    """Where the main service looks, the key in a lost one's place counts as seasoned, and takes nobody's place."""
    trial = liar.trial
    await trial.busy(1)
    await lost(trial)
    await trial.device.session(USER)
    key, store = load_signing_key(trial.folder / "gateway/signing.key"), await store_of(liar, GATEWAY)
    async for name in store.scan_iter(match="{gw}:k:*"):
        said = Credential.decode(await store.hget(name, "c"))
        if said.instead:
            other = dataclasses.replace(said, seasoned=True, instead="").issue(key)
            await store.hset(name, "c", other.encode())
    await store.aclose()
    await trial.ask("node1 question", [USER])


@lie(3)
async def gateway_makes_up_a_key_that_was_lost(liar: Liar) -> None:
    """Somebody's first key of an epoch is said to take the place of one that there never was: it does not count."""
    honest, made_up = LinkSteps.link, "px1" + "a" * 32

    async def link(self: LinkSteps, *said: Any) -> bool:
        if said[1].user_id == USER and not said[-1]:
            raise KeyLiveError("so it says")
        return await honest(self, *said)

    async def never(*_: Any) -> str:
        return made_up

    async def tell(self: Links, *_: Any) -> None:
        await self._upstream.restrict(made_up, True, lost=True)

    liar.patch.setattr(LinkSteps, "link", link)
    liar.patch.setattr(LinkSteps, "lost", never)
    liar.patch.setattr(Links, "tell", tell)
    await liar.trial.busy(1)


@lie(3)
async def gateway_replaces_a_persons_key_twice_in_an_epoch(liar: Liar) -> None:
    await liar.trial.busy(1)
    before = (await liar.trial.device.session(USER)).prox_id.encode()
    await lost(liar.trial)
    await liar.trial.device.session(USER)
    store = await store_of(liar, GATEWAY)
    for name in [name async for name in store.scan_iter(match="{gw}:s:*")]:
        for subject, value in (await store.hgetall(name)).items():
            if value.endswith(before):
                await store.hdel(name, subject)
    await store.aclose()
    await lost(liar.trial)
    await liar.trial.device.session(USER)


@lie(3)
async def gateway_forwards_what_comes_under_a_key_that_was_lost(liar: Liar) -> None:
    trial = liar.trial
    await trial.busy(1)
    async with keys_kept_live(liar):
        anew = forgetful(trial)
        await anew.session(USER)
        await anew.close()
    await trial.ask("node words", [USER])


@lie(6)
async def service_keeps_what_waits_under_a_key_that_was_lost(liar: Liar) -> None:
    async def restrict(self: Subjects, prox_id: str, *_: bool) -> None:
        await self._store.given_up(prox_id, 1000)

    await liar.trial.busy(1)
    await liar.trial.ask("waits here", [USER])
    await liar.trial.settle()
    liar.patch.setattr(Subjects, "restrict", restrict)
    await lost(liar.trial)
    await liar.trial.ask("node1 question", [USER])


async def withholds_one(liar: Liar, user: str, *texts: str) -> None:
    """Of what somebody asks one request is withheld, as if they objected or their key were lost, which comes later."""
    honest, withheld = Anonymiser._decided, list[bytes]()

    def decided(self: Anonymiser, pending: Any, *rest: Any) -> Any:
        if withheld or pending.prox_id != target:
            return honest(self, pending, *rest)
        withheld.append(pending.session)
        return Withheld(NotLogged.RESTRICTED, "general")

    trial = liar.trial
    await trial.consent()
    target = (await trial.device.session(user)).prox_id
    liar.patch.setattr(Anonymiser, "_decided", decided)
    for text in texts:
        await trial.ask(text, [user])
        await trial.settle()


async def _withheld(liar: Liar, *texts: str) -> None:
    """A request of a person's is withheld as if its key were lost, which it is once these were asked, too."""
    await withholds_one(liar, USER, "node1 question", *texts)
    await lost(liar.trial)
    await liar.trial.device.session(USER)


@lie(7)
async def service_withholds_one_request_of_somebody_whose_key_is_lost_later(liar: Liar) -> None:
    liar.hides = True  # until two epochs have begun, something may be under way
    await _withheld(liar, "node2 question")


@unseen("lost")
async def service_withholds_the_last_request_before_a_key_is_lost(liar: Liar) -> None:
    await _withheld(liar)
