"""The policy's bundles as the protocol's grants (DESIGN 7)."""

from proxid.protocol.consent import NOTHING, Bundles, Grant
from proxid.runtime.config.policy import Policy


def bundles_of(policy: Policy) -> Bundles:
    """Grants by bundle id; the bundle that grants nothing is always among them."""
    bundles = {
        name: tuple(
            sorted(
                Grant(party, tuple(sorted(t.value for t in grant.types)), grant.as_.value)
                for party, grant in bundle.items()
            )
        )
        for name, bundle in policy.bundles.items()
    }
    return {NOTHING: (), **bundles}
