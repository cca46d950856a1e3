"""Gets skills from where they are published into a quarantine: by git, from this machine, or from a site's index."""

import asyncio
import hashlib
import os
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import msgspec
from msgspec import Struct

from hermes.learning.skills.parse import FILE
from hermes.learning.skills.sources import FolderSource, GitSource, Source, WebSource
from hermes.protocol.errors import ToolError, UserError
from hermes.safety.archives import Bounds, extract
from hermes.safety.paths import judge_skill_file

Fetch = Callable[[str], Awaitable[tuple[str, str]]]
SECONDS = 120.0
MOST_FILES = 50
ARCHIVES = (".zip", ".skill", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
INDEXES = ("/.well-known/agent-skills/index.json", "/.well-known/skills/index.json")
BOUNDS = Bounds(members=2_000, size=1 << 26)
# Nothing that the person's or the repository's settings name is started, links are written as plain files, and no
# address can name a program.
QUIET = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.symlinks=false"),
    *(
        "-c",
        "protocol.ext.allow=never",
        "-c",
        "filter.lfs.smudge=",
        "-c",
        "filter.lfs.process=",
        "-c",
        "filter.lfs.required=false",
    ),
)


class Entry(Struct, frozen=True):
    """A skill in a site's index: the files of version 0.1, or the address and digest of version 0.2."""

    name: str
    description: str = ""
    files: tuple[str, ...] = ()
    type: str = ""
    url: str = ""
    digest: str = ""


class Index(Struct, frozen=True):
    skills: tuple[Entry, ...]


class Fetched(Struct, frozen=True):
    """A folder in quarantine with what a source had, the skill that is meant in it, and the commit if there is one."""

    folder: Path
    skill: str = ""
    revision: str = ""


async def collect(source: Source, room: Path, fetch: Fetch, environ: Mapping[str, str]) -> Fetched:
    """Everything that a source has, beneath `room`; from a site only the skill that is meant."""
    match source:
        case GitSource(url, skill, ref):
            return Fetched(room / "fetched", skill, await _clone(url, ref, room / "fetched", environ))
        case FolderSource(path, skill):
            return await asyncio.to_thread(_local, Path(path), skill, room / "fetched")
        case WebSource(url, skill):
            return await _download(url, skill, room / "fetched", fetch)


async def read_index(url: str, fetch: Fetch) -> tuple[Index, str]:
    """A site's index and its address; UserError if it publishes none."""
    addresses = [url] if url.endswith(".json") else [urljoin(url, path) for path in INDEXES]
    trouble: UserError | None = None
    for address in addresses:
        try:
            text, found_at = await fetch(address)
            return msgspec.json.decode(text, type=Index), found_at
        except UserError as error:
            trouble = error
        except msgspec.DecodeError as error:
            trouble = UserError(f"{address} is no index of skills: {error}", "ask whoever runs the site")
    assert trouble is not None
    raise trouble


async def _clone(url: str, ref: str, target: Path, environ: Mapping[str, str]) -> str:
    """The newest commit of a repository and nothing else; returns its id."""
    branch = ["--branch", ref] if ref else []
    words = ["clone", "--quiet", "--depth", "1", "--no-tags", "--single-branch", "--no-recurse-submodules", *branch]
    await _git([*words, "--", url, str(target)], target.parent, environ)
    return (await _git(["rev-parse", "HEAD"], target, environ)).strip()


async def _git(words: list[str], folder: Path, environ: Mapping[str, str]) -> str:
    kept = ("PATH", "HOME", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK", "HTTPS_PROXY", "https_proxy", "SSL_CERT_FILE")
    env = {name: environ[name] for name in kept if name in environ}
    env |= {
        "LC_ALL": "C.UTF-8",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_ALLOW_PROTOCOL": "https:http:ssh:file",
    }
    quiet = (*QUIET, "-c", "core.sshCommand=ssh -oBatchMode=yes")
    try:
        child = await asyncio.create_subprocess_exec(
            "git", *quiet, *words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, cwd=folder, env=env
        )
    except OSError:
        raise UserError("git is not installed", "install git") from None
    try:
        async with asyncio.timeout(SECONDS):
            said, errors = await child.communicate()
    except TimeoutError:
        raise UserError(
            f"git took longer than {SECONDS:g} seconds", "try again, or clone it and name the folder"
        ) from None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode:
        lines = errors.decode(errors="replace").strip().splitlines() or ["it gave no reason"]
        raise UserError(f"git cannot fetch it: {lines[-1].removeprefix('fatal: ')}", "check the address")
    return said.decode(errors="replace")


def _local(path: Path, skill: str, target: Path) -> Fetched:
    if path.is_dir():
        return Fetched(path, skill)
    if not path.is_file():
        raise UserError(f"{path} is not there", "name a folder or an archive that is")
    if not path.name.endswith(ARCHIVES):
        raise UserError(f"{path} is neither a folder nor an archive", f"archives end in {', '.join(ARCHIVES)}")
    target.mkdir()
    try:
        extract(str(path), str(target), BOUNDS)
    except ToolError as error:
        raise UserError(str(error), "unpack it by hand and name the folder") from None
    return Fetched(target, skill)


async def _download(url: str, skill: str, target: Path, fetch: Fetch) -> Fetched:
    if url.endswith(f"/{FILE}"):
        entry, base = Entry(urlsplit(url).path.split("/")[-2] or "skill", files=(FILE,)), urljoin(url, "../")
    else:
        index, base = await read_index(url, fetch)
        entry = _chosen(index, skill)
    if os.path.basename(entry.name) != entry.name or entry.name in ("", ".", ".."):
        raise UserError(f"{entry.name[:80]!r} cannot be the name of a skill", "ask whoever runs the site")
    folder = target / entry.name
    if entry.url:
        await _write(folder, FILE, await _single(entry, base, fetch))
        return Fetched(folder)
    if not 0 < len(entry.files) <= MOST_FILES:
        raise UserError(
            f"{entry.name} has {len(entry.files)} files there", f"1 to {MOST_FILES} are fetched; use git for more"
        )
    for name in entry.files:
        if judge_skill_file(name).decision != "allow" and ("/" in name or name.startswith(".")):
            raise UserError(
                f"{entry.name} names the file {name[:80]!r}", "a skill has its files beneath its own folder"
            )
        text, _ = await fetch(urljoin(base, f"{entry.name}/{name}"))
        await _write(folder, name, text)
    return Fetched(folder)


def _chosen(index: Index, skill: str) -> Entry:
    if not skill and len(index.skills) == 1:
        return index.skills[0]
    for entry in index.skills:
        if entry.name == skill:
            return entry
    names = ", ".join(entry.name for entry in index.skills[:12])
    raise UserError(
        f"the site has no skill {skill!r}" if skill else "the site has several skills", f"add #NAME, one of {names}"
    )


async def _single(entry: Entry, base: str, fetch: Fetch) -> str:
    if entry.type not in ("", "skill-md"):
        raise UserError(f"{entry.name} is published as {entry.type}", "download it and name the file")
    text, _ = await fetch(urljoin(base, entry.url))
    digest = hashlib.sha256(text.encode()).hexdigest()
    if entry.digest and entry.digest.removeprefix("sha256:") != digest:
        raise UserError(f"{entry.name} is not what the site's index promises", "its digest differs; try again later")
    return text


async def _write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread(path.write_text, text, encoding="utf-8")
