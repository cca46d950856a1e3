"""Names of files as people and models write them, and as they can be shown."""

import os


def absolute(path: str, cwd: str, home: str) -> str:
    """The path from the root on, with `~` and `~name` replaced; `..` stays, since what it means depends on links."""
    if path.startswith("~"):
        name, slash, rest = path.partition("/")
        path = (home if name == "~" else _home_of(name[1:]) or name) + slash + rest
    return os.path.join(cwd, path)


def printable(path: str | bytes) -> str:
    """A name that can be stored and sent; bytes in it that are not UTF-8 show as a replacement sign."""
    return os.fsencode(path).decode(errors="replace")


def nearest_folder(path: str) -> str:
    """The folder itself, or the closest one above it that exists."""
    while path and not os.path.isdir(path):
        path = os.path.dirname(path)
    return path or "/"


def _home_of(name: str) -> str:
    import pwd

    try:
        return pwd.getpwnam(name).pw_dir
    except KeyError:
        return ""
