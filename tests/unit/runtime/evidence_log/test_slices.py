"""Events are encrypted in slices: few at a time while few wait, and never in so many slices that they pile up."""

import pytest

from proxid.runtime.evidence_log.writer import SLICE, SLICES, _slices


@pytest.mark.parametrize(("count", "size"), [(0, 0), (5, 5), (SLICE * SLICES, SLICE), (100 * SLICES, 100)])
async def test_slices_grow_with_what_waits(count: int, size: int) -> None:
    found = [list(part) async for part in _slices(range(count))]
    assert [number for part in found for number in part] == list(range(count))
    assert max(map(len, found), default=0) == size


async def test_a_large_batch_has_no_more_slices_than_a_small_one() -> None:
    for count in range(SLICE * SLICES, 2048, 37):
        assert len([part async for part in _slices(range(count))]) <= SLICES
