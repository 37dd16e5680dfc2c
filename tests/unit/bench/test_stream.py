"""`proxid bench stream`: the figures have the names that are looked for, and measure something (small sizes)."""

import pytest

from bench.stream import files as figures_stream_files
from bench.stream import run


def test_figures_of_columns() -> None:
    """The ratio to the plain algorithm, ladder off and on."""
    figures = run({"part": "columns", "records": "3000"})
    assert {"column_ratio_k3", "column_ratio_k3_ladder"} <= set(figures)
    assert figures["column_ratio_k3"]["reach"] == 8.0 and figures["column_ratio_k3"]["value"] > 0


def test_figures_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows a second, peak memory, bytes a waiting record: more than its columns, less than a Python object's."""
    monkeypatch.setattr(figures_stream_files, "VARIANTS", {"": {"ladder": False}})
    monkeypatch.setattr(figures_stream_files, "in_own_process", _in_this_process)
    figures = run({"part": "files", "rows": "5000", "users": "200"})
    assert figures["file_rows_per_s"]["reach"] == 500_000 and figures["file_peak_bytes"]["value"] > 1e7
    assert 72 < figures["bytes_per_waiting_record"]["value"] < 400


def _in_this_process(source: object, options: object) -> dict[str, float]:
    """What the child measures, without a child."""
    sent: list[bytes] = []

    class Pipe:
        send_bytes = staticmethod(sent.append)

    figures_stream_files._measure(Pipe(), source, options)  # type: ignore[arg-type]
    found: dict[str, float] = figures_stream_files.json.loads(sent[0])
    return found
