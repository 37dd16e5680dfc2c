"""`make models`: rebuilds every shipped artefact, in the order in which they need each other.

With `--check` the artefacts are rebuilt and compared with what git has: it says which bytes differ.
"""

import hashlib
import os
import sys
from importlib import import_module

ORDER = ("lexicons", "figures", "places", "gazetteer", "tagger", "words", "subjects", "requests", "identifier_report")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def digests() -> dict[str, str]:
    """SHA-256 of every artefact."""
    from scripts.models.output import CURVE, ROOT, SHIPPED, TRAINED

    files = [*sorted(p for p in SHIPPED.rglob("*") if p.is_file()), *sorted(TRAINED.rglob("*.npz")), CURVE]
    return {str(path.relative_to(ROOT)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def main() -> int:
    """Run the steps; one thread, so that sums are made in one order."""
    os.environ.update(dict.fromkeys(THREADS, "1"))
    if "--check" not in sys.argv:
        _build()
        return 0
    before = digests()
    _build()
    changed = [name for name, digest in digests().items() if before.get(name) != digest]
    print("byte-identical" if not changed else "differ: " + ", ".join(changed))
    return 1 if changed else 0


def _build() -> None:
    for step in ORDER:
        print(f"-- {step}", flush=True)
        import_module(f"scripts.models.{step}").main()


if __name__ == "__main__":
    sys.exit(main())
