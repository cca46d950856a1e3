"""Hermes with its own CPU written down, without the processes it starts: own.py FILE ARGUMENTS..."""

import resource
import sys
from pathlib import Path

from hermes.cli.main import run

target = Path(sys.argv.pop(1))
try:
    sys.exit(run(sys.argv[1:]))
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    target.write_text(str((used.ru_utime + used.ru_stime) * 1000))
