"""A fake of Honcho's /v3 API, as far as Hermes uses it: strict about paths, keys and bodies; its answers are canned or told.

No Honcho server runs here: its reasoning is not part of this.
"""

import itertools
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "hch-test"
NOW = "2026-11-16T05:00:00Z"


class HonchoServer:
    """One server on a port of its own. `messages` is what it heard; `card` and `answer` what it says."""

    def __init__(self) -> None:
        self.workspaces: set[str] = set()
        self.peers: set[str] = set()
        self.sessions: dict[str, set[str]] = {}
        self.messages: list[tuple[str, str, str]] = []
        self.conclusions: list[str] = []
        self.asked: list[dict[str, Any]] = []
        self.card: list[str] = []
        self.answer = "They like tea."
        self.fails = 0
        self._ids = itertools.count(1)
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._answer({})

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                self._answer(json.loads(self.rfile.read(length) or b"{}"))

            def _answer(self, body: dict[str, Any]) -> None:
                status, data = server.handle(
                    self.command, self.path.partition("?")[0], body, self.headers.get("authorization", "")
                )
                raw = json.dumps(data).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> "HonchoServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def handle(self, method: str, path: str, body: dict[str, Any], key: str) -> tuple[int, Any]:
        if self.fails:
            return self.fails, {"detail": "out of order"}
        if key != f"Bearer {KEY}":
            return 401, {"detail": "Invalid API key"}
        if (method, path) == ("POST", "/v3/workspaces"):
            self.workspaces.add(body["id"])
            return 201, {"id": body["id"], "created_at": NOW}
        found = re.fullmatch(r"/v3/workspaces/([\w-]+)/(.+)", path)
        if found is None or found[1] not in self.workspaces:
            return 404, {"detail": "Not Found"}
        return self._inside(method, found[1], found[2].split("/"), body)

    def _inside(self, method: str, workspace: str, path: list[str], body: dict[str, Any]) -> tuple[int, Any]:
        match method, path:
            case "POST", ["peers"]:
                self.peers.add(body["id"])
                return 201, {"id": body["id"], "workspace_id": workspace, "created_at": NOW}
            case "POST", ["sessions"]:
                self.sessions.setdefault(body["id"], set())
                return 201, {"id": body["id"], "is_active": True, "workspace_id": workspace, "created_at": NOW}
            case "POST", ["sessions", session, "peers"] if session in self.sessions:
                self.sessions[session].update(body)
                return 200, {}
            case "POST", ["sessions", session, "messages"] if session in self.sessions:
                return 201, [self._hear(workspace, session, message) for message in body["messages"]]
            case "GET", ["peers", _, "card"]:
                return 200, {"peer_card": self.card}
            case "GET", ["peers", peer, "context"]:
                known = {"peer_card": self.card, "representation": "a gardener"}
                return 200, {"peer_id": peer, "target_id": peer, **known}
            case "POST", ["peers", peer, "search"]:
                said = [one for one in self.messages if one[1] == peer and body["query"].lower() in one[2].lower()]
                return 200, [self._message(workspace, *one) for one in said[: body["limit"]]]
            case "POST", ["peers", _, "chat"]:
                self.asked.append(body)
                return 200, {"content": self.answer}
            case "POST", ["conclusions"]:
                self.conclusions += [each["content"] for each in body["conclusions"]]
                return 201, [{**each, "id": f"c{next(self._ids)}", "created_at": NOW} for each in body["conclusions"]]
            case _:
                return 404, {"detail": "Not Found"}

    def _hear(self, workspace: str, session: str, message: dict[str, Any]) -> dict[str, Any]:
        assert message["peer_id"] in self.sessions[session]
        self.messages.append((session, message["peer_id"], message["content"]))
        return self._message(workspace, *self.messages[-1])

    def _message(self, workspace: str, session: str, peer: str, content: str) -> dict[str, Any]:
        return {
            "id": f"m{next(self._ids)}",
            "content": content,
            "peer_id": peer,
            "session_id": session,
            "workspace_id": workspace,
            "created_at": NOW,
            "token_count": len(content) // 4,
        }
