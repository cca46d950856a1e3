"""The `hermes` command. Asking for the version loads nothing else."""

import sys

import hermes


def main() -> int:
    try:
        if sys.argv[1:] in (["--version"], ["-V"], ["version"]):
            print(f"hermes {hermes.__version__}", flush=True)
            return 0
        from hermes.cli.main import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
