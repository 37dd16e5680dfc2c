"""Where a service spends its processor time: what its main thread does, noted each few milliseconds of it (SIGPROF).

`bench.gateway.where` has a service call `begin` when its interpreter starts; its own code knows nothing of it.
"""

import atexit
import json
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, Final

INTERVAL: Final = 0.004
"""Seconds of processor time between two samples."""
FOLDER: Final = "BENCH_SAMPLES"
"""The variable that says where samples are written."""

LOOP: Final = "gRPC, TLS, event loop"
REST: Final = "checks, and the rest"
JOBS: Final = {
    "main_service/jobs/classification.py": "beside: classification",
    "main_service/jobs/release.py": "beside: records of groups",
    "main_service/jobs/splitting.py": "beside: records of groups",
    "gateway/releases.py": "beside: records of groups",
    "proxid/runtime/evidence_log/writer.py": "beside: evidence",
}
"""What runs beside the answers, by a file that is somewhere in its stack."""
PLACES: Final = {
    "proxid/crypto/ed25519.py": "signatures",
    "proxid/crypto/hpke.py": "opening and sealing",
    "proxid/crypto/response.py": "opening and sealing",
    "proxid/runtime/store/": "store's client",
    "/redis/": "store's client",
    "proxid/encoding.py": "messages and hashes",
    "proxid/crypto/": "messages and hashes",
    "proxid/protocol/": "messages and hashes",
    "proxid/evidence/": "messages and hashes",
    "proxid/runtime/transport/parsing.py": "messages and hashes",
    "proxid/runtime/transport/fields.py": "messages and hashes",
    "proxid/runtime/transport/convert.py": "messages and hashes",
    "main_service/responder/": "answering",
    "proxid/runtime/transport/": LOOP,
    "/grpc/": LOOP,
    "gateway/": REST,
    "main_service/": REST,
    "proxid/": REST,
}
"""What a stack of the request path does, by the innermost frame that is in one of these; the first that fits counts."""
_BASE: Final = ("proxid/cli/", "proxid/runtime/transport/runner.py")
"""What stands below everything: a stack of nothing else is the event loop's."""


def stage_of(files: list[str]) -> str:
    """What a stack does, by its files from the innermost frame on."""
    for file in files:
        for job, stage in JOBS.items():
            if file.endswith(job):
                return stage
    for file in files:
        if not any(base in file for base in _BASE):
            found = next((stage for place, stage in PLACES.items() if place in file), None)
            if found is not None:
                return found
    return LOOP


class _Samples:
    """Samples by second: stages, and the processor time of the main thread and of the process until then."""

    def __init__(self) -> None:
        self.seconds: dict[int, dict[str, Any]] = {}

    def note(self, _: int, frame: FrameType | None) -> None:
        """The signal's handler."""
        files = list[str]()
        while frame is not None:
            files.append(frame.f_code.co_filename)
            frame = frame.f_back
        second = self.seconds.setdefault(int(time.time()), {"stages": Counter()})
        second["stages"][stage_of(files)] += 1
        second["main"], second["all"] = time.thread_time(), time.process_time()

    def write(self) -> None:
        """Once, when the process ends."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        if self.seconds:
            role = sys.orig_argv[sys.orig_argv.index("serve") + 1]
            Path(os.environ[FOLDER], f"{role}.{os.getpid()}.json").write_text(
                json.dumps(self.seconds), encoding="utf-8"
            )


def begin() -> None:
    """Sample this process until it ends."""
    samples = _Samples()
    signal.signal(signal.SIGPROF, samples.note)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
    atexit.register(samples.write)
