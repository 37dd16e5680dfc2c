"""Invitations, requests and admissions: who changed one on its way is found, and nothing of them is secret."""

import io
import json
import re
import tomllib
from pathlib import Path

import pytest

from proxid.cli.main import main
from proxid.clients.household.state import HouseholdState
from proxid.runtime.config.loading import load_section
from proxid.runtime.config.trust import Trust
from proxid.runtime.provision.invitation import JoinRequest, digest, read_letter, words_of
from proxid.runtime.provision.public import PublicFile, write_trust

HOUSE = ("init", "house", "--only", "ea,gateway", "--parties", "acme", "--gateway", "gw.example.org:7443")


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*HOUSE, "--main-service", "ms.example.org:7444"]) == 0
    for who in (("party", "acme"), ("main-service",), ("auditor",), ("device", "home", "work")):
        assert main(["invite", *who, "--house", "house"]) == 0


def join(capsys: pytest.CaptureFixture[str], file: str, *options: str) -> dict[str, object]:
    capsys.readouterr()
    assert main(["join", file, *options, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def admit(*options: str) -> int:
    return main(["admit", *options, "--house", "house"])


def test_words_stand_for_both_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    said = join(capsys, "house/invited/party-acme.invitation", "--into", "acme")
    assert re.fullmatch(r"([a-z]{5} ){4}[a-z]{5}", str(said["words"]))
    assert admit("acme/party-acme.request") == 2, "nobody is asked, and nobody read anything out"
    assert str(said["words"]) not in capsys.readouterr().err, "what is to be heard is not shown"
    assert admit("acme/party-acme.request", "--words", "zobat zobat zobat zobat zobat") == 2
    assert admit("acme/party-acme.request", "--words", str(said["words"]).upper().replace(" ", "-")) == 0
    changed = (
        (tmp_path / "house/invited/party-acme.invitation").read_text().replace("ms.example.org", "evil.example.org")
    )
    Path("other.invitation").write_text(changed)
    other = join(capsys, "other.invitation", "--into", "misled")
    assert admit("misled/party-acme.request", "--words", str(other["words"])) == 2
    assert "by another invitation" in capsys.readouterr().err


def test_keys_stay_where_they_are_made(capsys: pytest.CaptureFixture[str]) -> None:
    join(capsys, "house/invited/device-home.invitation", "--into", "home", "-u", "ann")
    assert admit("home/device-home.request", "--yes") == 0
    join(capsys, "house/admitted/device-home.admission", "--into", "home", "--yes")
    secrets = [path.read_bytes().split(b"\n")[-2][:40] for path in Path("home").rglob("*.key")]
    travelled = [*Path("house/invited").iterdir(), *Path("house/admitted").iterdir(), Path("home/device-home.request")]
    assert len(secrets) >= 2 and all(secret for secret in secrets)
    assert not any(secret in path.read_bytes() for path in travelled for secret in secrets)
    assert list(HouseholdState(Path("home/data")).users()) == ["ann"]


def test_an_admission_holds_if_the_ca_signed_it_for_this_request(capsys: pytest.CaptureFixture[str]) -> None:
    for who in ("party-acme", "main-service"):
        join(capsys, f"house/invited/{who}.invitation", "--into", who)
    assert admit("party-acme/party-acme.request", "main-service/main-service.request", "--yes") == 0
    admission = Path("house/admitted/party-acme.admission")
    key = PublicFile.read(Path("house/known/main-service.toml")).table()["sign"]
    other = PublicFile.read(Path("house/gateway/public.toml")).table()["sign"]
    assert key is not None and other is not None
    Path("changed").write_text(admission.read_text().replace(key, other))
    assert main(["join", "changed", "--into", "party-acme", "--yes"]) == 2
    assert "not this CA's" in capsys.readouterr().err
    assert main(["join", str(admission), "--into", "main-service"]) == 2, "it is somebody else's"
    capsys.readouterr()
    assert main(["join", str(admission), "--into", "nowhere", "--yes"]) == 2
    assert "try: proxid join party-acme.invitation comes first" in capsys.readouterr().err
    assert main(["join", str(admission), "--into", "party-acme", "--yes"]) == 0
    assert load_section(Trust, Path("party-acme/trust.toml")).service is not None
    # Somebody who joins later is told to whom it concerns, and to nobody else; the same request again changes nothing.
    join(capsys, "house/invited/device-home.invitation", "--into", "home", "-u", "ann")
    for _ in range(2):
        capsys.readouterr()
        assert admit("home/device-home.request", "--yes") == 0
        assert capsys.readouterr().out.split() == ["house/admitted/device-home.admission"]
    peers = load_section(Trust, Path("house/gateway/trust.toml")).peers
    assert {(peer.role, peer.name) for peer in peers} == {("party", "acme"), ("device", "home")}


def test_a_request_is_of_who_was_invited(capsys: pytest.CaptureFixture[str]) -> None:
    join(capsys, "house/invited/party-acme.invitation", "--into", "acme")
    join(capsys, "house/invited/device-home.invitation", "--into", "home")
    request, home = read_letter(Path("acme/party-acme.request")), read_letter(Path("home/device-home.request"))
    assert isinstance(request, JoinRequest) and isinstance(home, JoinRequest)
    for stolen in ({"csr": home.csr}, {"csr": ""}, {"public": home.public}):
        forged = request.model_copy(update=stolen)
        assert words_of(forged) != words_of(request)
        forged.write(Path("forged"))
        assert admit("forged", "--yes") == 2
    assert main(["invite", "party", "unknown", "--house", "house"]) == 2, "the policy does not name it"
    assert main(["invite", "ca", "--house", "house"]) == 2
    assert main(["join", "acme/party-acme.request"]) == 2
    assert main(["init", "other", "--only", "gateway"]) == 0
    assert main(["invite", "device", "home", "--house", "other"]) == 0
    assert main(["join", "other/invited/device-home.invitation", "--into", "home"]) == 2, "another house's"


def test_nothing_of_an_invitation_counts_before_its_words_were_confirmed(capsys: pytest.CaptureFixture[str]) -> None:
    invitation = Path("house/invited/party-acme.invitation")
    Path("changed").write_text(invitation.read_text().replace("gw.example.org", "evil.example.org"))
    join(capsys, "changed", "--into", "acme")
    assert load_section(Trust, Path("acme/trust.toml")) == Trust()
    assert main(["join", str(invitation), "--into", "acme"]) == 2, "addresses of the first are there"
    assert "acme/party.toml: is not by this invitation" in capsys.readouterr().err
    # Without a word from the host an admission is one of whoever wrote the invitation.
    join(capsys, str(invitation), "--into", "other")
    assert admit("other/party-acme.request", "--yes") == 0
    admission = "house/admitted/party-acme.admission"
    assert main(["join", admission, "--into", "other"]) == 2
    assert not Path("other/tls.crt").exists() and load_section(Trust, Path("other/trust.toml")) == Trust()
    join(capsys, admission, "--into", "other", "--yes")
    join(capsys, admission, "--into", "other")


def test_a_request_cannot_be_told_before_its_invitation(capsys: pytest.CaptureFixture[str]) -> None:
    file = "house/invited/party-acme.invitation"
    said = join(capsys, file, "--into", "acme")
    first = read_letter(Path("acme/party-acme.request"))
    assert join(capsys, file, "--into", "acme")["words"] == said["words"], "somebody wants to hear them again"
    other = read_letter(Path(file)).model_copy(update={"known": ()})
    other.write(Path("other"))
    join(capsys, "other", "--into", "acme")
    assert read_letter(Path("acme/party-acme.request")) != first.model_copy(update={"invitation": digest(other)})


def peers(folder: str) -> set[str]:
    return set(load_section(Trust, Path(folder, "trust.toml")).allow_list().values())


def revoke(folder: str, who: str) -> None:
    trust = load_section(Trust, Path(folder, "trust.toml"))
    left = tuple(peer for peer in trust.peers if f"{peer.role}/{peer.name}" != who)
    write_trust(Path(folder, "trust.toml"), trust.model_copy(update={"peers": left}))


def test_who_was_revoked_does_not_come_back_with_an_admission(capsys: pytest.CaptureFixture[str]) -> None:
    for who in ("auditor", "device-home", "device-work"):
        join(capsys, f"house/invited/{who}.invitation", "--into", who)
    admission = Path("house/admitted/auditor.admission")
    assert admit("auditor/auditor.request", "--yes") == 0
    Path("oldest").write_bytes(admission.read_bytes())
    join(capsys, str(admission), "--into", "auditor", "--yes")
    assert admit("device-home/device-home.request", "--yes") == 0
    join(capsys, str(admission), "--into", "auditor")
    for folder in ("auditor", "house/gateway"):
        assert "device/home" in peers(folder)
        revoke(folder, "device/home")
    assert main(["join", "oldest", "--into", "auditor"]) == 2, "there was a newer one"
    join(capsys, str(admission), "--into", "auditor")
    assert main([*HOUSE, "--main-service", "ms.example.org:7444"]) == 0
    # The newcomer's request comes together with all others, as they lie in one folder.
    assert admit("device-home/device-home.request", "device-work/device-work.request", "--yes") == 0
    join(capsys, str(admission), "--into", "auditor")
    assert "device/work" in peers("auditor") & peers("house/gateway")
    assert "device/home" not in peers("auditor") | peers("house/gateway")


def test_a_refused_request_changes_nothing_and_others_read_none(capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("first", "second"):
        join(capsys, "house/invited/main-service.invitation", "--into", folder)
    assert admit("first/main-service.request", "--yes") == 0
    before = {path: path.read_bytes() for path in Path("house").rglob("*") if path.is_file()}
    assert admit("second/main-service.request", "--yes") == 2, "another key is trusted"
    assert before == {path: path.read_bytes() for path in Path("house").rglob("*") if path.is_file()}
    assert {Path("house", sub).stat().st_mode & 0o077 for sub in (".", "invited", "known", "admitted")} == {0}


@pytest.mark.parametrize(
    ("typed", "status"), [("y", 0), ("words", 0), ("WORDS", 0), ("n", 2), ("", 2), ("zobat zobat zobat zobat zobat", 2)]
)
def test_at_the_question_the_words_may_be_typed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, typed: str, status: int
) -> None:
    words = str(join(capsys, "house/invited/party-acme.invitation", "--into", "acme")["words"])
    answer = {"words": words, "WORDS": words.upper().replace(" ", "-")}.get(typed, typed)
    asked = io.StringIO(f"{answer}\n")
    asked.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stdin", asked)
    assert admit("acme/party-acme.request") == status
    said = capsys.readouterr().err
    assert f"party acme reads out: {words}?" in said
    assert ("not admitted" in said) == (answer in ("n", "")) and ("the words differ" in said) == ("zobat" in answer)


def test_who_was_admitted_before_is_told_to_take_the_newcomer(capsys: pytest.CaptureFixture[str]) -> None:
    """An auditor refuses a household that it was not told of."""
    join(capsys, "house/invited/auditor.invitation", "--into", "auditor")
    assert admit("auditor/auditor.request", "--yes") == 0
    file = "house/admitted/auditor.admission"
    assert f"send {file} to auditor, who takes it: proxid join auditor.admission" in told(capsys)
    join(capsys, "house/invited/device-home.invitation", "--into", "home", "-u", "ann")
    assert admit("home/device-home.request", "--yes") == 0
    said = told(capsys)
    assert "send house/admitted/device-home.admission to device home, who takes it" in said
    assert f"send {file} to auditor again: until that takes it (proxid join auditor.admission)" in said
    assert "it refuses device home" in said
    assert admit("home/device-home.request", "--yes", "--json") == 0
    done = json.loads(capsys.readouterr().out)
    assert done["again"] == [file] and set(done["written"]) == {file, "house/admitted/device-home.admission"}


def told(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().err.split())


def test_where_metrics_are_served_is_said_by_who_serves_them(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["init", "other", "--only", "ea,gateway", "--parties", "acme"]
    assert main([*words, "--main-service-metrics", "127.0.0.1:9999"]) == 2
    assert "proxid join --metrics" in told(capsys) and not Path("other").exists()
    assert main([*words, "--gateway-metrics", "127.0.0.1:9998"]) == 0
    assert tomllib.loads(Path("other/gateway/gateway.toml").read_text())["metrics_listen"] == "127.0.0.1:9998"
    for role in ("main-service", "auditor"):
        join(capsys, f"house/invited/{role}.invitation", "--into", role, "--metrics", "127.0.0.1:9999")
        assert tomllib.loads(Path(role, f"{role}.toml").read_text())["metrics_listen"] == "127.0.0.1:9999"
    assert main(["join", "house/invited/party-acme.invitation", "--metrics", "127.0.0.1:9999"]) == 2
    assert "a party serves no metrics" in told(capsys)


def test_who_is_enrolled_is_shown_before(capsys: pytest.CaptureFixture[str]) -> None:
    join(capsys, "house/invited/device-home.invitation", "--into", "home", "-u", "ann", "-u", "bob b")
    assert admit("home/device-home.request", "--since", "2020-02-02", "--yes") == 0
    assert "device home: enrols 'ann', 'bob b', since 2020-02-02" in capsys.readouterr().err
