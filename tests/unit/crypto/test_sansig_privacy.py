"""Privacy and unlinkability as byte equality (DESIGN 4.1): what was in the user block leaves no trace."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proxid.crypto.sansig import Direction, Limit, Message, SignedMessage, sanitize, sign
from tests.support import scene

WANTED = scene.sanitized().encode()


@given(st.binary(max_size=200))
@settings(max_examples=60)
def test_equal_immutable_parts_sanitise_to_equal_bytes(user_block: bytes) -> None:
    original = scene.request(user_block, *scene.BLOCKS[1:])
    assert scene.sanitized(original).encode() == WANTED


@given(st.binary(min_size=6, max_size=200))
@settings(max_examples=60)
def test_the_sanitised_message_holds_no_byte_of_the_original_user_block(user_block: bytes) -> None:
    """It is a function of other things alone; and no six bytes in a row of the block stand in it by accident."""
    rest = scene.request(b"", *scene.BLOCKS[1:]).encode()
    assume(all(user_block[i : i + 6] not in rest + WANTED for i in range(len(user_block) - 5)))
    sent = scene.sanitized(scene.request(user_block, *scene.BLOCKS[1:])).encode()
    assert all(user_block[i : i + 6] not in sent for i in range(len(user_block) - 5))


def test_the_originals_own_signature_over_the_user_block_is_gone() -> None:
    original = scene.request()
    assert original.full not in scene.sanitized(original).encode()
    assert original.fixed in scene.sanitized(original).encode()


@given(st.binary(max_size=40), st.binary(max_size=40))
@settings(max_examples=40)
def test_responses_and_records_too(before: bytes, also: bytes) -> None:
    """Any direction: two originals that differ in the user block alone become one message."""
    fields = {"direction": Direction.RECORD, "limit": Limit.LINKED_ALIAS, "signer": scene.SERVICE.public, "blocks": 2}
    expected = scene.expectation(**fields)
    originals = [sign(Message(scene.header(**fields), (block, b"body")), scene.SERVICE) for block in (before, also)]
    sent = {sanitize(o, b"alias", scene.SCREENER, expected, scene.allow).encode() for o in originals}
    assert len(sent) == 1


def test_a_decoded_message_sanitises_to_the_same_bytes() -> None:
    """Nothing that was cached on the way in changes what goes out."""
    assert scene.sanitized(SignedMessage.decode(scene.request().encode())).encode() == WANTED
    touched = scene.request()
    assert touched.session_id
    assert scene.sanitized(touched).encode() == WANTED


def test_representations_hold_neither_blocks_nor_names() -> None:
    """What a careless log line or a debugger would print of the objects that hold identities."""
    shown = [scene.request(), scene.sanitized(), scene.request().message, scene.enrolment(), scene.link()]
    for value in shown:
        for text in (repr(value), str(value), f"{value}"):
            assert scene.USER_ID not in text
            assert scene.PROX_ID not in text
            assert "sealed body" not in text
            for key in (scene.USER.public,):
                assert repr(key) not in text
    assert repr(scene.DEVICE.public) not in repr(scene.link())
