"""The short list of programs that only read, each with the options under which it stays so."""

import re
from typing import Literal

from msgspec import Struct


class Program(Struct, frozen=True):
    """A program that only reads, as long as no other options than these are used (written as `argv.parse` wants them).

    Left out on purpose is every option that writes, starts a program, follows links, or reads names of files from a
    file. `files` says which operands name files ("rest": all but the first, unless one of the options in `pattern`
    brings that); `most` is how many operands there may be; `deep` are the options with which it reads whole folders,
    `*` if it always does (listing names is not reading); `never` is what no argument may contain.
    """

    short: str = ""
    long: str = ""
    files: Literal["all", "rest", "none"] = "all"
    pattern: tuple[str, ...] = ()
    most: int | None = None
    deep: tuple[str, ...] = ()
    never: re.Pattern[str] | None = None


_DIGITS = "0123456789"
_SUM = Program("btz", "binary text tag zero")
_GREP = Program(
    f"abcEFGhHiIlLnoPqrsTUvwxyzZA:B:C:e:f:m:{_DIGITS}",
    "text byte-offset count extended-regexp fixed-strings basic-regexp perl-regexp no-filename with-filename "
    "ignore-case no-ignore-case files-with-matches files-without-match line-number only-matching quiet silent "
    "recursive no-messages initial-tab binary invert-match word-regexp line-regexp null-data null after-context: "
    "before-context: context: regexp: file: max-count: include: exclude: exclude-dir: color? colour? label: "
    "line-buffered binary-files:",
    files="rest",
    pattern=("e", "f", "regexp", "file"),
    deep=("r", "recursive"),
)
_RG = Program(
    "abcFhHiIlnNopPqsSuUvVwx.0A:B:C:e:E:f:g:j:m:M:r:t:T:",
    "text byte-offset case-sensitive column context: after-context: before-context: count count-matches color: colors: "
    "crlf encoding: engine: file: files files-with-matches files-without-match fixed-strings glob: "
    "glob-case-insensitive heading no-heading hidden iglob: ignore-case include-zero invert-match json line-buffered "
    "line-number no-line-number line-regexp max-columns: max-columns-preview max-count: max-depth: max-filesize: "
    "multiline multiline-dotall no-config no-filename with-filename no-ignore no-ignore-vcs no-messages null null-data "
    "one-file-system only-matching passthru pcre2 pretty quiet regexp: replace: smart-case sort: sortr: stats threads: "
    "trim type: type-add: type-list type-not: unrestricted vimgrep word-regexp",
    files="rest",
    pattern=("e", "f", "regexp", "file", "files"),
    deep=("*",),
)
_JQ = Program(
    "cCehjMnrRsSa",
    "compact-output color-output exit-status join-output monochrome-output null-input raw-output raw-input slurp "
    "sort-keys ascii-output tab indent: arg:: argjson:: slurpfile:: rawfile:: args jsonargs seq stream unbuffered",
    files="rest",
    # jq's own ways to other files and to the environment.
    never=re.compile(r"\b(import|include|modulemeta|env|ENV)\b"),
)

PROGRAMS: dict[str, Program] = {
    "cat": Program("AbeEnstTuv", "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting"),
    "cmp": Program("bi:ln:s", "print-bytes ignore-initial: verbose bytes: quiet silent"),
    "comm": Program("123z", "check-order nocheck-order output-delimiter: total zero-terminated"),
    "cut": Program(
        "b:c:d:f:nsz",
        "bytes: characters: delimiter: fields: complement only-delimited output-delimiter: zero-terminated",
    ),
    "df": Program(
        "aB:hHiklPt:Tx:", "all block-size: human-readable si inodes local portability type: print-type total"
    ),
    "diff": Program(
        "abBcC:deEF:iI:nL:pqstTuU:wW:yZ",
        "normal quiet brief report-identical-files context? unified? ed side-by-side width: left-column "
        "suppress-common-lines show-c-function show-function-line: label: expand-tabs initial-tab ignore-case "
        "ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines "
        "ignore-matching-lines: text strip-trailing-cr minimal color?",
    ),
    "du": Program(
        "0abB:cd:DhHklLmPsSt:x",
        "all apparent-size block-size: bytes total max-depth: human-readable si summarize separate-dirs threshold: "
        "time? exclude: one-file-system null",
    ),
    "file": Program("0bEhiLNrv", "brief mime mime-type mime-encoding dereference no-dereference no-pad raw extension"),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "head": Program(f"c:n:qvz{_DIGITS}", "bytes: lines: quiet silent verbose zero-terminated"),
    "jq": _JQ,
    "ls": Program(
        "1aAbBcCdfFgGhHiI:klLmnNopqQrRsStT:uUvw:xXZ",
        "all almost-all author escape block-size: ignore-backups color? directory classify? file-type format: "
        "full-time group-directories-first no-group human-readable si hide: indicator-style: inode ignore: kibibytes "
        "dereference numeric-uid-gid literal quote-name reverse recursive size sort: time: time-style: tabsize: "
        "width: zero",
    ),
    "nl": Program(
        "b:d:f:h:i:l:n:ps:v:w:", "body-numbering: line-increment: number-format: number-separator: number-width:"
    ),
    "od": Program("A:j:N:t:vw?abcdfilosx", "address-radix: skip-bytes: read-bytes: format: output-duplicates width?"),
    "paste": Program("d:sz", "delimiters: serial zero-terminated"),
    "readlink": Program("femnqsvz", "canonicalize canonicalize-existing canonicalize-missing no-newline quiet zero"),
    "realpath": Program(
        "eLmPqsz", "canonicalize-existing canonicalize-missing relative-to: relative-base: no-symlinks quiet"
    ),
    "rev": Program(),
    "rg": _RG,
    "sort": Program(
        "bcCdfghik:mMnrRsS:t:uVz",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort "
        "human-numeric-sort numeric-sort random-sort reverse sort: version-sort check? key: merge stable buffer-size: "
        "field-separator: unique zero-terminated parallel: debug",
    ),
    "stat": Program("c:fLt", "dereference file-system format: printf: terse"),
    "tac": Program("brs:", "before regex separator:"),
    "tail": Program(f"c:fFn:qs:vz{_DIGITS}", "bytes: follow? lines: quiet silent retry sleep-interval: verbose"),
    "tree": Program(
        "aACdDfFghiI:JlL:nNpP:qQrsStuUvxX",
        "dirsfirst filelimit: gitignore ignore-case inodes matchdirs noreport prune du si timefmt: sort: charset:",
    ),
    "uniq": Program("cdDf:is:uw:z", "count repeated all-repeated? skip-fields: ignore-case skip-chars: unique", most=1),
    "wc": Program("clLmw", "bytes chars lines max-line-length words"),
    **dict.fromkeys(("md5sum", "sha1sum", "sha256sum", "sha512sum"), _SUM),
    "basename": Program("as:z", "multiple suffix: zero", files="none"),
    "dirname": Program("z", "zero", files="none"),
    "id": Program("gGnruz", "group groups name real user zero", files="none"),
    "pwd": Program("LP", files="none"),
    # bash's printf sets the variable that -v or %n names, PATH as well as any other.
    "printf": Program(files="none", never=re.compile(r"(?<!%)(%%)*%[^%a-zA-Z]*[hjlLqtz]*n")),
    "seq": Program(f"f:s:w.{_DIGITS}", "format: separator: equal-width", files="none"),
    "sleep": Program(files="none"),
    "tr": Program("cCdst", "complement delete squeeze-repeats truncate-set1", files="none"),
    "type": Program("afpPt", files="none"),
    "uname": Program("aimnoprsv", "all kernel-name nodename kernel-release machine operating-system", files="none"),
    "which": Program("as", files="none"),
    **dict.fromkeys(("arch", "groups", "hostname", "nproc", "uptime", "whoami"), Program(most=0)),
}
# These say or ignore whatever they are told.
SAY_ANYTHING = frozenset({"echo", "true", "false"})
# `test -v` evaluates an array index, and with it any command that stands there.
TEST_OPERATORS = re.compile(r"-([abcdefghknoprstuwxzGLNOS]|ef|eq|ge|gt|le|lt|ne|nt|ot)")

FIND_FLAGS = re.compile(
    r"[(),!]|-(a|and|o|or|not|d|depth|daystart|empty|executable|false|follow|ls|mount|nogroup|noleaf|nouser|print0?"
    r"|prune|quit|readable|true|writable|xdev)"
)
FIND_VALUES = re.compile(
    r"-([acm]min|[acm]time|fstype|[gu]id|group|i?lname|i?name|inum|i?path|i?regex|i?wholename|links|maxdepth|mindepth"
    r"|perm|printf|regextype|size|x?type|used|user)"
)
FIND_FILES = re.compile(r"-(samefile|[ac]?newer|newer[aBcm][aBcmt])")
SED_PRINTS = re.compile(r"((\d+|\$|/[^/\\\n]*/)(,(\+?\d+|\$|/[^/\\\n]*/))?p(;|$))+")
DATE_SHOWS = re.compile(r"\+.*|-u|-R|-I\w*|--utc|--universal|--rfc-[\w=-]+|--iso-8601(=\w+)?|--date=.*", re.DOTALL)

# Not among them are those that first look into the working folder for which version to be: cargo, go, npm, rustc.
TELL_VERSIONS = re.compile(r"(bash|gcc|git|java|make|node|python3?|ruby) --version|git version|node -v|python3? -V")
