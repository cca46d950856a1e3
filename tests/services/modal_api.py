"""A fake of Modal's API, spoken to by Modal's own package: what it starts really runs, each sandbox with a disk of its own.

ModalClient         apps, images, sandboxes by name          (client, with a token)
TaskCommandRouter   programs in a sandbox, snapshots of it   (worker, with the key that the client gave)
"""

import asyncio
import base64
import itertools
import json
import shutil
import socket
import time
from pathlib import Path
from typing import Any

from grpclib.const import Cardinality, Handler, Status
from grpclib.exceptions import GRPCError
from grpclib.protocol import H2Protocol
from grpclib.server import Server, Stream
from modal_proto import api_pb2, task_command_router_pb2
from modal_proto.api_grpc import ModalClientBase
from modal_proto.task_command_router_grpc import TaskCommandRouterBase

from tests.services.machine import Machine

TOKEN = ("ak-test", "as-test")
_PART = base64.urlsafe_b64encode(json.dumps({"exp": int(time.time()) + 86_400}).encode()).decode().rstrip("=")
KEY = f"{_PART}.{_PART}.{_PART}"


class Program:
    """One program: its output is kept, so that it can be read from any place."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.kept = {1: bytearray(), 2: bytearray()}
        self.over: set[int] = set()
        self.taken = 0
        self.is_lost = False
        self.changed = asyncio.Condition()
        assert process.stdout and process.stderr
        self.readers = [
            asyncio.ensure_future(self._keep(1, process.stdout)),
            asyncio.ensure_future(self._keep(2, process.stderr)),
        ]

    async def _keep(self, number: int, pipe: asyncio.StreamReader) -> None:
        while data := await pipe.read(65_536):
            async with self.changed:
                self.kept[number] += data
                self.changed.notify_all()
        async with self.changed:
            self.over.add(number)
            self.changed.notify_all()

    async def lose(self) -> None:
        async with self.changed:
            self.is_lost = True
            self.changed.notify_all()

    def must_be_known(self) -> None:
        if self.is_lost:
            raise GRPCError(Status.NOT_FOUND, "the worker does not know this program any more")


class Sandbox:
    def __init__(self, name: str, machine: Machine, definition: Any) -> None:
        self.name = name
        self.machine = machine
        self.definition = definition
        self.runs = True
        self.programs: dict[str, Program] = {}


class Listener(Server):
    """A server that can also close the connections that its clients keep open."""

    def __init__(self, services: list[Any]) -> None:
        super().__init__(services)
        self._connections: list[H2Protocol] = []

    def _protocol_factory(self) -> H2Protocol:
        self._connections.append(one := super()._protocol_factory())
        return one

    async def stop(self) -> None:
        self.close()
        await self.wait_closed()
        for one in self._connections:
            one.connection.close()
        # A transport lets go of its socket in the next round of the loop.
        await asyncio.sleep(0)


class ModalApi:
    """Open it with `async with`; `sandboxes` are all that were ever made, `snapshots` the folders of images by their id."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen_at = folder / "workspace"
        self.sandboxes: dict[str, Sandbox] = {}
        self.snapshots: dict[str, Path] = {}
        self._count = itertools.count(1)
        self._server = Listener([self])
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    async def __aenter__(self) -> "ModalApi":
        await self._server.start(sock=self._listening)
        return self

    async def __aexit__(self, *_: object) -> None:
        for sandbox in self.sandboxes.values():
            if sandbox.runs:
                await self._end(sandbox)
        await self._server.stop()

    def running(self, name: str) -> Sandbox | None:
        return next((one for one in self.sandboxes.values() if one.name == name and one.runs), None)

    async def end(self, name: str) -> None:
        """End the sandbox of this name, as Modal does after a day."""
        if sandbox := self.running(name):
            await self._end(sandbox)

    async def lose_programs(self) -> None:
        """Forget every program that runs: they go on, but nobody can reach them."""
        for sandbox in self.sandboxes.values():
            for program in sandbox.programs.values():
                await program.lose()

    def __mapping__(self) -> dict[str, Handler]:
        """The calls that there are, found by name; any other is answered with UNIMPLEMENTED."""
        known: dict[str, Handler] = {}
        for service in (ModalClientBase, TaskCommandRouterBase):
            every: Any = type("Every", (service,), dict.fromkeys(service.__abstractmethods__))
            for path, handler in every().__mapping__().items():
                if method := getattr(type(self), path.rpartition("/")[2], None):
                    known[path] = handler._replace(func=self._answer(method, handler))
        return known

    def _answer(self, method: Any, handler: Handler) -> Any:
        async def answer(stream: Stream[Any, Any]) -> None:
            metadata = stream.metadata or {}
            if (metadata.get("x-modal-token-id"), metadata.get("x-modal-token-secret")) != TOKEN and metadata.get(
                "authorization"
            ) != f"Bearer {KEY}":
                raise GRPCError(Status.UNAUTHENTICATED, "Token ID is malformed")
            request = await stream.recv_message()
            if handler.cardinality is Cardinality.UNARY_STREAM:
                await method(self, request, stream)
            else:
                await stream.send_message(await method(self, request))

        return answer

    # Apps, images and sandboxes

    async def AppGetOrCreate(self, request: Any) -> Any:
        return api_pb2.AppGetOrCreateResponse(app_id=f"ap-{request.app_name}")

    async def EnvironmentGetOrCreate(self, request: Any) -> Any:
        settings = api_pb2.EnvironmentSettings(image_builder_version="2025.06")
        return api_pb2.EnvironmentGetOrCreateResponse(
            environment_id="en-main", metadata=api_pb2.EnvironmentMetadata(name="main", settings=settings)
        )

    async def ImageGetOrCreate(self, request: Any) -> Any:
        [source] = [line for line in request.image.dockerfile_commands if line.startswith("FROM ")]
        failed = source == "FROM no-such-image"
        result = api_pb2.GenericResult(
            status=api_pb2.GenericResult.GENERIC_STATUS_FAILURE
            if failed
            else api_pb2.GenericResult.GENERIC_STATUS_SUCCESS,
            exception="manifest unknown" if failed else "",
        )
        return api_pb2.ImageGetOrCreateResponse(image_id="im-base", result=result)

    async def ImageFromId(self, request: Any) -> Any:
        if request.image_id not in self.snapshots:
            raise GRPCError(Status.NOT_FOUND, f"Image {request.image_id} not found")
        return api_pb2.ImageFromIdResponse(image_id=request.image_id)

    async def AuthTokenGet(self, request: Any) -> Any:
        return api_pb2.AuthTokenGetResponse(token=KEY)

    async def SandboxGetFromNameV2(self, request: Any) -> Any:
        for sandbox_id, sandbox in self.sandboxes.items():
            if sandbox.runs and sandbox.name == request.sandbox_name:
                return api_pb2.SandboxGetFromNameResponse(sandbox_id=sandbox_id)
        raise GRPCError(Status.NOT_FOUND, "Sandbox not found")

    async def SandboxGetFromName(self, request: Any) -> Any:
        raise GRPCError(Status.NOT_FOUND, "Sandbox not found")

    async def SandboxCreateV2(self, request: Any) -> Any:
        definition = request.definition
        if self.running(definition.name):
            raise GRPCError(Status.ALREADY_EXISTS, f"Sandbox {definition.name} already exists")
        sandbox_id = f"sb-{next(self._count)}V"
        disk = self.folder / sandbox_id
        if snapshot := self.snapshots.get(definition.image_id):
            shutil.copytree(snapshot, disk, symlinks=True)
        self.sandboxes[sandbox_id] = Sandbox(definition.name, Machine(disk, self.seen_at), definition)
        return api_pb2.SandboxCreateV2Response(sandbox_id=sandbox_id, task_id=_task_of(sandbox_id))

    async def SandboxGetTaskIdV2(self, request: Any) -> Any:
        return api_pb2.SandboxGetTaskIdResponse(task_id=_task_of(request.sandbox_id))

    async def SandboxWaitV2(self, request: Any) -> Any:
        result = api_pb2.GenericResult()
        if not self.sandboxes[request.sandbox_id].runs:
            result = api_pb2.GenericResult(status=api_pb2.GenericResult.GENERIC_STATUS_TERMINATED, exitcode=137)
        return api_pb2.SandboxWaitResponse(result=result)

    async def SandboxTerminateV2(self, request: Any) -> Any:
        await self._end(self.sandboxes[request.sandbox_id])
        return api_pb2.SandboxTerminateResponse()

    async def SandboxGetCommandRouterAccess(self, request: Any) -> Any:
        return api_pb2.SandboxGetCommandRouterAccessResponse(jwt=KEY, url=self.url)

    # Programs in a sandbox

    async def TaskExecStart(self, request: Any) -> Any:
        sandbox = self._sandbox(request.task_id)
        process = await asyncio.create_subprocess_exec(
            *sandbox.machine.argv(request.command_args),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=sandbox.machine.env,
            start_new_session=True,
        )
        sandbox.programs[request.exec_id] = Program(process)
        return task_command_router_pb2.TaskExecStartResponse()

    async def TaskExecStdioRead(self, request: Any, stream: Stream[Any, Any]) -> None:
        program = self._sandbox(request.task_id).programs[request.exec_id]
        number = 1 if request.file_descriptor == task_command_router_pb2.TASK_EXEC_STDIO_FILE_DESCRIPTOR_STDOUT else 2
        at = request.offset
        while True:
            async with program.changed:
                await program.changed.wait_for(
                    lambda at=at: len(program.kept[number]) > at or number in program.over or program.is_lost
                )
            program.must_be_known()
            data = bytes(program.kept[number][at : at + 262_144])
            if not data:
                return
            await stream.send_message(task_command_router_pb2.TaskExecStdioReadResponse(data=data))
            at += len(data)

    async def TaskExecStdinWrite(self, request: Any) -> Any:
        program = self._sandbox(request.task_id).programs[request.exec_id]
        program.must_be_known()
        pipe = program.process.stdin
        assert pipe
        try:
            pipe.write(request.data[program.taken - request.offset :])
            program.taken = request.offset + len(request.data)
            await pipe.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise GRPCError(Status.FAILED_PRECONDITION, "the program takes no more input") from error
        if request.eof:
            pipe.close()
        return task_command_router_pb2.TaskExecStdinWriteResponse()

    async def TaskExecWait(self, request: Any) -> Any:
        program = self._sandbox(request.task_id).programs[request.exec_id]
        code = await program.process.wait()
        program.must_be_known()
        if code < 0:
            return task_command_router_pb2.TaskExecWaitResponse(signal=-code)
        return task_command_router_pb2.TaskExecWaitResponse(code=code)

    async def TaskSnapshotFilesystem(self, request: Any) -> Any:
        image_id = f"im-{next(self._count)}"
        self.snapshots[image_id] = self.folder / image_id
        shutil.copytree(self._sandbox(request.task_id).machine.disk, self.snapshots[image_id], symlinks=True)
        return task_command_router_pb2.TaskSnapshotFilesystemResponse(image_id=image_id)

    def _sandbox(self, task_id: str) -> Sandbox:
        sandbox = self.sandboxes[task_id.replace("ta-", "sb-", 1)]
        if not sandbox.runs:
            raise GRPCError(Status.NOT_FOUND, "the task is not running")
        return sandbox

    async def _end(self, sandbox: Sandbox) -> None:
        """End a sandbox with all that runs in it; its disk is gone for good."""
        sandbox.runs = False
        sandbox.machine.remove()
        for program in sandbox.programs.values():
            await program.process.wait()
            await asyncio.gather(*program.readers)


def _task_of(sandbox_id: str) -> str:
    return sandbox_id.replace("sb-", "ta-", 1)
