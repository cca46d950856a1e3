"""A process that leaves a child behind in a session of its own; both ignore every polite signal: stubborn_child.py MARK."""

import os
import signal
import time

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
time.sleep(1000)
