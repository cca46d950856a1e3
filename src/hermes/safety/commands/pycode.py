"""Python code on a command line: what its own syntax tree says about files, programs and the network."""

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from hermes.safety.commands.argv import listed
from hermes.safety.patterns import Pattern

_MODULES = listed(
    "socket ctypes pty requests httpx aiohttp urllib3 ftplib smtplib telnetlib paramiko importlib marshal pickle "
    "cffi multiprocessing socketserver xmlrpc asyncssh fabric pexpect boto3 runpy code codeop signal resource winreg "
    "webbrowser imaplib poplib nntplib pymysql psycopg psycopg2 pymongo redis http.server http.client urllib.request"
)
_NAMES = listed("exec eval compile __import__ getattr setattr delattr globals locals vars breakpoint __builtins__")
_ATTRIBUTES = Pattern(
    r"system|popen|remove|unlink|rmdir|removedirs|rmtree|rename|renames|replace_file|kill|killpg|exec[lv]\w*|spawn\w*|fork|"
    r"forkpty|chmod|chown|lchown|symlink|symlink_to|hardlink_to|link|truncate|putenv|setuid|setgid|write_text|write_bytes|"
    r"copytree|copyfile|copy2|make_archive|unpack_archive|extractall|startfile|import_module|load_module|loads_code|"
    r"urlopen|urlretrieve|create_connection|sendall|sendto|sendmail|run_module|run_path|interact|mknod|mkfifo|chroot|"
    r"posix_spawn\w*|register_at_fork|executescript"
)
_PLAIN_DUNDERS = listed(
    "__version__ __file__ __name__ __doc__ __dict__ __path__ __all__ __init__ __main__ __annotations__ __module__ "
    "__mro__ __str__ __repr__ __len__ __iter__ __next__ __enter__ __exit__ __call__ __eq__ __hash__ __qualname__"
)


class Code(Struct, frozen=True):
    """What a piece of code does: shell texts it runs, files it writes and reads, and what cannot be followed."""

    texts: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    trouble: str = ""


def look(source: str) -> Code:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Code(trouble="it is not Python that can be read")
    texts: list[str] = []
    writes: list[str] = []
    reads: list[str] = []
    understood: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            _call(node, texts, writes, reads, understood)
    if idle := _only_versions(tree):
        understood.update(id(node) for node in idle)
    understood.update(id(node) for node in _only_fetches(tree))
    trouble = next((why for node in ast.walk(tree) if id(node) not in understood for why in _trouble(node)), "")
    return Code(tuple(texts), tuple(writes), tuple(reads), trouble)


def _only_versions(tree: ast.Module) -> list[ast.AST]:
    """Imports of which the code uses nothing but such names as __version__."""
    harmless = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in _PLAIN_DUNDERS
    }
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in harmless}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    return [
        node
        for node in imports
        if all("." not in name.name and name.name not in used and not name.asname for name in node.names)
    ]


_FETCH = Pattern(r"(requests|httpx)\.(get|head)|urllib\.request\.urlopen|urlopen")
_PAGE = Pattern(r"https?://(?!169\.254\.|metadata\.|[^/]*@)\S+")
_PLAIN_WORDS = frozenset({"timeout", "stream", "allow_redirects", "follow_redirects", "verify"})


def _only_fetches(tree: ast.Module) -> list[ast.AST]:
    """The calls that fetch a page whose address stands there, and the imports that are used for nothing else."""
    calls = [
        node.func
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and _FETCH.fullmatch(ast.unparse(node.func))
        and len(node.args) == 1
        and _PAGE.fullmatch(_constant(node.args[0]) or "")
        and all(word.arg in _PLAIN_WORDS for word in node.keywords)
    ]
    parts = [part for call in calls for part in ast.walk(call)]
    known = {id(part) for part in parts}
    others = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in known}
    imports: list[ast.AST] = []
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=[ast.alias(name="requests" | "httpx" | "urllib.request" as module, asname=None)]):
                imports += [node] if module.partition(".")[0] not in others else []
            case ast.ImportFrom(module="urllib.request", names=[ast.alias(name="urlopen", asname=None)]):
                imports += [node] if "urlopen" not in others else []
            case _:
                pass
    return [*parts, *imports]


def _call(node: ast.Call, texts: list[str], writes: list[str], reads: list[str], understood: set[int]) -> None:
    """Take in the calls whose effect their arguments tell."""
    name = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
    first = _constant(node.args[0]) if node.args else None
    if re.fullmatch(r"os\.(system|popen)|subprocess\.\w+", name) and (text := first or _joined(node)) is not None:
        texts.append(text)
        understood.update((id(node.func), id(node)))
    elif name in ("open", "io.open") or name.endswith(".open"):
        mode = (
            _constant(node.args[1])
            if len(node.args) > 1
            else next((_constant(word.value) for word in node.keywords if word.arg == "mode"), "r")
        )
        target = first if first is not None else ""
        (writes if mode is None or set(mode) & set("wax+") else reads).append(target)
    elif re.search(r"(^|\.)Path$", name) and first is not None:
        reads.append(first)


def _joined(node: ast.Call) -> str | None:
    """The words of a list of constants, as a shell would read them."""
    if not node.args or not isinstance(node.args[0], (ast.List, ast.Tuple)):
        return None
    words = [_constant(item) for item in node.args[0].elts]
    return None if None in words else " ".join(f"'{word}'" for word in words)


def _constant(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _constant(node.left), _constant(node.right)
        return None if left is None or right is None else left + right
    return None


def _trouble(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            found = [name.name for name in names]
            if any(name.name in ("os", "subprocess", "shutil") and name.asname for name in names):
                yield "it gives the means to start programs another name"
        case ast.ImportFrom(module=str(module), names=names):
            found = [module, *(f"{module}.{name.name}" for name in names), *(name.name for name in names)]
            if module in ("os", "shutil", "subprocess") and any(_ATTRIBUTES.fullmatch(name.name) for name in names):
                yield f"it takes {names[0].name} from {module}"
            if module == "subprocess":
                yield "it starts programs"
        case ast.Name(id=name) if name in _NAMES:
            yield f"{name} can run anything"
            return
        case ast.Attribute(attr=name) if _ATTRIBUTES.fullmatch(name):
            yield f"{name} changes files, starts programs or reaches other machines"
            return
        case ast.Attribute(attr=name) if name.startswith("__") and name not in _PLAIN_DUNDERS:
            yield f"{name} reaches what is hidden"
            return
        case (
            ast.Attribute(value=ast.Name(id="subprocess"))
            | ast.Attribute(value=ast.Name(id="shutil"), attr="move" | "rmtree" | "chown" | "copy")
        ):
            yield "it starts programs or moves files"
            return
        case _:
            return
    for name in found:
        if name in _MODULES or name.partition(".")[0] in _MODULES - {"http.server"}:
            yield f"{name} reaches other machines, or code that cannot be seen"
