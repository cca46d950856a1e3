"""The `hermes` command. Asking for the version loads nothing else."""

# `signal` itself takes milliseconds to load, and Ctrl+C amid them would show a traceback.
import _signal  # pyright: ignore[reportMissingImports]
import gc
import os
import sys

import hermes


def main() -> int:
    # Until there is something to close, Ctrl+C just ends us: raised amid an import it comes out as other errors.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    # Collecting garbage while modules load costs a tenth of a cold start; a session switches it on again.
    gc.disable()
    if sys.argv[1:] in (["--version"], ["-V"], ["version"]):
        print(f"hermes {hermes.__version__}", flush=True)
        return 0
    from hermes.cli.main import run

    code = run(sys.argv[1:])
    # Everything is closed and flushed by now. Taking the interpreter apart would cost another 60 ms.
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
