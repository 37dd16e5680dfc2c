"""Form `split` on its way to the feeds (DESIGN 8.11, 9): entries, each its own person's, and content messages.

IS sees who, party, kind, tick and id of an entry. It drops those whose person does not consent (any more), and nobody
else's. A content message it cannot read: it goes to the party as it is, or not at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.aliases import Namer
from gateway.blocks import exactly
from gateway.identity import Screener
from gateway.store.feeds import PutEntry
from gateway.store.links import Person
from gateway.upstream import ReleasedGroup
from proxid.crypto.sansig import Role, SignedMessage, verify
from proxid.crypto.sansig.scheme import resign
from proxid.encoding import decode_text, encode_text
from proxid.errors import RecordMismatchError
from proxid.evidence.events import AliasedPayload, SanitizedPair
from proxid.protocol import record
from proxid.protocol.consent import parse_audience
from proxid.protocol.contents import ContentsMessage
from proxid.protocol.entry import EntryPlace, places_of, tick_of
from proxid.runtime.config.terms import Terms

GENERAL: Final = "general"


@dataclass(frozen=True, slots=True)
class RestoredPortion:
    """A verified portion with its users restored: entries, `TYPE|FIDELITY`, of each ALIASED if names are aliases."""

    entries: tuple[PutEntry, ...]
    grant: str
    aliases: tuple[bytes, ...]


def restore_entries(
    screener: Screener, group: ReleasedGroup, people: Sequence[Person], terms: Terms, namer: Namer
) -> RestoredPortion:
    """Verify every entry and put the user, or the party's alias, into it.

    Args:
        people: of each entry; an unknown one's entry is restored to nobody, and will be dropped.
        terms: of the epoch. namer: for this portion.

    Raises:
        RecordMismatchError: not one portion for this party. SignatureInvalidError, HeaderMismatchError.
    """
    places, records = places_of(group.records, group.group), group.records
    fidelity = namer.fidelity
    expected = record.expectation(screener.service, group.epoch, screener.service_key, screener.key.public, fidelity)
    common = (encode_text(group.party), encode_text(GENERAL))
    entries, aliases = [], []
    time_ms = _time_ms(screener, group, terms)
    for signed, place, person in zip(records, places, people, strict=True):
        verify(signed, expected, Role.SIGNER)
        record.verify_label(signed, time_ms, group.party, namer.keyed)
        blocks = signed.message.blocks
        if (blocks[record.PARTY], blocks[record.KIND]) != common:
            raise RecordMismatchError("entry is for another party or kind")
        known = bool(person.user_tag) and person.epoch == group.epoch
        entries.append(_entry(screener, signed, place, person, namer.name(person)) if known else _none(place))
        if fidelity == "alias":
            prox = decode_text(signed.message.user_block)
            said = AliasedPayload(person.user_id, group.party, namer.period, entries[-1].name, prox)
            aliases.append(said.encode() if known else b"")
    return RestoredPortion(tuple(entries), f"{GENERAL}|{fidelity}", tuple(aliases))


def _time_ms(screener: Screener, group: ReleasedGroup, terms: Terms) -> int:
    """What every header of a portion says: when its tick's bucket began."""
    if terms.split is None:
        raise RecordMismatchError("entries are of an epoch of another form")
    return 1000 * (screener.epochs.start(group.epoch) + (tick_of(group.group) - 1) * terms.split.bucket_s)


def verify_audience(group: ReleasedGroup) -> None:
    """Check that the audience of entries or contents names their party; raises RecordMismatchError, EncodingError."""
    kind, _, audience = group.audience.partition("|")
    if kind != GENERAL or group.party not in dict(parse_audience(audience)):
        raise RecordMismatchError("entries or contents are for another audience than their party's")


def _none(place: EntryPlace) -> PutEntry:
    return PutEntry("", "", place.id, b"")


def _entry(screener: Screener, signed: SignedMessage, place: EntryPlace, person: Person, name: str) -> PutEntry:
    block = encode_text(name)
    restored = resign(signed, block, screener.key, exactly(block))
    return PutEntry(person.user_tag, name, place.id, SanitizedPair(signed, restored).encode())


def verify_contents(screener: Screener, group: ReleasedGroup) -> None:
    """Check that a content message is the main service's, and for this party.

    Raises:
        RecordMismatchError: it is of another epoch, number or party. SignatureInvalidError, EncodingError.
    """
    message = ContentsMessage.decode(group.contents)
    message.verify(screener.service_key)
    said = (message.service, message.epoch, message.number, message.party)
    if said != (screener.service, group.epoch, group.group, group.party):
        raise RecordMismatchError("content message is of another epoch, number or party")
