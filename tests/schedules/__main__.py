"""Plays seeds, one after another: `python -m tests.schedules 0:200`, or one; exit status 1 if anything is wrong."""

import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import structlog

from tests.schedules.run import run
from tests.support.chosen import seeds_of


def main(argument: str) -> int:
    chosen = seeds_of(argument, "the argument")
    folder, total = Path(tempfile.mkdtemp(prefix="schedules-")), Counter[str]()
    begun = time.monotonic()
    try:
        for seed in chosen:
            found = run(seed, folder, folder / "run")
            shutil.rmtree(folder / "run")
            what = "WRONG" if found.wrong else "ok"
            print(
                f"{seed} {found.script.form} {what} {found.answered} answered {found.cost:.1f} s {found.verdict}",
                flush=True,
            )
            if found.wrong:
                print(f"{found}\n  again: .venv/bin/python -m tests.schedules {seed}", flush=True)
            total += Counter({"seeds": 1, "wrong": bool(found.wrong), "answered": found.answered})
            total += Counter({found.verdict: 1, "released": found.counts.get("released", 0)})
            total += Counter({"processor": round(found.cost), "deliveries": found.counts.get("deliveries", 0)})
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    said = ", ".join(f"{name} {count}" for name, count in total.items())
    print(f"schedules {argument}: {said}, {time.monotonic() - begun:.0f} s")
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    sys.exit(main(sys.argv[1]))
