"""The manifest beside a release: mechanism, parameters, guarantee, seed policy, input digest, counts (DESIGN 13)."""

import json
from pathlib import Path
from typing import Any

from proxid import __version__
from proxid.errors import OutputError
from proxid.lab.filing import coverage
from proxid.lab.logs.whole import whole_file
from proxid.lab.release.purse import guaranteed
from proxid.lab.release.registry import Job, Outcome

FRESH = "a fresh secret seed, not written down"
KNOWN = "a seed was given: for experiments, not for publication"


def manifest_path(output: Path) -> Path:
    """Where the manifest of a release lies."""
    return output.with_name(output.name + ".manifest.json")


def make_manifest(job: Job, method: str, outcome: Outcome, digest: str) -> dict[str, Any]:
    """The manifest as data; it holds nothing of the log but its digest and counts."""
    details = dict(outcome.details)
    policy = details.pop("seed_policy", FRESH if job.seed is None else KNOWN)
    seed = {"policy": policy} if job.seed is None else {"policy": policy, "seed": job.seed}
    lacking = outcome.uncategorised
    said = None if lacking is None else coverage(outcome.records_in, lacking, filed=job.classifier is not None)
    return {
        "proxid": __version__,
        "mechanism": method,
        "parameters": dict(job.options),
        "guarantee": guaranteed(outcome, job.options),
        "seed": seed,
        "input": {"sha256": digest, "bytes": job.source.stat().st_size},
        "counts": {
            "in": outcome.records_in,
            "out": outcome.records_out,
            "suppressed": outcome.suppressed,
            "bad_rows": outcome.bad_rows,
        },
        **({} if said is None else {"categories": said}),
        **({} if said is None or not job.filing else {"filing": dict(job.filing)}),
        "bad_lines": [{"line": line, "reason": reason} for line, reason in outcome.bad_lines],
        "details": details,
    }


def write_manifest(job: Job, method: str, outcome: Outcome, digest: str) -> dict[str, Any]:
    """Write the manifest beside the release; a release without one does not stay. Raises OutputError."""
    manifest = make_manifest(job, method, outcome, digest)
    try:
        with whole_file(manifest_path(job.output)) as file:
            file.write((json.dumps(manifest, indent=2) + "\n").encode())
    except OutputError:
        job.output.unlink(missing_ok=True)
        raise
    return manifest
