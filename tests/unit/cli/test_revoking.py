"""Revoking a key by hand: at the authority, then at the gateway."""

from pathlib import Path

import pytest

from proxid.cli.main import main
from proxid.clients.household.config import EnrolmentAuthorityConfig
from proxid.clients.household.enrolment import issue
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import CredentialError, SignatureInvalidError
from proxid.runtime.config import load
from proxid.runtime.provision.revocations import bring_revocations, brought, read_revocations
from tests.support.trial import provision


def test_a_revocation_is_signed_by_the_authority_and_brought_to_the_gateway(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    provision(tmp_path, people=["ann", "bob"])
    ea, answer = str(tmp_path / "ea"), tmp_path / "ann.revoked"
    assert main(["device", "enrol", "--ea", ea, "--revoke", "-u", "ann", "--answer", str(answer)]) == 0
    assert capsys.readouterr().out == "1 revoked\n"
    assert main(["init", "--into", str(tmp_path / "gateway"), "--import", str(answer)]) == 0
    ((name, revocation),) = brought(tmp_path / "gateway/data", ())
    assert [revocation] == read_revocations(answer)
    assert revocation is not None and revocation.user_id == "ann" and name == revocation.digest.hex()
    assert not list(brought(tmp_path / "gateway/data", [name]))
    # A key that is over is enrolled by nobody, and nobody revokes a name that was never enrolled.
    authority = load(EnrolmentAuthorityConfig, tmp_path / "ea/ea.toml")
    with pytest.raises(CredentialError, match="revoked"):
        issue(authority, [("ann", revocation.user_key)], 1, alike=True)
    (again,) = issue(authority, [("ann", SigningKey.generate().public)], 1, alike=True)
    assert again.replaces == (revocation.user_key,)
    assert main(["device", "enrol", "--ea", ea, "--revoke", "-u", "eve", "--answer", str(answer)]) == 2
    # Only the gateway has a use for it, and another authority's word counts for nothing.
    assert main(["init", "--into", str(tmp_path / "main-service"), "--import", str(answer)]) == 2
    with pytest.raises(SignatureInvalidError):
        bring_revocations(tmp_path, [revocation], SigningKey.generate().public)
    assert not (tmp_path / "revoked").exists()
