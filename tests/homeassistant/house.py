"""Services and a household's agent with a Wyoming door, until the input ends; prints where they are, as JSON."""

import json
import sys
import tempfile
from pathlib import Path

from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.runtime.process.child import Child
from tests.support.addresses import free_port


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="proxid-homeassistant-") as folder:
        trial = DemoTrial(Path(folder), DemoOptions(people=10, form="pairs"))
        trial.provision()
        (config,) = trial.devices()
        port, file = free_port(), trial.folder / "devices/household-1/device.toml"
        doors = f'openai = "127.0.0.1:0"\npage = "127.0.0.1:0"\n[[agent.wyoming]]\nuri = "tcp://127.0.0.1:{port}"\n'
        file.write_text(f'{file.read_text()}\n[agent]\n{doors}user = "{trial.users[0]}"\n')
        try:
            trial.start_services()
            trial.children["agent"] = agent = Child("agent", ["agent", "run", "--config", str(file)], trial.logs)
            agent.start()
            agent.wait_ready()
            print(json.dumps({"port": port, "receipts": str(config.data_dir / "receipts.jsonl")}), flush=True)
            sys.stdin.read()
        finally:
            trial.stop()


if __name__ == "__main__":
    main()
