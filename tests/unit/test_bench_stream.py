"""`proxid bench stream`: figures that the comparison one record at a time must have (speed itself is not tested)."""

from cli.bench import load
from cli.figures_stream_records import LEVEL, run


def test_figures_one_record_at_a_time() -> None:
    figures = run({"records": "3000", "users": "200", "repeat": "1"})
    wanted = {f"per_record_ratio_k{k}" for k in (3, 10, 30, 190)} | {"bytes_per_waiting_record"}
    assert wanted <= figures.keys()
    assert all(figure["value"] > 0 for figure in figures.values())
    assert figures["per_record_ratio_k3"]["reach"] == 1.7
    assert figures["per_record_ratio_k190"]["reach"] == 15.0
    assert f"level {LEVEL}" in str(figures["per_record_ratio_k3"]["baseline"])


def test_is_a_part_of_bench_stream() -> None:
    figures = load("stream")({"part": "records", "records": "2000", "users": "150", "repeat": "1"})
    assert "per_record_ratio_k10" in figures
