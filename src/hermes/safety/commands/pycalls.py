"""What the calls in Python code do, where their arguments tell: files, programs, statements for a database, more code."""

import ast
import re

from msgspec import Struct

from hermes.safety.commands.argv import listed
from hermes.safety.commands.pypaths import PyPaths
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.patterns import Pattern

# What changes files, starts programs or reaches other machines, by its name.
DOES_HARM = Pattern(
    r"system|popen|remove|unlink|rmdir|removedirs|rmtree|rename|renames|replace_file|kill|killpg|exec[lv]\w*|spawn\w*|fork|"
    r"forkpty|chmod|chown|lchown|symlink|symlink_to|hardlink_to|link|truncate|putenv|setuid|setgid|write_text|write_bytes|"
    r"copytree|copyfile|copy2|make_archive|unpack_archive|extractall|startfile|import_module|load_module|loads_code|"
    r"urlopen|urlretrieve|create_connection|sendall|sendto|sendmail|run_module|run_path|interact|mknod|mkfifo|chroot|"
    r"posix_spawn\w*|register_at_fork|f?chdir|create_subprocess_\w+|subprocess_(shell|exec)|"
    r"open_(unix_)?connection|start_(unix_)?server|attrgetter|methodcaller|bootstrap"
)
_STARTS = Pattern(r"os\.(system|popen)|subprocess\.\w+")
# Their first argument is the file, and the second says whether it is written.
_OPENS = Pattern(r"open|(io|os|gzip|bz2|lzma|codecs|tarfile|tokenize|aiofiles)\.open|(zipfile\.)?ZipFile|(io\.)?FileIO")
_FILLS = Pattern(
    r".*\.(save\w*|to_(csv|json|parquet|excel|pickle|feather|hdf|html|markdown|stata|xml)|imwrite|imsave|tofile|write_\w+)|"
    r"(logging\.)?(handlers\.)?\w*FileHandler|(shelve|dbm)\.open|(\w+\.)?connect"
)
_STATES = listed("execute executemany executescript")
_RUNS_TEXT = Pattern(
    r"timeit\.(timeit|repeat|Timer)|(cProfile|profile|pdb|trace)\.(run|runctx|runeval)|.*Trace\(.*\)\.run"
)
_MODE = Pattern(r"(?=.*[wax+])[rwaxbtU+]{1,4}(?:[:|]\w*)?")
_FINDS_CODE = Pattern(r"sys\.path\.(insert|append|extend)|site\.addsitedir")


class Code(Struct, frozen=True):
    """What a piece of code does: shell texts it runs, files it writes and reads, folders that it takes code from,
    statements for a database, and what cannot be followed."""

    texts: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    trouble: str = ""

    def with_inner(self, inner: "Code") -> "Code":
        return Code(
            self.texts + inner.texts,
            self.writes + inner.writes,
            self.reads + inner.reads,
            self.loads + inner.loads,
            self.statements + inner.statements,
            self.trouble or inner.trouble,
        )


class Calls:
    """All calls of one piece of code; `understood` are the nodes of which nothing else need be feared."""

    def __init__(self, tree: ast.Module) -> None:
        self.understood: set[int] = set()
        self.sources: list[str] = []
        self._found: dict[str, list[str]] = {"texts": [], "writes": [], "reads": [], "loads": [], "statements": []}
        self._hidden = ""
        self._forgets = self._keeps = False
        self._paths = PyPaths(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and not self._on_files(node):
                self._take(node, ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else "")

    def code(self, trouble: str) -> Code:
        if self._forgets and not self._keeps:
            # Such a database is gone at the end, whatever was done to it.
            self._found["statements"].clear()
        return Code(**{kind: tuple(texts) for kind, texts in self._found.items()}, trouble=trouble or self._hidden)

    def _on_files(self, node: ast.Call) -> bool:
        """Take in a call that makes, moves or removes files whose names are known; whether it is one."""
        if (made := self._paths.made(node)) is not None:
            self._found["writes"].append(made)
        elif (shell := self._paths.as_shell(node)) is not None:
            self._found["texts"].append(shell)
        else:
            return False
        self.understood.add(id(node.func))
        return True

    def _take(self, node: ast.Call, name: str) -> None:
        first = self._paths.of(node.args[0]) if node.args else None
        if name.endswith("chdir") and first is not None and not first.startswith("/") and ".." not in first:
            # Below the working folder a path leads nowhere that it does not lead from the folder itself.
            self.understood.add(id(node.func))
        elif _STARTS.fullmatch(name) and (text := first or _joined(node)) is not None:
            self._found["texts"].append(text)
            self.understood.update((id(node.func), id(node)))
        elif _OPENS.fullmatch(name):
            self._found["writes" if _writes(node, 1) else "reads"].append(first or "")
        elif name == "sqlite3.connect" and first == ":memory:":
            self._forgets = True
        elif name.endswith("connect") and first is None:
            self._keeps = True
        elif _FILLS.fullmatch(name) and first is not None:
            self._keeps = self._keeps or name.endswith("connect")
            self._found["reads" if "mode=ro" in first else "writes"].append(
                first.removeprefix("file:").partition("?")[0]
            )
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "open":
            self._opened(node, node.func.value, first)
        elif isinstance(node.func, ast.Attribute) and node.func.attr in ("read_text", "read_bytes"):
            self._found["reads"] += [path] if (path := self._paths.of(node.func.value)) is not None else []
        elif name == "getattr" and _is_plain(node):
            self.understood.add(id(node.func))
        elif name == "fileinput.input" and any(word.arg == "inplace" for word in node.keywords):
            self._found["writes"].append(first or "")
        elif re.search(r"(^|\.)Path$", name) and first is not None:
            self._found["reads"].append(first)
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _STATES and node.args:
            self._found["statements"].append(self._statement(node.args[0]))
        elif _RUNS_TEXT.fullmatch(name) and node.args:
            self.sources += [first] if first is not None else []
            self._hidden = self._hidden or ("" if first is not None else f"{name} runs what nobody can see")
        elif _FINDS_CODE.fullmatch(name):
            folders = [part for arg in node.args for part in (arg.elts if isinstance(arg, ast.List) else [arg])]
            self._found["loads"] += [text for folder in folders if (text := self._paths.of(folder)) is not None]

    def _opened(self, node: ast.Call, opened: ast.expr, first: str | None) -> None:
        """`x.open(...)`, where x is a path or anything else that has files."""
        path = self._paths.of(opened)
        if path is not None:
            self._found["writes" if _writes(node, 0) else "reads"].append(path)
        elif _writes(node, 0) or _writes(node, 1):
            self._found["writes"].append("")
        elif first is not None:
            self._found["reads"].append(first)

    def _statement(self, node: ast.expr) -> str:
        """A statement for a database, with a name in place of a part that only running it will tell."""
        match node:
            case ast.JoinedStr(values=parts):
                return "".join(constant(part) or "x" for part in parts)
            case ast.Call(args=[inner]):
                return self._paths.of(inner) or ""
            case _:
                return UNKNOWN if (text := self._paths.of(node)) is None else text


def _is_plain(node: ast.Call) -> bool:
    """Whether getattr is told a name that could be written behind a dot just as well, and does no harm there."""
    name = constant(node.args[1]) if len(node.args) > 1 else None
    return name is not None and not name.startswith("_") and not DOES_HARM.fullmatch(name)


def _writes(node: ast.Call, at: int) -> bool:
    """Whether a call opens a file to write it, by its argument at this place or the one named mode."""
    given = [*node.args[at : at + 1], *(word.value for word in node.keywords if word.arg == "mode")]
    modes = [constant(mode) for mode in given]
    return any((mode is None and at > 0) or _MODE.fullmatch(mode or "") for mode in modes)


def _joined(node: ast.Call) -> str | None:
    """The words of a list of constants, as a shell would read them."""
    if not node.args or not isinstance(node.args[0], (ast.List, ast.Tuple)):
        return None
    words = [constant(item) for item in node.args[0].elts]
    return None if None in words else " ".join(f"'{word}'" for word in words)


def constant(node: ast.expr) -> str | None:
    """The text that an expression says by itself, or None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = constant(node.left), constant(node.right)
        return None if left is None or right is None else left + right
    return None
