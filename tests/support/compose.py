"""docker-compose.yml without an engine: the same commands, files and environment, as processes of this machine.

What an engine would do is done by names: a mount is a folder here, a service's name and port a free port of 127.0.0.1.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import yaml

from tests.support.addresses import free_port

ROOT: Final = Path(__file__).resolve().parents[2]
FILE: Final = ROOT / "docker-compose.yml"
_DEADLINE: Final = 120.0
_PORT: Final = re.compile(r"^(?:(redis://))?([a-z0-9.-]+):(\d+)$")


def commands_of(service: dict[str, Any]) -> list[list[str]]:
    """Each `proxid …` that a service runs, its health check too; a shell says which ones its script would run."""
    if "entrypoint" in service:
        shell, script = service["entrypoint"], service["command"][-1]
        noted = "proxid() { printf '%s\\0' \"$@\"; echo; }; chown() { :; }; test() { true; }\n"
        done = subprocess.run([*shell, noted + script], capture_output=True, text=True, timeout=30, check=True)
        found = [line.rstrip("\0").split("\0") for line in done.stdout.splitlines()]
    else:
        found = [] if "image" in service else [[str(word) for word in service["command"]]]
    check = service.get("healthcheck", {}).get("test", [])
    return [*found, *([check[2:]] if check[1:2] == ["proxid"] else [])]


class Compose:
    """The file's services in a folder.

    Args:
        folder: stands for that of docker-compose.yml. store: the program of the stores' image.
    """

    def __init__(self, folder: Path, store: Path) -> None:
        self.services: dict[str, dict[str, Any]] = yaml.safe_load(FILE.read_text("utf-8"))["services"]
        self._folder = folder
        self._store = store
        self._ports: dict[str, int] = {}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        for service in self.services.values():  # an engine makes what is mounted before anything runs
            for volume in service.get("volumes", []):
                self._mount(volume.split(":")[0])

    def up(self, name: str) -> None:
        """Start a service, and first what it depends on, as far as each condition says."""
        if name in self._running:
            return
        needed = self.services[name].get("depends_on", {})
        for other, how in needed.items():
            self.up(other)
            self._wait(other, how["condition"])
        self._running[name] = self._start(name)

    def again(self, name: str) -> None:
        """Start a service that has ended."""
        self._running[name] = self._start(name)

    def running(self, name: str) -> bool:
        """Whether a service was started and has not ended."""
        return name in self._running and self._running[name].poll() is None

    def output(self, name: str) -> str:
        """What a service has printed."""
        return (self._folder / f"{name}.log").read_text("utf-8", "replace")

    def finished(self, name: str, seconds: float = _DEADLINE) -> int:
        """The exit status of a service that ends by itself."""
        return self._running[name].wait(seconds)

    def down(self) -> None:
        """End all, the last first."""
        for process in reversed(self._running.values()):
            if process.poll() is None:
                process.terminate()
            process.wait(30)

    def here(self, service: dict[str, Any], text: str) -> str:
        """A path or an address of a container, as it is on this machine."""
        address = _PORT.match(text)
        if address:
            port = self._ports.setdefault(address[3] if address[1] is None else address[2], free_port())
            return f"{address[1] or ''}127.0.0.1:{port}"
        mounts = [volume.split(":")[:2] for volume in service.get("volumes", [])]
        for source, target in sorted(mounts, key=lambda mount: -len(mount[1])):
            if text == target or text.startswith(f"{target}/"):
                return str(self._mount(source)) + text[len(target) :]
        return text.replace("/opt/proxid", str(ROOT), 1) if text.startswith("/opt/proxid") else text

    def _mount(self, source: str) -> Path:
        folder = self._folder / (source if source.startswith("./") else f"volumes/{source}")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        service = self.services[name]
        environment = {key: self.here(service, str(value)) for key, value in service.get("environment", {}).items()}
        with (self._folder / f"{name}.log").open("ab") as output:
            return subprocess.Popen(
                self._words(name, service), stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=self._folder,
                env={**os.environ, **environment, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
            )  # fmt: skip

    def _words(self, name: str, service: dict[str, Any]) -> list[str]:
        if "image" in service:
            port = self._ports.setdefault(name, free_port())
            data = self._mount(service["volumes"][0].split(":")[0])
            return [str(self._store), *service["command"][1:], "--port", str(port), "--dir", str(data)]
        if "entrypoint" in service:
            script = "chown() { :; }\n" + " ".join(
                self.here(service, word) for word in re.split(r"(?<=\S) (?=\S)", service["command"][-1])
            )
            return [*service["entrypoint"], script]
        return ["proxid", *(self.here(service, str(word)) for word in service["command"])]

    def _wait(self, name: str, condition: str) -> None:
        deadline = time.monotonic() + _DEADLINE
        if condition == "service_completed_successfully":
            assert self.finished(name) == 0, self.output(name)
        while condition == "service_healthy" and not self._healthy(name):
            assert self._running[name].poll() is None, self.output(name)
            assert time.monotonic() < deadline, self.output(name)
            time.sleep(0.5)

    def _healthy(self, name: str) -> bool:
        service = self.services[name]
        if "image" in service:
            return "Ready to accept connections" in self.output(name)
        words = [self.here(service, word) for word in service["healthcheck"]["test"][1:]]
        environment = {key: self.here(service, str(value)) for key, value in service["environment"].items()}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            words, env={**os.environ, **environment, "PATH": path}, capture_output=True, timeout=60, check=False
        )
        return done.returncode == 0
