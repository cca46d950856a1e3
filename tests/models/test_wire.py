"""A connection that is closed amid its own writing."""

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
