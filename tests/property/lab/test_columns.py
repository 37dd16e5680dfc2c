"""The columnar mix forms the same groups and shows the same texts as the exact pool, on any input (DESIGN 8.4-8.7)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.anonymise.mix.pool import Pool
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Outcome, Record
from proxid.classify.semantic_units import semantic_units
from proxid.lab.columns.engines import anonymise, mix_engine, shown_log
from proxid.lab.columns.text import normalise
from proxid.lab.logs import Dictionaries, LogBatch

PATHS = ["A", "A/B", "A/B/C", "A/B/D", "A/E", "F", "F/G", "F/G/H/I"]
TEXTS = [
    "canon camera",
    "Canon  Camera",
    "the canon camera",
    "camera",
    "red canon camera lens",
    "",
    "  ",
    "what is it",
    "42",
    "café noir",
    "CAFÉ NOIR",
    "ｃａｆｅ́ noir",
    "don't panic now",
    "foo-bar baz",
    "one two three four five six",
]


def make_batch(rows: list[tuple[int, int, int, float]], known: Dictionaries) -> LogBatch:
    """A batch of (user, text, path, time) numbers; path -1 is no category."""
    none = np.full(len(rows), -1, np.int32)
    user, text, path, time = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [], [])
    nodes = [known.tree.add(PATHS[p]) if p >= 0 else -1 for p in path]
    return LogBatch(
        known.user.encode([f"u{u}" for u in user]),
        known.query.encode([TEXTS[t] for t in text]),
        np.array(nodes, np.int32),
        np.array(time, np.float64),
        none,
        none,
        np.arange(len(rows), dtype=np.int64),
        none,
    )


def units(text: str) -> tuple[bytes, ...]:
    """What the ladder looks at: the normal text, then its units."""
    normal = normalise(text)
    return tuple(unit.encode() for unit in (normal, *semantic_units(normal.split()))) if normal else ()


def pool_groups(rows: list[tuple[int, int, int, float]], chosen: Settings, ladder: bool) -> tuple[list, dict]:
    """Groups of the exact pool, each with whether a time was seen, and its counts of what was suppressed.

    Its clock begins with the first time that there is.
    """
    pool, groups, counts, seen = Pool(chosen), [], {}, False
    pool.clock = next((time for _, _, path, time in rows if path >= 0 and not np.isnan(time)), 0.0)

    def note(reason: str) -> None:
        counts[reason] = counts.get(reason, 0) + 1

    def step(done) -> None:
        groups.extend((group, seen) for group in done.groups)
        for gone in done.suppressed:
            note(str(gone.reason))

    for row, (user, text, path, time) in enumerate(rows):
        if path < 0:
            note("no category")
            continue
        seen = seen or not np.isnan(time)
        while True:
            done = pool.tick(pool.clock if np.isnan(time) else time)
            step(done)
            if not done.more:
                break
        shown = units(TEXTS[text]) if ladder else ()
        record = Record(
            str(row).encode(),
            f"u{user}",
            True,
            "all",
            tuple(PATHS[path].split("/")),
            shown,
            pool.clock if np.isnan(time) else time,
        )
        result = pool.submit(record)
        if result.outcome is not Outcome.BUFFERED:
            note(str(result.outcome))
        groups.extend((group, seen) for group in result.groups)
    while True:
        done = pool.close()
        step(done)
        if not done.more:
            return groups, counts


def expected(groups: list, rows: list, ladder: bool) -> list:
    """(number, bucket or None, {row: (category, text)}) of each group of the pool."""
    out = []
    for group, seen in groups:
        members = {}
        for member in group.members:
            row = int(member.record)
            _, text, path, _ = rows[row]
            words = units(TEXTS[text])
            if group.raised:
                members[row] = ("/".join(group.node), "")
            elif not ladder:
                members[row] = (PATHS[path], TEXTS[text])
            else:
                members[row] = (PATHS[path], "" if member.unit is None else words[member.unit].decode())
        out.append((group.number, group.bucket if seen else None, members))
    return out


def column_groups(log: LogBatch, known: Dictionaries) -> list:
    """The same of a released log."""
    out = []
    for number in range(1, int(log.group.max(initial=0)) + 1):
        group = log.take(log.group == number)
        members = {
            row: (known.category[category], known.query[query])
            for row, category, query in zip(
                group.row.tolist(), group.category.tolist(), group.query.tolist(), strict=True
            )
        }
        times = {None if np.isnan(time) else int(time) for time in group.time.tolist()}
        assert len(times) == 1
        out.append((number, times.pop(), members))
    return out


rows_of = st.lists(
    st.tuples(
        st.integers(0, 6),
        st.integers(0, len(TEXTS) - 1),
        st.integers(-1, len(PATHS) - 1),
        st.one_of(st.floats(-5000, 5000, width=32), st.just(float("nan")), st.just(float("nan"))),
    ),
    max_size=120,
)
chosen_of = st.builds(
    Settings,
    k=st.integers(1, 3),
    margin=st.integers(0, 2),
    level=st.integers(0, 4),
    max_delay_records=st.one_of(st.none(), st.integers(1, 20)),
    max_delay_s=st.one_of(st.none(), st.floats(1, 3000)),
    min_text_users=st.integers(1, 3),
    person_cap=st.one_of(st.none(), st.integers(1, 3)),
    time_bucket_s=st.sampled_from([1, 60, 900]),
)


@settings(max_examples=150, deadline=None)
@given(rows_of, chosen_of, st.booleans(), st.integers(1, 120))
def test_same_groups_as_the_pool(rows: list, chosen: Settings, ladder: bool, size: int) -> None:
    """Whatever arrives, and however it is cut into batches."""
    known = Dictionaries()
    batch = make_batch(rows, known)
    engine = mix_engine(known, chosen, ladder=ladder, seed=3)
    parts = [shown_log(engine.feed(batch.take(slice(at, at + size))), known) for at in range(0, len(rows), size)]
    log = LogBatch.concatenate(parts)
    waiting = engine.waiting
    engine.finish()
    groups, counts = pool_groups(rows, chosen, ladder)
    assert column_groups(log, known) == expected(groups, rows, ladder)
    assert engine.suppressed == counts
    assert waiting == counts.get("epoch_end", 0) and engine.waiting == 0


@settings(max_examples=100, deadline=None)
@given(rows_of, chosen_of, st.booleans())
def test_restrictions_hold_in_every_group(rows: list, chosen: Settings, ladder: bool) -> None:
    """Restrictions 4.1 and 4.2, everybody gives one and receives one, one cycle (DESIGN 8.4)."""
    known = Dictionaries()
    batch = make_batch(rows, known)
    log, _ = anonymise(batch, mix_engine(known, chosen, ladder=ladder))
    for number in np.unique(log.group).tolist():
        group = log.take(log.group == number)
        gives = dict(zip(batch.user[group.row].tolist(), group.user.tolist(), strict=True))
        assert len(gives) == len(group) == chosen.n
        at, steps = next(iter(gives)), 0
        start = at
        while steps == 0 or at != start:
            at, steps = gives[at], steps + 1
        assert steps == chosen.n


@settings(max_examples=60, deadline=None)
@given(rows_of, chosen_of, st.integers(1, 40))
def test_forgetting_texts_changes_nothing(rows: list, chosen: Settings, size: int) -> None:
    """Numbering the texts anew between batches gives the same release."""
    logs = []
    for forget in (False, True):
        known, out = Dictionaries(), []
        engine = mix_engine(known, chosen, seed=5)
        for at in range(0, len(rows), size):
            part = make_batch(rows[at : at + size], known)
            log = shown_log(engine.feed(part), known)
            texts, users = known.query.decode(log.query), known.user.decode(log.user)
            out += zip(
                texts, users, log.category.tolist(), log.group.tolist(), map(str, log.time.tolist()), strict=True
            )
            if forget:
                engine.forget_texts()
        engine.finish()
        logs.append((out, engine.suppressed))
    assert logs[0] == logs[1]


@pytest.mark.parametrize("epoch_s", [500.0, 5000.0])
def test_an_epoch_ends_what_waits(epoch_s: float) -> None:
    """With --epoch the mechanism starts over at each boundary: the same as one engine an epoch."""
    rng = np.random.default_rng(1)
    times = np.sort(rng.uniform(0, 2000, 300)).tolist()
    rows = [(int(rng.integers(7)), int(rng.integers(len(TEXTS))), int(rng.integers(len(PATHS))), t) for t in times]
    chosen = Settings(k=2, max_delay_records=10)
    known = Dictionaries()
    log, _ = anonymise(make_batch(rows, known), mix_engine(known, chosen, epoch_s=epoch_s, seed=1))
    seen = {(row, known.query[q]) for row, q in zip(log.row.tolist(), log.query.tolist(), strict=True)}
    alone = set()
    for epoch in range(int(2000 // epoch_s) + 1):
        first = next((i for i, t in enumerate(times) if t >= epoch * epoch_s), len(times))
        last = next((i for i, t in enumerate(times) if t >= (epoch + 1) * epoch_s), len(times))
        other = Dictionaries()
        part, _ = anonymise(make_batch(rows[first:last], other), mix_engine(other, chosen, seed=1))
        alone |= {(first + row, other.query[q]) for row, q in zip(part.row.tolist(), part.query.tolist(), strict=True)}
    assert seen == alone


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["red", "fox", "the", "a", "x1", "don't", "é", "blue", "Fox", "\t", "of", "to-do"])))
def test_units_are_the_classifiers(words: list[str]) -> None:
    """The compiled units are those of `semantic_units`, in its order."""
    text = " ".join(words)
    normal = normalise(text)
    known = Dictionaries()
    engine = mix_engine(known, Settings())
    known.query.code(text)
    engine._texts.learn(known.query, known.url)
    form, begins, _, starts, sizes = engine._texts.arrays
    code = form[0]
    shown = [
        known.query[code].encode()[starts[i] : starts[i] + sizes[i]].decode()
        for i in range(begins[code], begins[code + 1])
    ]
    wanted = [normal, *(unit for unit in semantic_units(normal.split()) if unit != normal)] if normal else []
    assert shown == wanted
