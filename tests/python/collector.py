"""collector.py: a stand-in for Splunk's HTTP Event Collector that misbehaves as told."""

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "1f2e-token"  # noqa: S105
ANSWERS: dict[str, tuple[int, dict[str, Any]]] = {
    "accept": (200, {"text": "Success", "code": 0}),
    "busy": (503, {"text": "Server is busy", "code": 9}),
    "rate": (429, {}),
    "error": (500, {"text": "Internal server error", "code": 8}),
    "token": (403, {"text": "Invalid token", "code": 4}),
    "index": (400, {"text": "Incorrect index", "code": 7}),
    "data": (400, {"text": "Invalid data format", "code": 6}),
    "large": (413, {}),
    "elsewhere": (404, {}),
}


class Fake:
    """Does SCRIPT's things one after the other, then accepts: a name of ANSWERS, or "hang", "close", "lost" (takes the
    events, and its answer is lost), "garbage", "redirect", "unacknowledged", "acknowledged".
    """

    def __init__(self, script: Sequence[str] = ()) -> None:
        self.script = list(script)
        self.events: list[dict[str, Any]] = []
        self.requests = 0
        self.tokens: set[str] = set()
        self._acks = 0
        self._acknowledges = True
        self._over = threading.Event()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                fake.handle(self)

            def log_message(self, *_given: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> "Fake":
        self._thread.start()
        return self

    def __exit__(self, *_given: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"]))
        self.tokens.add(request.headers["Authorization"])
        if request.path.startswith("/services/collector/ack"):
            asked = json.loads(body)["acks"]
            self._answer(request, 200, {"acks": {str(one): self._acknowledges for one in asked}})
            return
        assert request.path == "/services/collector/event"
        self.requests += 1
        what = self.script.pop(0) if self.script else "accept"
        if what in ("accept", "lost", "acknowledged", "unacknowledged"):
            self.events += [json.loads(line) for line in body.splitlines()]
        if what in ("acknowledged", "unacknowledged"):
            self._acknowledges = what == "acknowledged"
            self._acks += 1
            self._answer(request, 200, {"text": "Success", "code": 0, "ackId": self._acks})
        elif what == "hang":
            self._over.wait(30)
        elif what == "garbage":
            request.send_response(200)
            request.end_headers()
            request.wfile.write(b"<html>Welcome</html>")
        elif what == "redirect":
            request.send_response(302)
            request.send_header("Location", "http://127.0.0.1:1/")
            request.end_headers()
        elif what in ANSWERS:
            self._answer(request, *ANSWERS[what])

    @staticmethod
    def _answer(request: BaseHTTPRequestHandler, status: int, content: dict[str, Any]) -> None:
        request.send_response(status)
        if status == 429:
            request.send_header("Retry-After", "7")
        request.end_headers()
        request.wfile.write(json.dumps(content).encode())
