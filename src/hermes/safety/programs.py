"""The short list of programs that only read, and of builds and tests that run in the working folder."""

import re
from typing import Literal

from msgspec import Struct


class Program(Struct, frozen=True):
    """A program that only reads.

    `never` are options that would make it write or start something; `files` says which arguments name files ("rest": all
    but the first, which is a pattern); `most` is how many there may be; `deep` programs read whole folders.
    """

    never: tuple[str, ...] = ()
    files: Literal["all", "rest", "none"] = "all"
    most: int | None = None
    deep: bool = False


_READERS = (
    *(
        "cat",
        "cmp",
        "comm",
        "cut",
        "df",
        "du",
        "head",
        "ls",
        "nl",
        "od",
        "paste",
        "readlink",
        "realpath",
        "rev",
        "stat",
    ),
    *("tac", "tail", "wc", "md5sum", "sha1sum", "sha256sum", "sha512sum"),
)
_SPEAKERS = (
    *(
        "basename",
        "dirname",
        "echo",
        "false",
        "id",
        "pwd",
        "seq",
        "sleep",
        "tr",
        "true",
        "type",
        "uname",
        "which",
    ),
    "whoami",
)

PROGRAMS: dict[str, Program] = {
    **dict.fromkeys(_READERS, Program()),
    **dict.fromkeys(_SPEAKERS, Program(files="none")),
    **dict.fromkeys(("arch", "groups", "hostname", "nproc", "uptime"), Program(never=("*",), most=0)),
    # `printf -v` and `test -v` evaluate an array index, and with it any command that stands there.
    "printf": Program(never=("-v",), files="none"),
    "test": Program(never=("-v", "-R")),
    "[": Program(never=("-v", "-R")),
    "uniq": Program(most=1),
    "sort": Program(never=("-o", "-T", "--output", "--temporary-directory", "--compress-program", "--files0-from")),
    "file": Program(
        never=("-C", "-m", "-z", "-Z", "--compile", "--magic-file", "--uncompress", "--uncompress-noreport")
    ),
    "tree": Program(never=("-o", "-R", "--fromfile")),
    "jq": Program(files="rest"),
    "diff": Program(deep=True),
    **dict.fromkeys(("grep", "egrep", "fgrep"), Program(files="rest", deep=True)),
    "rg": Program(never=("-z", "--pre", "--pre-glob", "--hostname-bin", "--search-zip"), files="rest", deep=True),
}

GIT_READS = frozenset(
    {
        *(
            "blame",
            "cat-file",
            "describe",
            "diff",
            "grep",
            "log",
            "ls-files",
            "ls-tree",
            "merge-base",
            "name-rev",
        ),
        *("rev-list", "rev-parse", "shortlog", "show", "status"),
    }
)
GIT_NEVER = (
    "-O",
    "--output",
    "--ext-diff",
    "--textconv",
    "--filters",
    "--open-files-in-pager",
    "--exec",
    "--upload-pack",
)
# Commands of git that list with these words behind them, and change something with others.
GIT_LISTS: dict[str, frozenset[str]] = {
    "branch": frozenset({"-a", "-r", "-v", "-vv", "--all", "--remotes", "--list", "--show-current", "--verbose"}),
    "remote": frozenset({"-v", "--verbose"}),
    "tag": frozenset({"-l", "--list"}),
    "worktree": frozenset({"list"}),
    "stash": frozenset({"list"}),
}
GIT_NEEDS_A_WORD = frozenset({"worktree", "stash"})

FIND_ACTS = ("-exec", "-ok", "-delete", "-fprint", "-fls", "-files0")
SED_PRINTS = re.compile(r"((\d+|\$|/[^/\\\n]*/)(,(\+?\d+|\$|/[^/\\\n]*/))?p(;|$))+")
DATE_SHOWS = re.compile(r"\+.*|-u|-R|-I\w*|--utc|--universal|--rfc-[\w=-]+|--iso-8601(=\w+)?|--date=.*", re.DOTALL)
TELL_VERSIONS = frozenset(
    {
        *(
            "bash",
            "cargo",
            "gcc",
            "git",
            "go",
            "java",
            "make",
            "node",
            "npm",
            "pip",
            "pip3",
            "python",
            "python3",
            "ruby",
        ),
        *("rustc", "uv"),
    }
)

_PYTEST = frozenset(
    {
        *(
            "-q",
            "-qq",
            "-v",
            "-vv",
            "-x",
            "-s",
            "-l",
            "-k",
            "-m",
            "-n",
            "-ra",
            "-rA",
            "--lf",
            "--ff",
            "--sw",
            "--co",
        ),
        *(
            "--collect-only",
            "--tb",
            "--maxfail",
            "--durations",
            "--exitfirst",
            "--last-failed",
            "--failed-first",
        ),
        *("--verbose", "--quiet", "--no-header", "--timeout"),
    }
)
_CARGO = frozenset(
    {
        *(
            "-q",
            "-v",
            "--quiet",
            "--verbose",
            "--release",
            "--all",
            "--workspace",
            "--all-targets",
            "--all-features",
        ),
        *("--lib", "--bins", "--tests", "--locked", "--offline"),
    }
)
_GO = frozenset({"-v", "-race", "-short", "-count", "-cover", "-run", "-timeout"})
_NOTHING: frozenset[str] = frozenset()

# Building and testing run code, and that code is the working folder's own: whoever wrote it could do the same there without
# a question, and the folder is checkpointed first. The boundary against code that does more is the sandbox, not this list.
BUILDS: dict[tuple[str, ...], frozenset[str]] = {
    ("pytest",): _PYTEST,
    ("python", "-m", "pytest"): _PYTEST,
    ("python3", "-m", "pytest"): _PYTEST,
    ("make", "test"): _NOTHING,
    ("make", "check"): _NOTHING,
    ("npm", "test"): _NOTHING,
    ("npm", "run", "test"): _NOTHING,
    ("npm", "run", "build"): _NOTHING,
    ("npm", "run", "lint"): _NOTHING,
    ("cargo", "test"): _CARGO,
    ("cargo", "build"): _CARGO,
    ("cargo", "check"): _CARGO,
    ("go", "test"): _GO,
    ("go", "build"): _GO,
    ("go", "vet"): _GO,
}
