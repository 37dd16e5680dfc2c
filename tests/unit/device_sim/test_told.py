"""What a device says of the releases that a consent allows, by the policy's form."""

import pytest

from device_sim.commands.ask import _FORMS, _form
from proxid.protocol.policy import PolicyDocument


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"anonymiser": {"form": "split"}}, "which subject a person asked about"),
        ({"anonymiser": {"form": "pairs"}}, "beside what somebody of a group asked"),
        ({"anonymiser": {}}, "beside what somebody of a group asked"),
        ({}, "beside what somebody of a group asked"),
    ],
)
def test_one_sentence_says_what_a_party_gets(settings: dict[str, object], said: str) -> None:
    assert said in _FORMS[_form(PolicyDocument((), {}, settings))]
