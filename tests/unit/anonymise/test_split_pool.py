"""Form `split` step by step: what opens a node, leaves at a tick, is raised, given up, shown (DESIGN 8.11)."""

from collections import Counter
from collections.abc import Iterable

import pytest

from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.pool import SplitPool
from proxid.anonymise.split.rounds import check, show
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Close, SplitReason, SplitRecord
from proxid.errors import ConfigError, InputError, PoolClosedError, RestrictionError

DRAWS = Draws(b"s" * 32)
AUDIENCE = "general|p"


def settings(**changed: object) -> SplitSettings:
    """Nodes and rounds of three people, four ticks of an hour."""
    given = {"k": 2, "margin": 0, "min_text_users": 2, "bucket_s": 3600, "epoch_s": 14_400} | changed
    return SplitSettings(**given)  # type: ignore[arg-type]


def record(person: str, *path: str, at: int = 0, audience: str = AUDIENCE) -> SplitRecord:
    return SplitRecord(f"{audience}{person}{path}{at}".encode(), person, audience, path, ())


def pool_with(records: Iterable[SplitRecord], **changed: object) -> SplitPool:
    pool = SplitPool(settings(**changed), DRAWS)
    for one in records:
        assert pool.submit(one)
    return pool


def crowd(*nodes: str, people: int = 3, below: tuple[str, ...] = ()) -> list[SplitRecord]:
    return [record(f"u{i}", node, *below) for node in nodes for i in range(people)]


def close_of(pool: SplitPool) -> Close:
    (_, close), = pool.close()  # fmt: skip
    return close


def test_a_node_opens_for_distinct_people() -> None:
    pool = pool_with([*crowd("a", "b", "c"), record("u0", "d"), record("u0", "d", at=1), record("u1", "d")])
    leaving = pool.tick(1)[AUDIENCE]
    assert Counter(x.node for x in leaving) == {("a",): 3, ("b",): 3, ("c",): 3}
    pool.submit(record("u2", "a", at=1))
    pool.submit(record("u2", "d"))
    assert pool.tick(2) == {}, "two nodes: they wait"
    for i, node in enumerate(("a", "b", "b")):
        pool.submit(record(f"w{i}", node))
    assert Counter(x.node for x in pool.tick(3)[AUDIENCE]) == {("a",): 2, ("b",): 2, ("d",): 4}


def test_no_node_has_over_half_of_a_tick() -> None:
    pool = pool_with([*crowd("a", "b"), *crowd("c", people=7)])
    assert pool.tick(1) == {}
    pool.submit(record("u5", "a"))
    assert len(pool.tick(2)[AUDIENCE]) == 14


def test_audiences_leave_apart() -> None:
    others = [record(f"u{i}", node, audience="general|q") for node in "ab" for i in range(3)]
    assert set(pool_with([*crowd("a", "b", "c"), *others]).tick(1)) == {AUDIENCE}


def test_the_surplus_is_given_up_at_the_close() -> None:
    close = close_of(pool_with([*crowd("a", "b"), *crowd("c", people=9)]))
    assert Counter(x.node for x in close.leaving) == {("a",): 3, ("b",): 3, ("c",): 6}
    assert {x.reason for x in close.suppressed} == {SplitReason.TICK_UNIFORM}
    assert next(node.sizes for node in close.contents.nodes if node.node == ("c",)) == (6,)


def test_under_three_nodes_nothing_leaves() -> None:
    close = close_of(pool_with(crowd("a", "b")))
    assert not close.leaving
    assert not close.contents.rows
    assert len(close.suppressed) == 6


def test_at_level_one_nothing_is_raised() -> None:
    close = close_of(pool_with([*crowd("a", "b", "c"), *crowd("d", people=2)]))
    assert Counter(x.reason for x in close.suppressed) == {SplitReason.TOO_FEW: 2}
    assert not any(x.raised for x in close.leaving)


def test_the_parent_opens_for_who_came_up() -> None:
    """Whoever was there by themselves does not count, and what was raised is no content."""
    few = [record(f"v{i}", "x", f"leaf{i}") for i in range(3)]
    there = [record(f"w{i}", "y") for i in range(2)]
    moved = [record("w9", "y", "leaf")]
    close = close_of(pool_with([*crowd("a", "b", "c", below=("d",)), *few, *there, *moved], level=2))
    raised = {(x.record.person, x.node) for x in close.leaving if x.raised}
    assert raised == {(f"v{i}", ("x",)) for i in range(3)}
    assert {x.record.person for x in close.suppressed} == {"w0", "w1", "w9"}
    assert {node.node for node in close.contents.nodes} == {("a", "d"), ("b", "d"), ("c", "d")}


def test_raising_goes_on_to_depth_one() -> None:
    few = [record(f"v{i}", "x", f"y{i}", "z") for i in range(3)]
    close = close_of(pool_with([*crowd("a", "b", "c", below=("d", "e")), *few], level=3))
    assert {x.node for x in close.leaving if x.raised} == {("x",)}


def test_whoever_withdrew_is_in_no_round() -> None:
    pool = pool_with(crowd("a", "b", "c", people=4))
    pool.tick(1)
    pool.submit(record("u0", "a", at=1))
    waited, left = pool.withdraw("u0", {AUDIENCE, "general|q"})
    assert (len(waited), len(left)) == (1, 3)
    assert {node.sizes for node in close_of(pool).contents.nodes} == {(3,)}
    assert pool.withdraw("u1") == ((), ()), "the epoch is closed: nothing is formed again"


def test_one_record_is_taken_back() -> None:
    pool = pool_with(crowd("a", "b", "c"))
    assert pool.remove(record("u0", "a").id)
    assert not pool.remove(record("u0", "a").id)
    assert pool.tick(1) == {}, "two people are left at one of three nodes"


def test_left_overs_are_counted() -> None:
    again = [record("u0", "a", at=i) for i in range(1, 4)] + [record("u1", "a", at=1)]
    close = close_of(pool_with([*crowd("a", "b", "c", people=6), *again]))
    first = close.contents.nodes[0]
    assert (first.sizes, first.withheld, close.contents.withheld) == ((6,), 4, 4)


def test_rows_do_not_depend_on_the_order_of_arrival() -> None:
    records = [
        SplitRecord(bytes([i]), f"u{i % 5}", AUDIENCE, (node, "x" if i % 3 else "y"), (f"t{i % 2}",))
        for i, node in enumerate("abcabcabcabcabcabcabcabcabcabc")
    ]
    assert close_of(pool_with(records)).contents == close_of(pool_with(reversed(records))).contents


def test_what_most_have_in_common_is_not_shown() -> None:
    """Nor what lies under it, nor a text one of whose units most carry."""
    said = [(("a", "b", "c" if i % 2 else "d"), ("find b", "b")) for i in range(9)] + [(("a", "e"), ())]
    assert show(said, 1, settings()) == {(("a",), ""): 10}
    kept = [(path, ()) for path, _ in said[:8]] + [(("a", "e"), ())] * 2
    assert show(kept, 1, settings()) == {(("a", "b", "c"), ""): 4, (("a", "b", "d"), ""): 4, (("a", "e"), ""): 2}
    texts = [(("a",), (f"find b {i % 2}", "b")) for i in range(9)] + [(("a",), ())]
    assert show(texts, 1, settings()) == {(("a",), ""): 10}


def test_sensitive_subtrees_have_a_lower_share() -> None:
    said = [(("a", "b"), ())] * 6 + [(("a", "c"), ())] * 4
    assert set(show(said, 1, settings())) == {(("a", "b"), ""), (("a", "c"), "")}
    assert set(show(said, 1, settings(sensitive=(("a", "b"),)))) == {(("a",), ""), (("a", "c"), "")}


def test_text_or_else_the_longest_unit() -> None:
    """Counted among the records of the shown prefix: a pair that one record carries is shown of nobody."""
    said = [
        (("a", "b"), ("one", "long unit", "unit")), (("a", "b"), ("two", "long unit", "unit")),
        (("a", "b"), ("three", "unit")), (("a", "c"), ("one", "long unit", "unit")), (("a", "c"), ("four",)),
    ]  # fmt: skip
    shown = show(said, 1, settings(max_share=1.0))
    assert shown[("a", "b"), "long unit"] == 2
    assert shown[("a", "b"), "unit"] == 1
    assert shown[("a", "c"), ""] == 2


def test_a_round_that_breaks_an_invariant_is_withheld() -> None:
    three = crowd("a")
    check(three, ("a",), settings())
    for wrong in (three[:2], [*three, three[0]], [*three, record("u0", "a", at=1)], [*three, record("u8", "b")]):
        with pytest.raises(RestrictionError):
            check(wrong, ("a",), settings())


def test_steps_that_make_no_sense_are_refused() -> None:
    pool = pool_with(crowd("a"))
    assert not pool.submit(crowd("a")[0])
    for path in ((), ("a", "")):
        with pytest.raises(InputError):
            pool.submit(record("u", *path))
    for number in (0, 4):
        with pytest.raises(InputError):
            pool.tick(number)
    pool.tick(2)
    with pytest.raises(InputError):
        pool.tick(2)
    list(pool.close())
    with pytest.raises(PoolClosedError):
        pool.tick(3)
    with pytest.raises(PoolClosedError):
        pool.submit(record("u9", "a"))
    assert not pool.remove(crowd("a")[0].id)


@pytest.mark.parametrize(
    "wrong",
    [{"k": 0}, {"margin": -1}, {"level": 0}, {"level": 33}, {"min_text_users": 0}, {"max_share": 0.0},
     {"max_share": 1.1}, {"sensitive_share": 0.0}, {"sensitive": ((),)}, {"bucket_s": 0}, {"bucket_s": 5000},
     {"k": 70_000}],
)  # fmt: skip
def test_settings_out_of_range(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        settings(**wrong)


def test_ticks_and_buckets() -> None:
    own = settings()
    assert (own.n, own.threshold, own.ticks) == (3, 2, 4)
    assert [own.tick(since) for since in (-5, 0, 3599, 3600, 10_800, 14_400, 99_999)] == [0, 0, 0, 1, 3, 3, 3]
    assert own.bucket(7300.5) == 7200


def test_lots_are_of_their_own() -> None:
    drawn = {DRAWS.entry(b"x"), DRAWS.place(b"x")[:16], DRAWS.surplus(b"x")[:16], Draws(b"t" * 32).entry(b"x")}
    assert len(drawn) == 4
    with pytest.raises(InputError):
        Draws(b"short")
