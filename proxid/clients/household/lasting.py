"""Choices that last until they are withdrawn (DESIGN 7): a consent holds for an epoch, so the device gives it anew.

It is given anew only while it means no more than what the person was told: under a policy by which the same bundle lets
another party, another kind or a name out, the person is at `nothing` and has to be asked.
"""

from collections.abc import Mapping
from typing import Final

import structlog

from proxid.clients.household.consents import Consents
from proxid.clients.household.policies import Policies
from proxid.clients.household.session import Session
from proxid.clients.household.state import Lasting, UserState
from proxid.errors import Code, ProxidError, RefusedError
from proxid.protocol.consent import NOTHING
from proxid.protocol.naming import Naming
from proxid.protocol.policy import PolicyDocument

RENEWED: Final = "renewed"
CHANGED: Final = "changed"
_FINAL: Final = frozenset({Code.CONSENT_INVALID, Code.OBJECTED, Code.INPUT_INVALID})
"""Of an epoch: what else fails may fare better the next time."""

_log = structlog.get_logger(__name__)


def form_of(document: PolicyDocument) -> str:
    """`split` or `pairs`, of a document's releases; one from before there were forms means pairs."""
    rules = document.settings.get("anonymiser")
    return "split" if isinstance(rules, Mapping) and rules.get("form") == "split" else "pairs"


def meaning(document: PolicyDocument, bundle: str) -> frozenset[str]:
    """What a bundle comes to: `party|kind|as` of each grant, and the form of releases."""
    naming = Naming.of(document.settings)
    grants = document.bundles.get(bundle, ())
    rows = {f"{g.party}|{kind}|{naming.fidelity(kind, g.fidelity)}" for g in grants for kind in g.types}
    return frozenset(rows | {form_of(document)})


class LastingChoices:
    """Gives lasting choices anew, once an epoch a person."""

    def __init__(self, consents: Consents, policies: Policies) -> None:
        self._consents, self._policies = consents, policies
        self._done: dict[str, tuple[int, str]] = {}
        """By user the epoch for which that was settled, and how."""

    def outcome(self, user_id: str, epoch: int) -> str:
        """Of a person's lasting choice in an epoch: RENEWED, CHANGED, or empty if it was neither."""
        at, how = self._done.get(user_id, (epoch, ""))
        return how if at == epoch else ""

    async def remember(self, session: Session, bundle: str) -> None:
        """A choice is in effect, and is to be given anew from now on; raises as `Policies.of`, OutputError."""
        document = await self._policies.of(session.route.policy)
        session.user.keep_choice(Lasting(bundle, meaning(document, bundle)))
        self._done[session.user.user_id] = session.route.epoch, RENEWED

    def forget(self, user: UserState) -> None:
        """A person's next choice is for an epoch, or is `nothing`; raises OutputError."""
        user.keep_choice(None)
        self._done.pop(user.user_id, None)

    async def renew(self, session: Session) -> None:
        """Give the person's choice anew in the session's epoch, if there is one and it means no more than it did.

        What the services do not take leaves them at `nothing` and is tried no more in the epoch; what fails on the way
        is tried the next time.
        """
        user, epoch = session.user, session.route.epoch
        if self._done.get(user.user_id, (-1, ""))[0] == epoch:
            return
        try:
            chosen = user.lasting
            if chosen is None:
                return
            now = meaning(await self._policies.of(session.route.policy), chosen.bundle)
            same = now <= chosen.meaning
            state = user.consent(epoch)
            if same and (state.pending is not None or (state.version, state.bundle) == (0, NOTHING)):
                await self._consents.choose(session, chosen.bundle)
            self._done[user.user_id] = epoch, RENEWED if same else CHANGED
        except ProxidError as error:
            code = error.remote if isinstance(error, RefusedError) else error.code
            _log.warning("consent not renewed", code=code.value)
            if code in _FINAL:
                self._done[user.user_id] = epoch, ""
