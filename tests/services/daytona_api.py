"""A fake of Daytona's HTTP API: its sandboxes have disks of their own, and their screens are real ones with real shells.

/api/sandbox...                make, look at, start, stop and delete a sandbox
/toolbox/ID/process/pty...     screens, and the web socket to one, which is closed on a reader that is slow
"""

import asyncio
import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import termios
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from tests.services.machine import Machine

KEY = "dtn_test"
MOST_WAITING = 256
CONTROL = {"type": "control", "status": "connected"}


class Screen:
    """A shell on a pseudo-terminal, as Daytona's daemon starts it."""

    def __init__(self, machine: Machine, envs: dict[str, str]) -> None:
        self.ours, theirs = os.openpty()
        self.process = subprocess.Popen(
            machine.argv(["bash", "-i", "-l"]),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**machine.env, **envs, "TERM": "xterm-256color"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self.waiting: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.loop = asyncio.get_running_loop()
        self.loop.add_reader(self.ours, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self.ours, 32_768)
        except OSError:
            data = b""
        if not data or self.waiting.qsize() > MOST_WAITING:
            self.loop.remove_reader(self.ours)
        self.waiting.put_nowait(data or None)

    def close(self) -> None:
        """End the shell and what it has started itself; what was left to others goes on."""
        self.loop.remove_reader(self.ours)
        for pid in [*descendants(self.process.pid), self.process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.ours)
        self.waiting.put_nowait(None)


class Sandbox:
    def __init__(self, wanted: dict[str, Any], machine: Machine) -> None:
        self.wanted = wanted
        self.machine = machine
        self.state = "creating"
        self.screens: dict[str, Screen] = {}
        self.seen = 0

    def stop(self) -> None:
        for screen in self.screens.values():
            screen.close()
        self.screens.clear()
        self.machine.stop()


class DaytonaApi:
    """Open it with `async with`; `sandboxes` holds those that there are, by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen_at = folder / "home"
        self.sandboxes: dict[str, Sandbox] = {}
        self.sockets: set[WebSocket] = set()
        listening = socket.create_server(("127.0.0.1", 0))
        self._address = f"127.0.0.1:{listening.getsockname()[1]}"
        self.url = f"http://{self._address}/api"
        routes = [
            Route("/api/sandbox", self._guarded(self._make), methods=["POST"]),
            Route("/api/sandbox/{name}", self._guarded(self._look), methods=["GET"]),
            Route("/api/sandbox/{name}", self._guarded(self._delete), methods=["DELETE"]),
            Route("/api/sandbox/{name}/start", self._guarded(self._start), methods=["POST"]),
            Route("/api/sandbox/{name}/stop", self._guarded(self._stop), methods=["POST"]),
            Route("/api/sandbox/{name}/last-activity", self._guarded(self._touch), methods=["POST"]),
            Route("/toolbox/{name}/process/pty", self._guarded(self._new_screen), methods=["POST"]),
            Route("/toolbox/{name}/process/pty/{screen}", self._guarded(self._close_screen), methods=["DELETE"]),
            WebSocketRoute("/toolbox/{name}/process/pty/{screen}/connect", self._connect),
        ]
        config = uvicorn.Config(Starlette(routes=routes), ws="wsproto", log_level="error", lifespan="off")
        self._server = uvicorn.Server(config)
        self._listening = listening

    async def __aenter__(self) -> "DaytonaApi":
        self._serving = asyncio.ensure_future(self._server._serve([self._listening]))
        while not self._server.started:
            await asyncio.sleep(0.01)
        return self

    async def __aexit__(self, *_: object) -> None:
        for sandbox in self.sandboxes.values():
            sandbox.stop()
        self._server.should_exit = True
        self._server.force_exit = True
        await self._serving
        self._listening.close()

    async def cut(self) -> None:
        """Close every web socket; the screens stay."""
        for one in tuple(self.sockets):
            await one.close(1011)

    def _guarded(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def guarded(request: Request) -> Response:
            if request.headers.get("authorization") != f"Bearer {KEY}":
                return JSONResponse({"message": "Invalid credentials", "statusCode": 401}, 401)
            name = request.path_params.get("name")
            if name and name not in self.sandboxes:
                return JSONResponse({"message": f"Sandbox with ID or name {name} not found"}, 404)
            return await answer(request)

        return guarded

    def _sandbox(self, request: Request | WebSocket) -> Sandbox:
        return self.sandboxes[request.path_params["name"]]

    def _shown(self, sandbox: Sandbox) -> Response:
        wanted = sandbox.wanted
        return JSONResponse(
            {
                "id": wanted["name"],
                "name": wanted["name"],
                "labels": wanted["labels"],
                "state": sandbox.state,
                "errorReason": "manifest unknown" if sandbox.state == "build_failed" else None,
                "toolboxProxyUrl": f"http://{self._address}/toolbox",
            }
        )

    async def _make(self, request: Request) -> Response:
        wanted = await request.json()
        if wanted["disk"] > 10:
            return JSONResponse({"message": "Disk request 11GB exceeds maximum allowed per sandbox (10GB)"}, 400)
        machine = Machine(self.folder / wanted["name"], self.seen_at)
        self.sandboxes[wanted["name"]] = sandbox = Sandbox(wanted, machine)
        shown = self._shown(sandbox)
        failed = wanted["buildInfo"]["dockerfileContent"] == "FROM no-such-image\n"
        sandbox.state = "build_failed" if failed else "started"
        return shown

    async def _look(self, request: Request) -> Response:
        return self._shown(self._sandbox(request))

    async def _start(self, request: Request) -> Response:
        self._sandbox(request).state = "started"
        return self._shown(self._sandbox(request))

    async def _stop(self, request: Request) -> Response:
        sandbox = self._sandbox(request)
        sandbox.stop()
        sandbox.state = "stopped"
        return self._shown(sandbox)

    async def _delete(self, request: Request) -> Response:
        sandbox = self.sandboxes.pop(request.path_params["name"])
        sandbox.stop()
        sandbox.machine.remove()
        return self._shown(sandbox)

    async def _touch(self, request: Request) -> Response:
        self._sandbox(request).seen += 1
        return Response(status_code=201)

    async def _new_screen(self, request: Request) -> Response:
        sandbox, wanted = self._sandbox(request), await request.json()
        if sandbox.state != "started":
            return JSONResponse({"message": "failed to resolve container IP: is the Sandbox started?"}, 502)
        sandbox.screens[wanted["id"]] = Screen(sandbox.machine, wanted["envs"])
        return JSONResponse({"sessionId": wanted["id"]}, 201)

    async def _close_screen(self, request: Request) -> Response:
        screen = self._sandbox(request).screens.pop(request.path_params["screen"], None)
        if not screen:
            return JSONResponse({"error": "PTY session not found"}, 404)
        screen.close()
        return JSONResponse({"message": "PTY session deleted"})

    async def _connect(self, one: WebSocket) -> None:
        sandbox, name = self._sandbox(one), one.path_params["screen"]
        if one.headers.get("authorization") != f"Bearer {KEY}" or name not in sandbox.screens:
            await one.close(1008)
            return
        screen = sandbox.screens[name]
        await one.accept()
        self.sockets.add(one)
        await one.send_json(CONTROL)
        showing = asyncio.ensure_future(self._show(screen, one))
        try:
            while True:
                message = await one.receive()
                if message["type"] == "websocket.disconnect":
                    break
                data = message.get("bytes") or message["text"].encode()
                await asyncio.to_thread(write_all, screen.ours, data)
        except (WebSocketDisconnect, OSError):
            pass
        finally:
            self.sockets.discard(one)
            showing.cancel()

    async def _show(self, screen: Screen, one: WebSocket) -> None:
        while (data := await screen.waiting.get()) is not None:
            if screen.waiting.qsize() > MOST_WAITING:
                await one.close(1008, "slow consumer")
                return
            await one.send_bytes(data)
        await one.close(1000, '{"exitCode": 0}')


def write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def descendants(pid: int) -> list[int]:
    """The children of a process and theirs, the youngest first."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        children = [int(one) for task in tasks for one in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
    except OSError:
        return []
    return [one for child in children for one in (*descendants(child), child)]
