"""The far end of callbacks: a real HTTP server on a port of its own, with answers the test gives."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Received:
    """A request, and the connection it came over."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    connection: Any

    def closed_by_client(self) -> bool:
        """Waits until the client closes the connection, or sends something else."""
        return bool(self.connection.recv(1) == b"")


Answer = Callable[[Received], tuple[int, Any]]


class Orchestrator:
    """Records what it receives and answers what it is told."""

    def __init__(self, answer: Answer) -> None:
        self.received: list[Received] = []
        self.connections = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                outer.connections += 1
                super().setup()

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                raw = self.rfile.read(length)
                headers = {name.lower(): value for name, value in self.headers.items()}
                received = Received(self.command, self.path, headers, json.loads(raw) if raw else None, self.connection)
                outer.received.append(received)
                status, body = answer(received)
                data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else compact(body)
                try:
                    self.send_response(status)
                    self.send_header("content-length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 512

        self.server = Server(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self.server.server_port}"

    def meta(self, invocation: str = "invocation-1", **more: Any) -> dict[str, Any]:
        """The `_meta` of a call that calls back here."""
        device = {"id": "d1", "platform": "android", "widthPixels": 1080, "heightPixels": 2400, "driverType": "none"}
        return {
            "trailblaze": {
                "baseUrl": self.base_url,
                "sessionId": "session-1",
                "invocationId": invocation,
                "device": device,
                **more,
            }
        }


@contextmanager
def orchestrator(answer: Answer) -> Iterator[Orchestrator]:
    """A server for the time of a test."""
    fake = Orchestrator(answer)
    thread = threading.Thread(target=fake.server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield fake
    finally:
        fake.server.shutdown()
        fake.server.server_close()
        thread.join()


def compact(value: Any) -> bytes:
    """JSON without spaces, as the server writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def tool_passed(text: str) -> tuple[int, Any]:
    """The answer of a tool that passed."""
    return 200, {"result": {"type": "call_tool_result", "success": True, "text_content": text}}
