"""Notices to the parties that may hold a person's records, of an erasure or objection; each party acknowledges them.

A notice under an alias waits for a random while, so that those of one person do not come together: they would show the
party which aliases are one person's, and whose. Under the USER_ID it goes at once.
"""

import os
from collections.abc import Callable, Sequence

from gateway.identity import Screener
from gateway.refusals import OF_PARTY
from gateway.store.rights import PutNotice, Recipient, RightsStore
from proxid.errors import CredentialError, RecordMismatchError
from proxid.evidence.events import encode_header
from proxid.protocol.notice import Notice, NoticeAck, seal_info

_RANDOM_SIZE = 8


class Notices:
    """Makes notices and takes their acknowledgements.

    Args:
        random: source of nonces and of delays.
    """

    def __init__(self, screener: Screener, store: RightsStore, random: Callable[[int], bytes] = os.urandom) -> None:
        self._screener = screener
        self._store = store
        self._random = random

    def make(self, kind: str, user_id: str, recipients: Sequence[Recipient]) -> list[PutNotice]:
        """A notice for each name that a party may hold records under; a party that has left is not told any more."""
        known = self._screener.party_seals
        return [self._made(kind, user_id, r) for r in recipients if r.party in known]

    def _made(self, kind: str, user_id: str, recipient: Recipient) -> PutNotice:
        screener, party = self._screener, recipient.party
        due = int(screener.clock())
        if recipient.name != user_id:
            due += int.from_bytes(self._random(_RANDOM_SIZE), "big") % (screener.limits.notice_spread + 1)
        # Its time is when it goes out: the moment of the request would tie together what was spread.
        place = (screener.service, party)
        notice = Notice.make(kind, place, recipient.name, due * 1000, screener.key, self._random)
        sealed = screener.party_seals[party].seal(notice.encode(), seal_info(*place))
        return PutNotice(notice.digest, party, kind, sealed, due)

    async def acknowledge(self, party: str, data: bytes) -> None:
        """Take a party's signed acknowledgement of a notice; the same again is harmless.

        Raises:
            RecordMismatchError: of a notice that the party was not sent. SignatureInvalidError: not the party's.
        """
        screener, ack = self._screener, NoticeAck.decode(data)
        key = screener.party_keys.get(party)
        if key is None:
            raise CredentialError("party is not configured")
        ack.verify(key)
        screener.limit("acknowledgements", party, data, OF_PARTY)
        if (ack.party, ack.service) != (party, screener.service):
            raise RecordMismatchError("acknowledgement is of another party or service")
        name = ack.digest.hex()
        if await self._store.noticed(party, name, data, encode_header(notice=name, party=party)) == "UNKNOWN":
            raise RecordMismatchError("acknowledgement is of a notice that was not sent to the party")

    async def waiting(self, party: str) -> list[tuple[str, bytes]]:
        """What a party is to get now: name and sealed bytes of each notice."""
        return await self._store.notices(party, self._screener.clock())
