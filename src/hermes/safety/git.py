"""What git may do without a question: show what is in the repository of the working folder."""

import os
import re

from hermes.safety.programs import Program

# These formats start the program that checks signatures.
_SIGNATURES = re.compile(r"%G")
_DIGITS = "0123456789"

_DIFF_SHORT = "abB?C?DG:l:M?pqRS:suU?wWz"
_DIFF = (
    "patch no-patch unified? raw stat? numstat shortstat dirstat? summary name-only name-status color? no-color "
    "word-diff? word-diff-regex: color-words? color-moved? no-renames find-renames? find-copies? diff-filter: "
    "pickaxe-all pickaxe-regex minimal patience histogram diff-algorithm: full-index binary abbrev? check "
    "ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines ignore-cr-at-eol inter-hunk-context: "
    "function-context exit-code quiet text relative? no-prefix src-prefix: dst-prefix: compact-summary "
    "no-ext-diff no-textconv submodule? ignore-submodules? indent-heuristic"
)
_LOG_SHORT = f"cEFgiL:mn:P{_DIGITS}"
_LOG = (
    "max-count: skip: since: after: until: before: author: committer: grep: all-match invert-grep regexp-ignore-case "
    "extended-regexp fixed-strings perl-regexp merges no-merges min-parents: max-parents: first-parent not all "
    "branches? tags? remotes? glob: exclude: reflog walk-reflogs merge cherry cherry-mark cherry-pick left-right "
    "left-only right-only boundary simplify-by-decoration full-history dense sparse simplify-merges ancestry-path? "
    "date-order author-date-order topo-order reverse no-walk? pretty? format: oneline abbrev-commit no-abbrev-commit "
    "date: relative-date parents children graph no-graph decorate? no-decorate decorate-refs: source follow log-size "
    "no-notes notes? cc combined-all-paths diff-merges: no-diff-merges root no-color no-mailmap use-mailmap"
)
_SHOWS = Program(_DIFF_SHORT + _LOG_SHORT, f"{_DIFF} {_LOG}", never=_SIGNATURES)

READS: dict[str, Program] = {
    "blame": Program(
        "bceflL:M?C?npstw", "root show-stats porcelain line-porcelain incremental show-name show-number date:"
    ),
    "cat-file": Program("eptsz", "batch? batch-check? batch-all-objects"),
    "describe": Program(
        "", "all tags always long dirty? broken? abbrev? match: exclude: contains exact-match first-parent"
    ),
    "diff": Program(_DIFF_SHORT, f"{_DIFF} cached staged merge-base"),
    "grep": Program(
        f"aA:B:C:cEe:f:FGhHiIlLm:noPpqrvwWz{_DIGITS}",
        "cached text ignore-case word-regexp invert-match extended-regexp basic-regexp perl-regexp fixed-strings "
        "line-number column files-with-matches name-only files-without-match null only-matching count color? no-color "
        "break heading show-function context: after-context: before-context: function-context max-depth: and or not "
        "all-match quiet full-name max-count: recursive no-recursive",
        files="rest",
        pattern=("e", "f"),
    ),
    "log": _SHOWS,
    "ls-files": Program(
        "cdfikmostuvz",
        "cached deleted modified others ignored stage directory no-empty-directory unmerged killed exclude-standard "
        "error-unmatch full-name abbrev? eol deduplicate",
    ),
    "ls-tree": Program("drtlz", "long name-only name-status object-only full-name full-tree abbrev? format:"),
    "merge-base": Program("a", "all octopus independent is-ancestor fork-point"),
    "name-rev": Program("", "tags refs: exclude: all name-only no-undefined always"),
    "rev-list": Program(_LOG_SHORT, f"{_LOG} count objects header timestamp", never=_SIGNATURES),
    "rev-parse": Program(
        "q",
        "verify quiet symbolic symbolic-full-name abbrev-ref? short? all branches? tags? remotes? show-toplevel "
        "show-prefix show-cdup git-dir git-common-dir absolute-git-dir is-inside-git-dir is-inside-work-tree "
        "is-bare-repository is-shallow-repository show-superproject-working-tree revs-only no-revs flags no-flags "
        "default:",
    ),
    "shortlog": Program(f"censw?{_DIGITS}", f"numbered summary email committer group: {_LOG}", never=_SIGNATURES),
    "show": _SHOWS,
    "status": Program(
        "bsu?vz",
        "short branch show-stash porcelain? long verbose untracked-files? ignored? ahead-behind renames no-renames "
        "column?",
    ),
}
# Commands that list with these words behind them, and change something with others.
LISTS: dict[str, frozenset[str]] = {
    "branch": frozenset({"-a", "-r", "-v", "-vv", "--all", "--remotes", "--list", "--show-current", "--verbose"}),
    "remote": frozenset({"-v", "--verbose"}),
    "tag": frozenset({"-l", "--list"}),
    "worktree": frozenset({"list"}),
    "stash": frozenset({"list"}),
}
PREFIXES = ("--no-pager", "-P", "-C")
NEEDS_A_WORD = frozenset({"worktree", "stash"})


def is_made_of_plain_files(folder: str) -> bool:
    """Whether git, started here, may take a folder for a repository that has no `.git`.

    Such a folder is made by writing a few ordinary files, and its settings name programs that git starts.
    """
    while True:
        has = {name for name in ("HEAD", "objects", "refs", "commondir", ".git") if os.path.lexists(f"{folder}/{name}")}
        if {"HEAD", "commondir"} <= has or {"HEAD", "objects", "refs"} <= has:
            return True
        if ".git" in has or folder == os.path.dirname(folder):
            return False
        folder = os.path.dirname(folder)
