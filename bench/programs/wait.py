"""Run a command and tell what it cost: wait.py DESCRIPTOR COMMAND..., by a parent that imports nothing large.

On Linux the peak memory of a process begins at that of the process that started it, so the bench itself, which may
have grown, cannot be that process.
"""

import os
import sys
import time

descriptor, command = int(sys.argv[1]), sys.argv[2:]
os.set_inheritable(descriptor, False)
began = time.monotonic()
pid = os.posix_spawn(command[0], command, os.environ)
_, status, used = os.wait4(pid, 0)
wall = time.monotonic() - began
peak = used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
code = os.waitstatus_to_exitcode(status)
os.write(descriptor, f"{code} {(used.ru_utime + used.ru_stime) * 1000} {wall * 1000} {peak}".encode())
