"""Generate `proxid/wire/v1/*_pb2*.py` from `proto/` (make proto); `--check` fails if the committed ones differ."""

import filecmp
import os
import sys
import tempfile
from pathlib import Path

import grpc_tools
from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
STUBS = Path("proxid/wire/v1")


def generate(out: Path) -> None:
    """Write all stubs below `out`; raises SystemExit if protoc refuses a file."""
    files = sorted(str(p) for p in PROTO.rglob("*.proto"))
    # protoc finds the mypy plug-ins on PATH, which need not name the virtual environment that runs this.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    include = str(Path(grpc_tools.__file__).parent / "_proto")
    arguments = ["protoc", f"-I{PROTO}", f"-I{include}", f"--python_out={out}", f"--grpc_python_out={out}",
                 f"--mypy_out={out}", f"--mypy_grpc_out={out}", *files]  # fmt: skip
    if protoc.main(arguments):
        raise SystemExit("protoc failed")


def check() -> None:
    """Compare fresh stubs with the committed ones; raises SystemExit naming what differs."""
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        fresh = {p.name for p in (Path(folder) / STUBS).iterdir()}
        committed = {p.name for p in (ROOT / STUBS).glob("*_pb2*")}
        _, mismatch, errors = filecmp.cmpfiles(Path(folder) / STUBS, ROOT / STUBS, fresh, shallow=False)
        stale = sorted((fresh ^ committed) | set(mismatch) | set(errors))
    if stale:
        raise SystemExit(f"stubs differ from proto/, run `make proto`: {', '.join(stale)}")


if __name__ == "__main__":
    check() if "--check" in sys.argv[1:] else generate(ROOT)
