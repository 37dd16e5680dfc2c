"""How old accounts are (check 3 of DESIGN 10.4): credentials say what follows from the enrolment and the policy."""

from auditor.policies import Policies
from proxid.crypto.identity import Credential, Enrolment
from proxid.errors import CredentialError


def verify_season(policies: Policies, enrolment: Enrolment, credential: Credential) -> None:
    """LINKED: the log holds no time of the link, which was within the epoch; raises CredentialError."""
    judge = policies.of(credential.epoch)
    if judge is None:
        return
    epochs, ripe = judge.epochs, enrolment.since + judge.season_seconds
    if credential.seasoned and ripe > epochs.end(credential.epoch):
        raise CredentialError("credential says seasoned before the account was")
    if not credential.seasoned and ripe <= epochs.start(credential.epoch):
        raise CredentialError("credential says unseasoned although the account was seasoned")
