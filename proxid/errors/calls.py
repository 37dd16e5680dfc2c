"""Failures of a call: who calls, when, how often, and whom the service needs to answer."""

from proxid.errors.codes import Code, ProxidError


class EpochError(ProxidError):
    """A message is for an epoch that is over or has not begun (DESIGN 5.2 check 2)."""

    code = Code.EPOCH_NOT_CURRENT


class ClockError(ProxidError):
    """This service cannot rely on its clock: it jumped, or differs from the other side's (DESIGN 4.3)."""

    code = Code.CLOCK_DOUBTED


class FreshnessError(ProxidError):
    """A message's time is outside the allowed skew (DESIGN 5.2 check 2)."""

    code = Code.NOT_FRESH


class NameAlikeError(ProxidError):
    """A new USER_ID is, or looks like, that of somebody who is registered."""

    code = Code.NAME_ALIKE


class RegistrationError(ProxidError):
    """A key is not registered, replaced, or its user is erased (DESIGN 5.2 check 3)."""

    code = Code.NOT_REGISTERED


class NonceReplayError(ProxidError):
    """A nonce was used before for another message (DESIGN 5.2 check 5)."""

    code = Code.REPLAYED


class RateLimitError(ProxidError):
    """A user sends more requests than allowed (DESIGN 5.2 check 6)."""

    code = Code.RATE_LIMITED


class OverloadedError(ProxidError):
    """The service has more to do than it can, and has not looked at the message (DESIGN 5.7).

    Args:
        pushback: seconds after which to come back.
    """

    code = Code.OVERLOADED

    def __init__(self, rule: str, pushback: float = 1.0) -> None:
        super().__init__(rule)
        self.pushback = pushback


class PeerRefusedError(ProxidError):
    """The caller's certificate does not allow this call (DESIGN 2)."""

    code = Code.PEER_REFUSED


class CredentialNeededError(ProxidError):
    """MS does not know this epoch key yet; send its credential."""

    code = Code.CREDENTIAL_NEEDED


class UpstreamError(ProxidError):
    """The Main Service cannot be reached."""

    code = Code.UPSTREAM_UNREACHABLE


class StoreError(ProxidError):
    """The store is away or full."""

    code = Code.STORE_UNAVAILABLE


class LogFullError(StoreError):
    """The evidence folder has no room: nothing that has to be logged is taken until it has (DESIGN 10.2)."""

    code = Code.LOG_FULL


class UpstreamRefusedError(ProxidError):
    """The Main Service refused a forwarded message, and has recorded that."""

    code = Code.UPSTREAM_REFUSED


class StaleKeyError(UpstreamRefusedError):
    """The Main Service does not hold (any more) what a message was sealed to: a new epoch key has to be fetched."""

    code = Code.EPOCH_KEY_STALE


class UpstreamClockError(UpstreamRefusedError):
    """The Main Service cannot rely on its clock."""

    code = Code.UPSTREAM_CLOCK_DOUBTED


class ResponderError(ProxidError):
    """A responder failed, took too long, or gave nothing that is an answer (DESIGN 5.5)."""

    code = Code.NOT_ANSWERED


class RefusedError(ProxidError):
    """The other side refused a call; `remote` is the code it gave."""

    code = Code.REFUSED

    def __init__(self, remote: Code, rule: str = "") -> None:
        super().__init__(rule or f"refused by the other side ({remote.value})")
        self.remote = remote


def refusal_of(code: Code) -> ProxidError:
    """The failure of a code as it is told again to whoever was refused by it before."""
    kinds = [ProxidError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return next(kind for kind in kinds if kind.code is code)("the message was refused before")


class ObjectedError(ProxidError):
    """The person has objected to any passing on: no grant is taken until that is taken back (DESIGN 11)."""

    code = Code.OBJECTED


class PolicyError(ProxidError):
    """Gateway and Main Service hold no policy document in common, or the one that an epoch goes by is not here."""

    code = Code.NO_COMMON_POLICY
