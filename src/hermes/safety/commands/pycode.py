"""Python code on a command line: what its own syntax tree says about files, programs and the network."""

import ast
from collections.abc import Iterator

from hermes.safety.commands.argv import listed
from hermes.safety.commands.pycalls import DOES_HARM, Calls, Code, constant
from hermes.safety.commands.syntax import SECRET_NAME
from hermes.safety.patterns import Pattern

_MODULES = listed(
    "socket ctypes pty requests httpx aiohttp urllib3 ftplib smtplib telnetlib paramiko importlib marshal pickle "
    "cffi multiprocessing socketserver xmlrpc asyncssh fabric pexpect boto3 runpy code codeop signal resource winreg "
    "webbrowser imaplib poplib nntplib builtins posix pip ensurepip keyring secretstorage browser_cookie3 zipimport _posixsubprocess pymysql psycopg psycopg2 pymongo redis http.server http.client urllib.request"
)
_NAMES = listed("exec eval compile __import__ getattr setattr delattr globals locals vars breakpoint __builtins__")
_PLAIN_DUNDERS = listed(
    "__version__ __file__ __name__ __doc__ __dict__ __path__ __all__ __init__ __main__ __annotations__ __module__ "
    "__mro__ __str__ __repr__ __len__ __iter__ __next__ __enter__ __exit__ __call__ __eq__ __hash__ __qualname__"
)
# What such a name says about a module, or about this machine, does no harm whatever else the module can do.
_TELL = _PLAIN_DUNDERS | {"gethostname", "getfqdn"}


def look(source: str) -> Code:
    """What a piece of code does; code in the code, such as what is to be timed, counts as well."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Code(trouble="it is not Python that can be read")
    found = Calls(tree)
    understood = found.understood | {id(node) for node in (*_only_versions(tree), *_only_fetches(tree))}
    whys = (why for node in ast.walk(tree) if id(node) not in understood for why in _trouble(node))
    code = found.code(next(whys, ""))
    for inner in map(look, found.sources):
        code = code.with_inner(inner)
    return code


def _only_versions(tree: ast.Module) -> list[ast.AST]:
    """Imports of which the code uses nothing but such names as __version__."""
    harmless = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in _TELL}
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
        and _PAGE.fullmatch(constant(node.args[0]) or "")
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


def _trouble(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            found = [name.name for name in names]
            if any(name.name in ("os", "subprocess", "shutil") and name.asname for name in names):
                yield "it gives the means to start programs another name"
        case ast.ImportFrom(module=str(module), names=names):
            found = [module, *(f"{module}.{name.name}" for name in names), *(name.name for name in names)]
            if module in ("os", "shutil", "subprocess") and any(DOES_HARM.fullmatch(name.name) for name in names):
                yield f"it takes {names[0].name} from {module}"
            if module == "subprocess":
                yield "it starts programs"
        case ast.Name(id=name) if name in _NAMES:
            yield f"{name} can run anything"
            return
        case ast.Attribute(attr=name) if DOES_HARM.fullmatch(name):
            yield f"{name} changes files, starts programs or reaches other machines"
            return
        case ast.Attribute(attr=name) if name.startswith("__") and name not in _PLAIN_DUNDERS:
            yield f"{name} reaches what is hidden"
            return
        case ast.Subscript(slice=ast.Constant(value=str(name))) if DOES_HARM.fullmatch(name) or name in _NAMES:
            yield f"{name} is taken out of what holds it by its name"
            return
        case (
            ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(value=str(name)))
            | ast.Call(
                func=ast.Attribute(attr="getenv") | ast.Attribute(value=ast.Attribute(attr="environ")),
                args=[ast.Constant(value=str(name)), *_],
            )
        ) if SECRET_NAME.fullmatch(name):
            yield f"{name} is a key by its name"
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
