"""The floor of writer.py: a lock and the same commits, synced in full, without a store or a queue: bare_writer.py DATABASE NAME COUNT"""

import fcntl
import os
import sys
import time

import msgspec
from floor import open_database, write


def main(path: str, name: str, count: int) -> None:
    lock = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    database = open_database(path)
    fcntl.flock(lock, fcntl.LOCK_UN)
    print("ready", flush=True)
    sys.stdin.readline()
    took: list[float] = []
    for seq in range(1, count + 1):
        began = time.monotonic()
        fcntl.flock(lock, fcntl.LOCK_EX)
        write(database, f"{name} {seq}")
        fcntl.flock(lock, fcntl.LOCK_UN)
        took.append((time.monotonic() - began) * 1000)
    print(msgspec.json.encode(took).decode(), flush=True)
    sys.stdin.read()


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
