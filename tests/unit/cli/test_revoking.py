"""Revoking a key by hand: at the authority, then at the gateway."""

import os
from pathlib import Path

import pytest

from proxid.cli.main import main
from proxid.clients.household.config import EnrolmentAuthorityConfig
from proxid.clients.household.enrolment import issue
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.revocation import Revocation
from proxid.errors import CredentialError, InputError, SignatureInvalidError
from proxid.runtime.config import load
from proxid.runtime.provision.revocations import bring_revocations, brought, forget_revocations, read_revocations
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
    assert revocation is not None and revocation.user_id == "ann" and name[0] == revocation.digest.hex()
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


def _brought(folder: Path) -> tuple[Path, Revocation]:
    authority = SigningKey.generate()
    one = Revocation.issue("ann", SigningKey.generate().public, 1, authority)
    bring_revocations(folder, [one], authority.public)
    return folder / "revoked" / one.digest.hex(), one


def test_what_cannot_be_read_now_is_read_later_and_what_is_damaged_until_it_changes(tmp_path: Path) -> None:
    path, one = _brought(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:40])
    ((key, nothing),) = brought(tmp_path, ())
    assert nothing is None and not list(brought(tmp_path, [key]))
    path.write_bytes(whole)
    os.utime(path, ns=(1, 1))
    ((_, found),) = brought(tmp_path, [key])
    assert found == one
    # A link to itself cannot be read by anybody, root included: what else lies there is read all the same.
    (tmp_path / "revoked/0").symlink_to("0")
    left = brought(tmp_path, ())
    assert next(iter(left))[1] == one
    with pytest.raises(InputError):
        list(left)
    (tmp_path / "revoked/0").unlink()
    path.rename(tmp_path / "elsewhere")
    (tmp_path / "revoked").rmdir()
    (tmp_path / "revoked").symlink_to("revoked")
    with pytest.raises(InputError):
        list(brought(tmp_path, ()))


def test_nothing_of_who_is_erased_stays_in_the_folder(tmp_path: Path) -> None:
    path, one = _brought(tmp_path)
    other, _ = _brought(tmp_path)
    half = path.with_name(path.name + ".new")
    half.write_bytes(path.read_bytes())
    forget_revocations(tmp_path, lambda user_id: user_id != "ann")
    assert path.exists() and other.exists()
    forget_revocations(tmp_path, lambda user_id: user_id == one.user_id)
    assert not list((tmp_path / "revoked").iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_root_brings_is_the_data_folders_owners(tmp_path: Path) -> None:
    os.chown(tmp_path, 1234, 1234)
    for folder in (tmp_path, tmp_path / "data"):
        path, _ = _brought(folder)
        assert {one.stat().st_uid for one in (folder, path.parent, path)} == {1234}
