"""The `hermes` command. Asking for the version loads nothing else."""

import gc
import os
import sys

import hermes


def main() -> int:
    # Collecting garbage while modules load costs a tenth of a cold start; a session switches it on again.
    gc.disable()
    if sys.argv[1:] in (["--version"], ["-V"], ["version"]):
        print(f"hermes {hermes.__version__}", flush=True)
        return 0
    import signal

    # Until there is something to close, Ctrl+C just ends us: raised amid an import it comes out as other errors.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from hermes.cli.main import run

    code = run(sys.argv[1:])
    # Everything is closed and flushed by now. Taking the interpreter apart would cost another 60 ms.
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
