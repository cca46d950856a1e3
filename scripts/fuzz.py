"""Fuzz the parsers that strangers' bytes reach, led by coverage: make fuzz ARGS="--seconds 600 shell urls"

Without names every parser is fuzzed in turn. atheris has an environment of its own under .cache/fuzz, made on the first run;
inputs that reached something new are kept there, and what broke a parser lies in .cache/fuzz/finds. Exit code 1: there was
a find.
"""

import argparse
import os
import string
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parent.parent
CACHE = TREE / ".cache" / "fuzz"
PYTHON = CACHE / "bin" / "python"
CORPORA = TREE / "tests" / "safety" / "corpora"
ATHERIS = "atheris==3.0.0"
SLOWEST = 30
"""Seconds by the clock after which an input counts as a hang; others may need the machine too."""
LONGEST = 2_000

Check = Callable[[bytes], None]
SPREAD = {0xDC80 + at: 0x100 + at * (0x10FFFF - 0x100) // 127 for at in range(1, 128)}
"""What a byte that is no UTF-8 stands for: characters from all over Unicode. Only the first of them stays a lone surrogate."""
RARE = {ord(letter): 0x10FFFF - at * 0x4000 for at, letter in enumerate("0123456789" + string.ascii_letters)}
"""Letters for letters from far beyond; the signs between them, which a parser goes by, stay."""
SEEDS = {"shell": "commands", "urls": "urls", "redactor": "secrets", "paths": "paths", "sse": ""}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="PARSER", nargs="*", help=f"of {', '.join(SEEDS)}; default: all")
    parser.add_argument("--seconds", type=int, default=600, help="for each of them (default 600)")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if unknown := set(args.names) - SEEDS.keys():
        parser.error(f"there is no parser {', '.join(unknown)}")
    if args.inside:
        fuzz(args.names[0], args.seconds)
    set_up()
    return max([run(name, args.seconds) for name in args.names or SEEDS])


def set_up() -> None:
    """An environment with atheris alone; Hermes and what it needs come from .venv."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", CACHE], check=True)
    found = subprocess.run([PYTHON, "-c", "import atheris"], capture_output=True)
    if found.returncode:
        subprocess.run([PYTHON, "-m", "pip", "install", "--disable-pip-version-check", ATHERIS], check=True)


def run(name: str, seconds: int) -> int:
    """Fuzz one parser in a process of its own: libFuzzer ends the process that finds something."""
    print(f"fuzz: {name} for {seconds} s", flush=True)
    paths = [TREE / "src", TREE, *(Path(path) for path in sys.path if path.endswith("site-packages"))]
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [PYTHON, Path(__file__), "--inside", "--seconds", str(seconds), name]
    done = subprocess.run(command, env=env, cwd=TREE)
    print(
        f"fuzz: {name} {'survived' if done.returncode == 0 else 'BROKE; the input is in .cache/fuzz/finds'}", flush=True
    )
    return int(done.returncode != 0)


def fuzz(name: str, seconds: int) -> None:
    atheris: Any = import_module("atheris")
    with atheris.instrument_imports(include=["hermes"]):
        check = CHECKS[name]()
    corpus, finds = CACHE / "corpus" / name, CACHE / "finds"
    corpus.mkdir(parents=True, exist_ok=True)
    finds.mkdir(exist_ok=True)
    plant_seeds(name, corpus)
    flags = [
        f"-max_total_time={seconds}",
        f"-timeout={SLOWEST}",
        f"-max_len={LONGEST}",
        "-verbosity=0",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *flags, f"-artifact_prefix={finds}/{name}-", str(corpus)], check)
    atheris.Fuzz()


def plant_seeds(name: str, corpus: Path) -> None:
    if not SEEDS[name]:
        (corpus / "seed").write_bytes(b"event: a\ndata: {}\n\n: note\r\ndata: 1\rdata: 2\n\n")
        return
    import json

    for number, line in enumerate((CORPORA / f"{SEEDS[name]}.jsonl").read_text().splitlines()):
        row = json.loads(line.replace("¦", ""))
        text = next(row[key] for key in ("command", "url", "text", "path") if key in row)
        (corpus / f"seed{number:04d}").write_text(text, errors="replace")


def text_from(data: bytes) -> str:
    """Text in which a single changed byte can be a rare character; replaced by U+FFFD they would all be the same."""
    return data.decode(errors="surrogateescape").translate(SPREAD)


# What must hold for any input. Each is imported only when it is fuzzed, because the import is what is instrumented.


def shell() -> Check:
    """Every command has a verdict with a rule, also twice over, and in letters that no grammar was written for."""
    from hermes.protocol.actions import Origin, RunCommand
    from hermes.safety.gate import Gate, Policy
    from hermes.safety.places import Places

    # The gate would load it with the first command, too late to be instrumented.
    import_module("hermes.safety.commands.case")
    places = Places(home="/home/me/.hermes", user_home="/home/me")
    gate = Gate(Policy(places=places), always=lambda grant: None)
    origin = Origin(surface="fuzz", session="fuzz", workspace="/home/me/work")

    def check(data: bytes) -> None:
        text = text_from(data)
        action = RunCommand(text, "/home/me/work")
        verdict = gate.judge(action, origin)
        assert verdict.rule and verdict.why and verdict == gate.judge(action, origin)
        gate.choices(action, origin)
        assert gate.judge(RunCommand(text.translate(RARE), "/home/me/work"), origin).rule

    return check


def urls() -> Check:
    """No text raises, and none that is allowed leads to an address of this machine or its network."""
    import ipaddress

    from hermes.safety.urls import judge_url, parse

    def check(data: bytes) -> None:
        text = text_from(data)
        for url in (text, f"http://{text}", f"https://example.com{text}"):
            if judge_url(url, {}, []).decision == "allow":
                host = parse(url).host.strip("[]")
                try:
                    address = ipaddress.ip_address(host)
                except ValueError:
                    assert "." in host and host != "localhost", url
                else:
                    assert address.is_global, url
        assert judge_url("https://example.com/", {}, [text]).decision in ("allow", "block")

    return check


def redactor() -> Check:
    """A configured secret never shows, whole or in pieces, and what was masked once stays as it is."""
    from hermes.safety.secrets.redact import Redactor
    from hermes.safety.secrets.stream import StreamRedactor

    secret = "violet-anchor-7731-quill"
    masks = Redactor([secret])

    def check(data: bytes) -> None:
        size = data[0] % 32 + 1 if data else 1
        text = text_from(data[1:])
        whole = f"{text}{secret}{text[::-1]}"
        once = masks.mask(whole)
        assert secret not in once
        assert masks.mask(once) == once, "masked again it changes"
        stream = StreamRedactor(masks)
        pieces = [stream.feed(whole[at : at + size]) for at in range(0, len(whole), size)]
        assert secret not in "".join([*pieces, stream.close()])

    return check


def paths() -> Check:
    """No spelling raises, and the names of what is allowed lead nowhere but down."""
    from hermes.safety.paths import Outside, beneath, judge_path, judge_skill_file

    def check(data: bytes) -> None:
        path = text_from(data)
        judge_skill_file(path)
        for op in ("read", "write", "extract"):
            allowed = judge_path(path, op, "/srv/work").decision == "allow"
            try:
                names = beneath(path, "/srv/work", absolute=op != "extract")
            except Outside:
                assert not allowed, path
                continue
            assert not {"", ".", ".."} & set(names) and not any("/" in name or "\0" in name for name in names), path

    return check


def sse() -> Check:
    """However a stream is cut, the events are the same."""
    from hermes.models.sse import Event, Parser

    def events(pieces: list[bytes]) -> list[Event]:
        parser = Parser()
        return [event for piece in pieces for event in parser.feed(piece)] + parser.close()

    def check(data: bytes) -> None:
        at = data[0] % (len(data) + 1) if data else 0
        whole = events([data])
        assert events([data[:at], data[at:]]) == whole
        assert events([data[n : n + 1] for n in range(len(data))]) == whole

    return check


CHECKS: dict[str, Callable[[], Check]] = {
    "shell": shell,
    "urls": urls,
    "redactor": redactor,
    "paths": paths,
    "sse": sse,
}


if __name__ == "__main__":
    sys.exit(main())
