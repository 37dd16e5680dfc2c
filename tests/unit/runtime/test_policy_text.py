"""Who asks for a policy document by a digest that is none is told so, and nothing of where documents lie."""

from pathlib import Path

import pytest

from proxid.errors import PolicyError
from proxid.runtime.provision.policies import FOLDER, Held, PolicyFolder


@pytest.mark.parametrize("digest", [b"", bytes(31), bytes(32), bytes(200), bytes(4000)])
def test_a_digest_of_any_length_that_is_not_here_is_refused_by_the_rule(tmp_path: Path, digest: bytes) -> None:
    with pytest.raises(PolicyError, match="no policy document here"):
        Held(PolicyFolder(tmp_path)).text(digest)


def test_a_document_that_cannot_be_read_is_refused_without_its_path(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / f"{bytes(32).hex()}.json").write_text("{}")
    with pytest.raises(PolicyError) as error:
        Held(PolicyFolder(tmp_path)).text(bytes(32))
    assert str(tmp_path) not in f"{error.value}" and bytes(32).hex() not in f"{error.value}"
