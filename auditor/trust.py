"""What an auditor knows beforehand: public keys, the policy, the parameters that MS is held to."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.slotted.noise import PlaceNoise
from proxid.anonymise.slotted.places import PlaceRules
from proxid.anonymise.slotted.types import SlotSettings
from proxid.anonymise.split.settings import SplitSettings
from proxid.classify import Classifier
from proxid.crypto.hpke import OpeningKey
from proxid.errors import KeyInvalidError, SignatureInvalidError
from proxid.evidence.checkpoint import WITNESS
from proxid.protocol.consent import Bundles
from proxid.protocol.epochs import Epochs
from proxid.protocol.naming import Naming
from proxid.runtime.config.base import Floors
from proxid.runtime.config.terms import Terms


@dataclass(frozen=True, slots=True)
class Trust:
    """Keys are provisioned out of band, never read from a log.

    Attributes:
        service: MS id. authority: pk_EA. screener: pk_IS. service_key: pk_MS. opening: own HPKE key.
        witness: key of the witness whose cosignature must be there, or None; witness_lag: seconds (check 1).
        unwitnessed: a witness is demanded, and no key of one is known.
        places, noise: how fine, and under what noise, places may be shown.
        party_keys: parties' acknowledgement keys; older_party_keys: those that they had before.
        season_seconds: as IS is configured. naming: how records name people.
        clock_skew, epoch_grace: seconds, as the services are configured.
        pipeline: version of classifier and masking that must have been used; any if empty.
        accepted: the settings of a policy document that the operator accepted, by its digest; raises ConfigError.
        floors: below which no document may fall.
        split, content: of the form `split`, None if general queries leave as pairs; whether it has contents.

    What a policy says (bundles, settings, slots, places, noise, season, naming, pipeline) is that of the
    auditor's own configuration, until `policies.Policies.of` puts an epoch's document in its place.
    """

    service: str
    authority: bytes
    screener: bytes
    service_key: bytes
    opening: OpeningKey
    bundles: Bundles
    party_keys: dict[str, bytes]
    settings: Settings
    slots: dict[str, SlotSettings]
    places: PlaceRules = field(default_factory=PlaceRules)
    noise: PlaceNoise | None = None
    epochs: Epochs = field(default_factory=Epochs)
    season_seconds: float = 7 * 86_400.0
    naming: Naming = field(default_factory=lambda: Naming(30 * 86_400))
    classifier: Classifier | None = None
    """Runs the recorded pipeline again (check 4); None leaves the texts unchecked."""
    witness: bytes | None = None
    witness_name: str = WITNESS
    witness_lag: float = 120.0
    unwitnessed: bool = False
    pipeline: str = ""
    clock_skew: float = 120.0
    epoch_grace: float = 300.0
    accepted: Callable[[bytes], Terms | None] = lambda digest: None
    floors: Floors = field(default_factory=Floors)
    split: SplitSettings | None = None
    content: str = "rounds"
    older_party_keys: dict[str, tuple[bytes, ...]] = field(default_factory=dict)


def verify_party(trust: Trust, party: str, verify: Callable[[bytes], object]) -> bool:
    """Check what a party signed, by its key or one that it had before; False if none is known.

    Args:
        verify: checks it by one of them.

    Raises:
        SignatureInvalidError, KeyInvalidError: it was signed by none of them.
    """
    if party not in trust.party_keys:
        return False
    *others, last = trust.party_keys[party], *trust.older_party_keys.get(party, ())
    for key in others:
        with suppress(SignatureInvalidError, KeyInvalidError):
            verify(key)
            return True
    verify(last)
    return True
