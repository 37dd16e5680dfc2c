"""An epoch of form `split` of which an erasure hides something is checked by what is left of it (DESIGN 10.4)."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import Report
from main_service.jobs import splitting
from proxid.anonymise.split import rounds
from proxid.anonymise.split.types import Leaving
from proxid.protocol.rights import Right
from tests.support.split_house import NODES, House, begun, clean, contents, house, released, served
from tests.support.trial import PEOPLE

PARTLY = "entries.partly_checked"
Lie = Callable[[pytest.MonkeyPatch], None]


async def first_tick(trial: House, options: dict[str, Any]) -> None:
    """Who asked three times at each node, and some twice, has entries that left."""
    await trial.evening()
    for clock in trial.clocks.values():
        clock.passed += options["epoch_seconds"] // 4
    await released(trial)
    await served(trial)


def rounds_of_two(patch: pytest.MonkeyPatch) -> None:
    honest = splitting.form

    def form(audience: str, left: Any, settings: Any, draws: Any) -> Any:
        return honest(audience, left, dataclasses.replace(settings, k=1, margin=0), draws)

    patch.setattr(splitting, "form", form)


def records_in_no_round(patch: pytest.MonkeyPatch) -> None:
    """Some people's records are neither shown nor counted."""
    honest = splitting.form

    def form(audience: str, left: Any, settings: Any, draws: Any) -> Any:
        left = list(left)
        some = {one.record.person for one in left[:2]}
        return honest(audience, [one for one in left if one.record.person not in some], settings, draws)

    patch.setattr(splitting, "form", form)


def records_in_rounds_twice(patch: pytest.MonkeyPatch) -> None:
    """Records that never left fill a round up."""
    honest = splitting.form

    def form(audience: str, left: Any, settings: Any, draws: Any) -> Any:
        made = [one._replace(record=one.record._replace(id=bytes(32 - 1) + b"%c" % i)) for i, one in enumerate(left)]
        return honest(audience, [*left, *made], settings, draws)

    patch.setattr(splitting, "form", form)


def deeper_nodes(patch: pytest.MonkeyPatch) -> None:
    honest = splitting.batched_header

    def header(contents: Any, epoch: int, number: int, digest: bytes) -> bytes:
        deep = tuple(node._replace(node=(*node.node, "leaf")) for node in contents.nodes)
        return honest(dataclasses.replace(contents, nodes=deep), epoch, number, digest)

    patch.setattr(splitting, "batched_header", header)


def another_sum(patch: pytest.MonkeyPatch) -> None:
    honest = splitting.batched_header

    def header(contents: Any, epoch: int, number: int, digest: bytes) -> bytes:
        nodes = (contents.nodes[0]._replace(withheld=contents.nodes[0].withheld - 1), *contents.nodes[1:])
        said = honest(contents, epoch, number, digest)
        other = honest(dataclasses.replace(contents, nodes=nodes), epoch, number, digest)
        old = b'"withheld":%d' % (contents.withheld - 1)
        assert old in other
        return other.replace(old, b'"withheld":%d' % contents.withheld) if said != other else said

    patch.setattr(splitting, "batched_header", header)


@pytest.mark.parametrize(
    "tell", [rounds_of_two, records_in_no_round, records_in_rounds_twice, deeper_nodes, another_sum]
)
async def test_contents_are_checked_although_somebody_was_erased(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tell: Lie
) -> None:
    options = begun()
    async with house(tmp_path, **options) as trial:
        await first_tick(trial, options)
        await trial.exercise(Right.ERASE, PEOPLE[7])
        tell(monkeypatch)
        await trial.close()
        report = await trial.audit()
        assert {one.rule for one in report.violations} == {5}, report.violations


async def test_what_rows_show_cannot_be_seen_and_is_not_called_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The strongest attack that is left: rounds of honest sizes, shown without the ladder."""
    honest, rows = splitting.form, []

    def form(*arguments: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(rounds, "show_each", lambda contents, *_: [(path, said[0]) for path, said in contents])
            made = honest(*arguments)
        rows.extend(made.rows)
        return made

    async with house(tmp_path) as trial:
        await trial.consent()
        for text, people in (("news of today", PEOPLE), ("travel of today", PEOPLE), ("health of today", PEOPLE[2:])):
            await trial.ask(text, people)
        await trial.ask("health alone", PEOPLE[:2])
        await trial.settle()
        await trial.exercise(Right.ERASE, PEOPLE[7])
        monkeypatch.setattr(splitting, "form", form)
        await trial.close()
        limited(await trial.audit())
        assert [row.records for row in rows if row.text == "health alone"] == [2], "fewer than carry it honestly"


def one_node_alone(patch: pytest.MonkeyPatch) -> None:
    def leaving(waiting: Any, opened: Any, settings: Any, draws: Any) -> Any:
        return [
            Leaving(record, node) for node, records in waiting.items() if node[-1] == "news" for record in records
        ], []

    patch.setattr(splitting, "leaving_at_close", leaving)


def nodes_of_few(patch: pytest.MonkeyPatch) -> None:
    def leaving(waiting: Any, opened: Any, settings: Any, draws: Any) -> Any:
        return [Leaving(record, node) for node, records in waiting.items() for record in records], []

    patch.setattr(splitting, "leaving_at_close", leaving)


def entries_under_the_wrong_node(patch: pytest.MonkeyPatch) -> None:
    def leaving(waiting: Any, opened: Any, settings: Any, draws: Any) -> Any:
        nodes = sorted(waiting)
        turned = dict(zip(nodes, [*nodes[1:], nodes[0]], strict=True))
        return [Leaving(record, turned[node]) for node, records in waiting.items() for record in records], []

    patch.setattr(splitting, "leaving_at_close", leaving)


def another_order(patch: pytest.MonkeyPatch) -> None:
    honest = splitting.portions

    def portions(tick: int, leaving: Any, draws: Any) -> Any:
        for number, lot in honest(tick, leaving, draws):
            yield number, lot[::-1]

    patch.setattr(splitting, "portions", portions)


@pytest.mark.parametrize("tell", [one_node_alone, nodes_of_few, entries_under_the_wrong_node, another_order])
async def test_entries_are_checked_although_somebody_was_erased(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tell: Lie
) -> None:
    async with house(tmp_path) as trial:
        await trial.evening()
        if tell is nodes_of_few:
            await trial.ask("weather tomorrow", PEOPLE[:2])
            await trial.settle()
        await trial.exercise(Right.ERASE, PEOPLE[7])
        tell(monkeypatch)
        await trial.close()
        report = await trial.audit()
        assert 5 in {one.rule for one in report.violations}, report.violations


def limited(report: Report) -> None:
    clean(report)
    assert report.counts[PARTLY] and 5 in report.partly and report.as_dict()["partly"] == [5]


@pytest.mark.parametrize("stored", [pytest.param(False, marks=pytest.mark.slow), True])
async def test_somebody_is_erased_after_a_tick(tmp_path: Path, stored: bool) -> None:
    options = begun()
    async with house(tmp_path, **options) as trial:
        await first_tick(trial, options)
        await trial.receive()
        if stored:
            clean(await trial.audit(state=True))
        await trial.exercise(Right.ERASE, PEOPLE[0])
        await trial.consent("nothing", PEOPLE[1:2])
        await trial.ask("news again", PEOPLE[2:])
        await trial.settle()
        await trial.close()
        await trial.receive()
        report = await trial.audit(state=stored)
        clean(report)
        if not stored:
            limited(report)


async def test_somebody_is_erased_before_anything_left(tmp_path: Path) -> None:
    async with house(tmp_path) as trial:
        await trial.evening()
        await trial.exercise(Right.ERASE, PEOPLE[0])
        await trial.close()
        assert len(contents((await trial.receive())["acme"])) == 1
        limited(await trial.audit())


@pytest.mark.parametrize(
    "gone", [pytest.param(1, marks=pytest.mark.slow), 3, pytest.param(len(PEOPLE), marks=pytest.mark.slow)]
)
async def test_those_whom_a_node_needed_are_erased_afterwards(tmp_path: Path, gone: int) -> None:
    """Four people at each node, as many as it takes; then fewer of them, or nobody, can be read."""
    async with house(tmp_path) as trial:
        await trial.consent()
        for at, node in enumerate(NODES):
            await trial.ask(f"{node} of today", (PEOPLE * 2)[at : at + 4])
        await trial.settle()
        await trial.close()
        assert len(contents((await trial.receive())["acme"])) == 1
        for user in PEOPLE[:gone]:
            await trial.exercise(Right.ERASE, user)
        limited(await trial.audit())
