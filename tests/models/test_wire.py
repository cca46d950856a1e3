"""A connection that is closed amid its own writing, or no longer wanted before it is there."""

import asyncio
import socket
import threading
import time

from hermes.models.wire import dial


async def test_a_connection_whose_last_bytes_leave_while_it_is_closed_is_closed():
    with socket.create_server(("127.0.0.1", 0)) as server:
        may_read = threading.Event()

        def read() -> None:
            connection, _ = server.accept()
            with connection:
                may_read.wait()
                while connection.recv(1 << 20):
                    continue

        reader = threading.Thread(target=read)
        reader.start()
        wire = await dial(*server.getsockname())
        while not wire._transport.get_write_buffer_size():
            await wire.write(b"x" * 10_000)
        may_read.set()
        time.sleep(0.1)
        # In this turn of the loop we are first, and behind us the rest is sent.
        await asyncio.sleep(0)
        await wire.close()
        await asyncio.to_thread(reader.join, 5)
        assert not reader.is_alive()


async def test_whoever_stops_dialling_leaves_no_socket_behind():
    opened = ended = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened, ended
        opened += 1
        await reader.read()
        ended += 1
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    for turns in range(40):
        dialling = asyncio.create_task(dial(*server.sockets[0].getsockname()))
        for _ in range(turns):
            await asyncio.sleep(0)
        dialling.cancel()
        [came] = await asyncio.gather(dialling, return_exceptions=True)
        if not isinstance(came, BaseException):
            await came.close()
    await asyncio.sleep(0.1)
    async with asyncio.timeout(5):
        while ended < opened:
            await asyncio.sleep(0.01)
    assert 30 < opened <= 40
    server.close()
    await server.wait_closed()
