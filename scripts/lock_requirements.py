"""Pin every dependency with its hashes: `requirements/*.txt` from `pyproject.toml` (make lock)."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS: dict[str, list[str]] = {
    "base": ["build"],
    "classify": ["build", "classify", "upstream"],
    "agent": ["build", "classify", "agent"],
    "lab": ["build", "classify", "upstream", "lab"],
    "dev": ["build", "classify", "upstream", "agent", "lab", "dev"],
    "models": ["build", "classify", "upstream", "agent", "lab", "dev", "models"],
    "peers": ["build", "classify", "upstream", "agent", "lab", "dev", "peers"],
    "spark": ["lab", "spark"],
}


def main() -> None:
    """Write one lock file for each set of extras; none names a registry host."""
    for name, extras in EXTRAS.items():
        command = [
            sys.executable,
            "-m",
            "piptools",
            "compile",
            "--quiet",
            "--generate-hashes",
            "--strip-extras",
            "--no-emit-index-url",
            "--no-emit-find-links",
            "--no-emit-trusted-host",
            "--allow-unsafe",
            "--no-header",
            "-o",
            f"requirements/{name}.txt",
            "pyproject.toml",
        ]
        for extra in extras:
            command += ["--extra", extra]
        subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
