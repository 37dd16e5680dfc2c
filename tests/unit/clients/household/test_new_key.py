"""A new key in the place of somebody's, in their own folder: kept apart until the authority's word is there."""

import contextlib
import os
from pathlib import Path

import pytest

from proxid.clients.household.state import ConsentState, HouseholdState, Lasting
from proxid.crypto.identity import Enrolment
from proxid.errors import InputError
from tests.unit.clients.household.test_state import AUTHORITY, household

QUESTIONS = ["what is the news", "and the weather"]


def renewed(state: HouseholdState) -> Enrolment:
    """The authority's word for a new key of ann's."""
    return Enrolment.issue("ann", state.next_key("ann").public, 1, AUTHORITY)


def lived_in(folder: Path) -> HouseholdState:
    """Where ann has asked, chosen, and keeps what she asked."""
    state = household(folder, "ann", "bob")
    ann = state.users()["ann"]
    ann.history.start()
    for time, text in enumerate(QUESTIONS):
        ann.history.add(time, text)
    ann.epoch_key(100)
    ann.save_consent(100, ConsentState(2, "everything"))
    ann.keep_choice(Lasting("everything", frozenset({"acme"})))
    return state


def test_a_new_key_takes_the_place_once_the_authority_says_so(tmp_path: Path) -> None:
    state = lived_in(tmp_path)
    before, bob = state.users()["ann"].key.public, state.users()["bob"].key.public
    issued = renewed(state)
    assert state.next_key("ann").public == issued.user_key  # asked again, it is the same
    assert state.users()["ann"].key.public == before
    state.add_enrolment(issued, AUTHORITY.public)
    state.add_enrolment(issued, AUTHORITY.public)
    ann = HouseholdState(tmp_path).users()["ann"]
    assert ann.key.public == ann.enrolment.user_key == issued.user_key != before
    assert [asked.text for asked in ann.history.asked()] == QUESTIONS[::-1]
    assert ann.lasting == Lasting("everything", frozenset({"acme"}))
    # The epoch key was linked under the key before: there is another one, and nothing is chosen under it.
    assert ann.consent(100) == ConsentState() and not list(tmp_path.rglob("epoch-*"))
    assert HouseholdState(tmp_path).users()["bob"].key.public == bob
    assert not [path.name for path in tmp_path.rglob("*") if "next" in path.name or "part" in path.name]


@pytest.mark.parametrize("ended_after", range(8))
def test_wherever_it_is_broken_off_it_is_the_one_key_or_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended_after: int
) -> None:
    state = lived_in(tmp_path)
    before, issued = state.users()["ann"].key.public, renewed(state)
    honest, moved = {name: getattr(os, name) for name in ("replace", "unlink")}, []

    def broken_off(name: str) -> object:
        def act(*arguments: object, **more: object) -> object:
            if len(moved) == ended_after:
                raise KeyboardInterrupt
            moved.append(name)
            return honest[name](*arguments, **more)

        return act

    with monkeypatch.context() as patch:
        for name in honest:
            patch.setattr(os, name, broken_off(name))
        with contextlib.suppress(KeyboardInterrupt):
            state.add_enrolment(issued, AUTHORITY.public)
    ann = HouseholdState(tmp_path).users()["ann"]
    assert ann.key.public == ann.enrolment.user_key in {before, issued.user_key}
    assert [asked.text for asked in ann.history.asked()] == QUESTIONS[::-1]
    HouseholdState(tmp_path).add_enrolment(issued, AUTHORITY.public)
    ann = HouseholdState(tmp_path).users()["ann"]
    assert ann.key.public == ann.enrolment.user_key == issued.user_key
    assert [asked.text for asked in ann.history.asked()] == QUESTIONS[::-1] and ann.consent(100) == ConsentState()


def test_who_is_not_enrolled_has_no_key_to_replace(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nobody of that name"):
        household(tmp_path, "ann").next_key("zoe")
