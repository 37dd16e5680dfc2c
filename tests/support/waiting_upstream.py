"""An upstream as a process: `why …` is never answered, the rest at once. Prints that it serves, then who asks what.

Run as `python -m tests.support.waiting_upstream PORT`; a line is `PORT QUESTION`, that of who asks.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WAITS = "why"
ANSWER = "So it is."
SERVING = "serving"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"][-1]["content"]
        print(self.client_address[1], asked, flush=True)
        if asked.startswith(WAITS):
            threading.Event().wait()
        said = json.dumps({"choices": [{"message": {"role": "assistant", "content": ANSWER}}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        """What is asked stands in the output."""


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), _Handler) as server:
        print(SERVING, flush=True)
        server.serve_forever()
