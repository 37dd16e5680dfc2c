"""What everybody knows of the simulated day before it begins: keys, policy, and so what its auditor trusts.

Apart from what makes the day, so that a process that only audits it need not load that.
"""

import random
from typing import Final

from auditor.trust import Trust
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey
from proxid.runtime.config.base import GovernedConfig
from proxid.runtime.config.terms import document_of, terms_of

EPOCH: Final = 20_000
NOW: Final = EPOCH * 86_400 + 3_600
NAME: Final = "main-service"
SEED: Final = 6
_POLICY: Final = {"parties": ["acme"], "bundles": {"everything": {"acme": {"types": ["general"], "as": "user_id"}}}}


class Known:
    """It follows from a seed.

    Attributes:
        source: of what is drawn afterwards. keys: of authority, both services and the party. auditor: its opening key.
        terms: of the policy.
    """

    def __init__(self, seed: int = SEED) -> None:
        self.source = random.Random(seed)  # noqa: S311 - a simulation, not a secret
        self.keys = {name: SigningKey(self.source.randbytes(32)) for name in ("ea", "is", "ms", "acme")}
        self.auditor = OpeningKey(self.source.randbytes(96))
        rules = GovernedConfig.model_validate(
            {"name": "day", "policy": _POLICY, "anonymiser": {"form": "pairs", "k": 10}}
        )
        self.terms = terms_of(document_of(rules))

    @property
    def trust(self) -> Trust:
        """What the auditor of the day knows."""
        keys, terms = self.keys, self.terms
        return Trust(
            service=NAME, authority=keys["ea"].public, screener=keys["is"].public, service_key=keys["ms"].public,
            opening=self.auditor, bundles=terms.bundles, party_keys={"acme": keys["acme"].public},
            settings=terms.settings, slots={}, season_seconds=0.0, accepted=lambda digest: terms,
        )  # fmt: skip
