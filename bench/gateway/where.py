"""`proxid bench gateway -o part=where`: where the processor time of a request goes, by process and stage.

Each service's main thread is sampled (`bench.yardsticks.sampling`); what a process and its threads took in all is read
from /proc, and shared out by the samples. Sampling costs a few per cent itself: sums are larger than `cpu_us_…`.
"""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType

from bench import Figure
from bench.yardsticks.sampling import FOLDER

_SITE = """
import sys
if "serve" in sys.orig_argv:
    from bench.yardsticks.sampling import begin
    begin()
"""
THREADS = "gRPC's threads, files"


class Sampled(AbstractContextManager["Sampled"]):
    """While the block runs every service that is started is sampled.

    Args:
        folder: for what is needed meanwhile.
    """

    def __init__(self, folder: Path) -> None:
        self._site, self._samples = folder / "site", folder / "samples"
        self._before: dict[str, str | None] = {}

    def __enter__(self) -> "Sampled":
        for made in (self._site, self._samples):
            made.mkdir()
        (self._site / "sitecustomize.py").write_text(_SITE, encoding="utf-8")
        root = str(Path(__file__).resolve().parents[2])
        for name, value in (("PYTHONPATH", os.pathsep.join((str(self._site), root))), (FOLDER, str(self._samples))):
            self._before[name] = os.environ.get(name)
            os.environ[name] = value
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name, value in self._before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value

    def figures(self, busy: Mapping[str, float], windows: Sequence[tuple[float, float]]) -> dict[str, Figure]:
        """The table: µs a request, the dearest stage of each process first, and its share of all.

        Args:
            busy: µs of processor time a request, by part. windows: when it was measured, Unix seconds.
        """
        total, figures = sum(busy.values()), dict[str, Figure]()
        for part, spent in busy.items():
            rows = self._shared(part, spent, windows) or {"all": spent}
            for stage, value in sorted(rows.items(), key=lambda row: -row[1]):
                figures[f"{part}: {stage}"] = _figure(value, total)
        return figures | {"all": _figure(total, total)}

    def _shared(self, part: str, spent: float, windows: Sequence[tuple[float, float]]) -> dict[str, float]:
        """The time of one part by stage; nothing of one that was not sampled."""
        stages, main, all_threads = Counter[str](), 0.0, 0.0
        for path in self._samples.glob(f"{part}.*.json"):
            seconds = {int(at): found for at, found in json.loads(path.read_text(encoding="utf-8")).items()}
            for begin, end in windows:
                inside = sorted(at for at in seconds if begin <= at and at + 1 <= end)
                if len(inside) < 2:
                    continue
                for at in inside:
                    stages.update(seconds[at]["stages"])
                first, last = seconds[inside[0]], seconds[inside[-1]]
                main, all_threads = main + last["main"] - first["main"], all_threads + last["all"] - first["all"]
        if not stages or not all_threads:
            return {}
        share, count = main / all_threads, stages.total()
        found = {stage: spent * share * number / count for stage, number in stages.items()}
        return found | {THREADS: spent * (1 - share)}


def _figure(value: float, total: float) -> Figure:
    return {"value": round(value, 1), "unit": "µs a request", "baseline": f"{value / total:.1%} of all"}
