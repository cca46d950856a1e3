"""The project's own rules for an agent: the first context file that is found."""

from pathlib import Path

NAMES = (".hermes.md", "HERMES.md")
OTHERS = ("AGENTS.md", "CLAUDE.md")
MOST_BYTES = 400_000


def find_rules(cwd: Path) -> tuple[str, str]:
    """Name and text of the context file that applies in a folder, ("", "") if there is none.

    .hermes.md or HERMES.md in the folder or above it up to the git root, then AGENTS.md, CLAUDE.md, then Cursor's rules.
    """
    for folder in _up_to_git_root(cwd):
        for name in NAMES:
            if text := _read(folder / name):
                return name, text
    for name in OTHERS:
        if text := _read(cwd / name):
            return name, text
    cursor = [_read(cwd / ".cursorrules"), *(_read(p) for p in sorted((cwd / ".cursor" / "rules").glob("*.mdc")))]
    text = "\n\n".join(filter(None, cursor))
    return (".cursorrules", text) if text else ("", "")


def git_branch(cwd: Path) -> str:
    """The branch that is checked out in a folder, read without starting git."""
    for folder in _up_to_git_root(cwd):
        head = _read(folder / ".git" / "HEAD")
        if head:
            return head.strip().removeprefix("ref: refs/heads/")[:80]
    return ""


def _up_to_git_root(cwd: Path) -> list[Path]:
    folders = [cwd, *cwd.parents]
    for count, folder in enumerate(folders, 1):
        if (folder / ".git").exists():
            return folders[:count]
    return [cwd]


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES).decode(errors="replace").strip()
    except OSError:
        return ""
