"""A server that speaks chat completions, in this process: for what it was told, and for every way to fail.

What a real model's server makes of the same is held in tests/peers.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Says = Callable[[str], Any]
"""Of a question: the answer, bytes as they are, or a status."""


class ChatServer(ThreadingHTTPServer):
    """Keeps every byte that it was sent."""

    daemon_threads = True

    def __init__(self, says: Says) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.says, self.seen, self.most, self._open = says, [], 0, 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        """Up to /v1."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    @contextmanager
    def counted(self, told: bytes) -> Iterator[None]:
        """A question under way."""
        with self.lock:
            self.seen.append(told)
            self._open += 1
            self.most = max(self.most, self._open)
        try:
            yield
        finally:
            with self.lock:
                self._open -= 1

    def handle_error(self, *_: Any) -> None:
        """Whoever hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        with self.server.counted(f"{self.requestline}\n{self.headers}".encode() + body):
            said = self.server.says(json.loads(body)["messages"][-1]["content"])
        if isinstance(said, str):
            said = json.dumps({"choices": [{"message": {"role": "assistant", "content": said}}]}).encode()
        self.send_response(said if isinstance(said, int) else 200)
        self.end_headers()
        self.wfile.write(b"" if isinstance(said, int) else said)

    def log_message(self, *_: Any) -> None:
        """Nothing: questions are nobody's business."""


@contextmanager
def chat_server(says: Says) -> Iterator[ChatServer]:
    """A server that runs meanwhile."""
    with ChatServer(says) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
