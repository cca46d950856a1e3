"""Where skills can be had: git repositories, folders and archives on this machine, and sites that publish an index.

owner/repo[/skill][@ref]              a repository on github.com
host/owner/repo[/skill][@ref]         one elsewhere; git+URL[@ref][#skill] for any other address
./folder, ~/skills/pdf, /x/pdf.zip    something on this machine
https://host[#skill]                  a site with /.well-known/skills/index.json or /.well-known/agent-skills/index.json
"""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from hermes.learning.skills.lock import Trust
from hermes.protocol.errors import UserError

FORGES = frozenset({"github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "git.sr.ht"})
_short = re.compile(
    r"(?:(?P<host>[\w-]+(?:\.[\w-]+)+)/)?(?P<owner>~?[\w-]+)/(?P<repo>[\w.-]+?)(?:\.git)?(?:/(?P<path>[^@#]+))?(?:@(?P<ref>[\w./-]+))?"
)
_scp = re.compile(r"[\w.-]+@[\w.-]+:[\w./~-]+")
_word = re.compile(r"[a-z0-9][a-z0-9._-]*")


class GitSource(Struct, frozen=True, tag="git"):
    """A repository, at a branch or tag if one is named, and the skill in it."""

    url: str
    skill: str = ""
    ref: str = ""


class FolderSource(Struct, frozen=True, tag="folder"):
    """A folder of this machine that is a skill or holds some, or an archive of such a folder."""

    path: str
    skill: str = ""


class WebSource(Struct, frozen=True, tag="web"):
    """A site that publishes skills; `url` is that of the site or of its index."""

    url: str
    skill: str = ""


class Named(Struct, frozen=True, tag="named"):
    """Only a name: one of the taps may have it."""

    skill: str


Source = GitSource | FolderSource | WebSource


class Tap(Struct, frozen=True):
    """A source that is searched; a trusted one may hand out skills with small oddities."""

    source: str
    trusted: bool = False


DEFAULT_TAPS = (Tap("github.com/anthropics/skills", trusted=True),)


def read_source(text: str, cwd: Path) -> Source | Named:
    """What somebody means who names a source; UserError if nothing can be meant."""
    text = text.strip()
    if text.startswith(("/", "./", "../", "~")) or text in (".", ".."):
        path, _, skill = text.partition("#")
        return FolderSource(str((cwd / os.path.expanduser(path)).resolve()), skill)
    if text.startswith(("git+", "ssh://", "file://")) or _scp.match(text):
        return _repository(text.removeprefix("git+"))
    if text.startswith(("https://", "http://")):
        return _address(text)
    if _word.fullmatch(text):
        return Named(text)
    if match := _short.fullmatch(text):
        host = match["host"] or "github.com"
        return GitSource(
            f"https://{host}/{match['owner']}/{match['repo']}", (match["path"] or "").strip("/"), match["ref"] or ""
        )
    raise UserError(
        f"{text!r} is no source of skills", "owner/repo/skill, a folder, an archive, git+URL or https://site"
    )


def spelled(source: Source) -> str:
    """A source as it is kept: reading it again gives the same one."""
    match source:
        case GitSource(url, skill, ref):
            return f"git+{url}" + (f"@{ref}" if ref else "") + (f"#{skill}" if skill else "")
        case FolderSource(path, skill) | WebSource(path, skill):
            return f"{path}#{skill}" if skill else path


def trust_of(source: Source, taps: tuple[Tap, ...]) -> Trust:
    """How far what comes from a source is trusted: as the tap that it belongs to."""
    home = _home(source)
    trusted = any(tap.trusted and _home(_tapped(tap)) == home for tap in taps)
    return "trusted" if trusted else "community"


def _tapped(tap: Tap) -> Source:
    source = read_source(tap.source, Path("/"))
    assert not isinstance(source, Named)
    return source


def _home(source: Source) -> str:
    """What all skills of a source have in common. A branch may belong to somebody else than the repository's owner, so it counts."""
    match source:
        case GitSource(url, _, ref):
            return f"{url}@{ref}" if ref else url
        case FolderSource(path) | WebSource(path):
            return path


def _repository(text: str) -> GitSource:
    # An address may have a person before its host: git@host:repo and ssh://git@host/repo name no branch by that.
    address, mark, skill = text.partition("#")
    head, slash, tail = address.rpartition("/")
    name, _, ref = tail.partition("@") if slash else (tail, "", "")
    url = f"{head}{slash}{name}"
    if not url or url.startswith("-"):
        raise UserError(f"{text!r} is no address of a repository", "git+https://host/owner/repo#skill")
    return GitSource(url, skill.strip("/") if mark else "", ref)


def _address(text: str) -> Source:
    parts = urlsplit(text)
    names = [name for name in parts.path.split("/") if name]
    if parts.hostname is None:
        raise UserError(f"{text!r} is no address", "https://host/...")
    if names and names[-1].endswith(".git"):
        return _repository(text)
    if parts.hostname in FORGES and len(names) >= 2:
        url = f"{parts.scheme}://{parts.netloc}/{names[0]}/{names[1]}"
        rest = [name for name in names[2:] if name != "-"]
        if rest[:1] in (["tree"], ["blob"], ["src"]) and len(rest) > 1:
            path = "/".join(rest[2:]).removesuffix("SKILL.md").strip("/")
            return GitSource(url, path, rest[1])
        return GitSource(url, parts.fragment or "/".join(rest))
    return WebSource(text.partition("#")[0].rstrip("/"), parts.fragment)
