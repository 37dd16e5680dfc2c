"""Figures of studies, whatever was found."""

from pathlib import Path

import numpy as np
import pytest

from proxid.lab.studies.plots import Curve, Panel, draw_panels


@pytest.mark.parametrize("y", [[0.0, 0.0], [np.nan, np.nan], []])
def test_a_panel_with_nothing_over_zero_is_drawn(y: list[float], tmp_path: Path) -> None:
    """A small log publishes nothing: no value has a logarithm."""
    x = np.arange(len(y), dtype=float)
    panel = Panel("nothing", "x", "y", [Curve("none", x, np.array(y))], x_scale="log", y_scale="log")
    assert all(file.is_file() for file in draw_panels([panel], tmp_path / "figure"))
