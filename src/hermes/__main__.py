"""The `hermes` command. Asking for the version loads nothing else."""

import gc
import os
import sys

import hermes


def main() -> int:
    # Collecting garbage while modules load costs a tenth of a cold start; a session switches it on again.
    gc.disable()
    try:
        if sys.argv[1:] in (["--version"], ["-V"], ["version"]):
            print(f"hermes {hermes.__version__}", flush=True)
            return 0
        from hermes.cli.main import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    # Everything is closed and flushed by now. Taking the interpreter apart would cost another 60 ms.
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
