"""Pin every package that Hermes installs, with the hashes of all files of its release.

    python scripts/lock.py             resolve again; versions that still fit stay
    python scripts/lock.py --upgrade   take the newest versions
    python scripts/lock.py --check     without a network: do the files belong to pyproject.toml?

requirements/base.txt is what `./hermes` installs, requirements/dev.txt what contributors get on top of it. The
first line of each is a digest of the rest: set-up copies it into its stamp and later compares one line, not a file.
"""

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from itertools import product
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TREE = Path(__file__).resolve().parent.parent
BASE = TREE / "requirements" / "base.txt"
DEV = TREE / "requirements" / "dev.txt"
INTRO = {BASE: "# What ./hermes installs.", DEV: "# What contributors get on top of base.txt."}
ORIGIN = "# Written by scripts/lock.py from pyproject.toml; do not edit."
PLATFORMS = ("linux", "darwin", "android")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def main() -> int:
    parser = argparse.ArgumentParser(description="Pin every package that Hermes installs.")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    parser.add_argument("--check", action="store_true", help="only say whether the files belong to pyproject.toml")
    options = parser.parse_args()
    if options.check:
        problems = [*check(BASE, "local", pinned_in=[BASE]), *check(DEV, "dev", pinned_in=[BASE, DEV])]
        sys.stderr.writelines(f"{problem}\n" for problem in problems)
        return 1 if problems else 0
    lock(upgrade=options.upgrade)
    return 0


def lock(*, upgrade: bool) -> None:
    """Resolve both files; what base.txt pins is not repeated in dev.txt."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
        base = compile_extras(python, folder / "base.txt", ["local"], old=[] if upgrade else [BASE])
        everything = compile_extras(
            python,
            folder / "dev.txt",
            ["local", "dev"],
            old=[] if upgrade else [BASE, DEV],
            constraint=folder / "base.txt",
        )
    write(BASE, base)
    pinned = {named(block).name for block in base}
    write(DEV, [block for block in everything if named(block).name not in pinned])


def compile_extras(
    python: Path, output: Path, extras: list[str], *, old: list[Path], constraint: Path | None = None
) -> list[str]:
    """Return one text block for each package that the base with these extras needs."""
    # uv keeps the versions that it finds in its output file.
    output.write_text("".join(path.read_text() for path in old if path.exists()))
    command = [python, "-m", "uv", "pip", "compile", "pyproject.toml", "--output-file", output, "--quiet"]
    command += ["--universal", "--python-version", "3.11", "--generate-hashes"]
    command += ["--no-header", "--no-annotate", "--no-sources"]
    command += [argument for extra in extras for argument in ("--extra", extra)]
    command += ["--constraint", constraint] if constraint else []
    subprocess.run(command, check=True, cwd=TREE)
    return [block for block in blocks(output.read_text()) if is_wanted(block)]


def is_wanted(block: str) -> bool:
    """Leave out what only other systems need: a universal resolution covers Windows and browsers too."""
    marker = named(block).marker
    return marker is None or any(
        marker.evaluate({"sys_platform": platform, "python_version": python, "python_full_version": f"{python}.0"})
        for platform, python in product(PLATFORMS, PYTHONS)
    )


def named(block: str) -> Requirement:
    return Requirement(block.partition("\\")[0])


def blocks(text: str) -> list[str]:
    """Split a requirements file into its packages, hashes included."""
    return re.findall(r"^[^\s#].*\n(?:[ \t]+.*\n)*", text, re.MULTILINE)


def write(path: Path, packages: list[str]) -> None:
    body = f"{INTRO[path]}\n{ORIGIN}\n{''.join(packages)}"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{digest_line(body)}\n{body}")
    print(f"{path.relative_to(TREE)}: {len(packages)} packages", file=sys.stderr)


def digest_line(body: str) -> str:
    return f"# sha256 {hashlib.sha256(body.encode()).hexdigest()}"


def check(path: Path, extra: str, *, pinned_in: list[Path]) -> list[str]:
    """Say what is wrong with a file: edited by hand, or behind pyproject.toml."""
    first, _, body = path.read_text().partition("\n")
    name = path.relative_to(TREE)
    problems = [] if first == digest_line(body) else [f"{name} was edited; run scripts/lock.py"]
    packages = [named(block) for file in pinned_in for block in blocks(file.read_text())]
    pins = {canonicalize_name(package.name): str(package.specifier)[2:] for package in packages}
    project = tomllib.loads((TREE / "pyproject.toml").read_text())["project"]
    for wanted in map(Requirement, [*project["dependencies"], *project["optional-dependencies"][extra]]):
        version = pins.get(canonicalize_name(wanted.name))
        if version is None or not wanted.specifier.contains(version, prereleases=True):
            problems.append(f"{name} does not satisfy {wanted} of pyproject.toml; run scripts/lock.py")
    return problems


if __name__ == "__main__":
    sys.exit(main())
