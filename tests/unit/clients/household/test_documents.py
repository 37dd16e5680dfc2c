"""What a service says of a person in JSON is an object with its lists, or is refused."""

import pytest

from proxid.clients.household.rights import document_of
from proxid.errors import MessageInvalidError


@pytest.mark.parametrize(
    "share",
    [
        "", "5", "[]", "null", '"x"', "{", "[" * 100_000, b"\xff", '{"deliveries": "\\ud800"}', "{}",
        '{"deliveries": null}', '{"deliveries": {}}', '{"deliveries": [5]}', '{"deliveries": [[]]}',
    ],
    ids=lambda share: repr(share[:24]),
)  # fmt: skip
def test_what_is_no_document_is_refused(share: str | bytes) -> None:
    with pytest.raises(MessageInvalidError):
        document_of(share, "deliveries")


def test_a_document_is_read_with_its_lists_or_without() -> None:
    assert document_of(b'{"deliveries": [{"a": 1}]}', "deliveries") == {"deliveries": [{"a": 1}]}
    assert document_of("{}") == {}
