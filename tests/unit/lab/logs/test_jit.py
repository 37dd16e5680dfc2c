"""A loop is compiled by one process, however many need it at the same moment."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROCESSES = 3
NEEDS_IT = """
import json
from proxid.lab.logs import strings
print("ready", flush=True)
input()
strings.StringTable(["one", "another"])
stats = strings.intern_all.stats
print(json.dumps([sum(stats.cache_misses.values()), sum(stats.cache_hits.values())]))
"""


def test_of_processes_that_need_a_loop_at_once_one_compiles_it(tmp_path: Path) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", NEEDS_IT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        )
        for _ in range(PROCESSES)
    ]  # fmt: skip
    for process in started:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    counts = [json.loads(process.communicate(timeout=300)[0]) for process in started]
    assert [sum(column) for column in zip(*counts, strict=True)] == [1, PROCESSES - 1], counts
