"""Which files Python code means: names that hold one path all along, and calls that a shell could do as well."""

import ast
import os
import shlex
from collections import Counter
from collections.abc import Iterator

_TRUSTED = ("os", "shutil", "pathlib", "Path", "glob", "tempfile", "str")
_JOINS = (
    "Path",
    "pathlib.Path",
    "PurePath",
    "os.path.join",
    "os.path.expanduser",
    "os.path.abspath",
    "str",
    "os.fspath",
)
# The same in a shell, for the arguments that are all paths.
_AS_SHELL = {
    "os.remove": (1, "rm --"),
    "os.unlink": (1, "rm --"),
    "os.rmdir": (1, "rmdir --"),
    "shutil.rmtree": (1, "rm -r --"),
    "os.rename": (2, "mv --"),
    "os.replace": (2, "mv --"),
    "shutil.move": (2, "mv --"),
    "shutil.copy": (2, "cp --"),
    "shutil.copy2": (2, "cp --"),
    "shutil.copyfile": (2, "cp --"),
    "shutil.copytree": (2, "cp -r --"),
}
# Where these lead: the home of the person, and a new folder or file of nobody else.
_STANDS_FOR = {
    "Path.home": "~",
    "pathlib.Path.home": "~",
    "tempfile.mkdtemp": "/tmp/hermes-new",
    "tempfile.mktemp": "/tmp/hermes-new",
    "tempfile.TemporaryDirectory": "/tmp/hermes-new",
    "tempfile.gettempdir": "/tmp",
}
_MAKES = ("write_text", "write_bytes", "touch", "mkdir")


class PyPaths:
    """The paths that the expressions of one piece of code stand for, as far as the code itself says."""

    def __init__(self, tree: ast.Module) -> None:
        bound = Counter(_bound(tree))
        self._names: dict[str, str] = {}
        self._trusts = not any(bound[name] for name in _TRUSTED)
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._keep(name, bound, self.of(value))
                case (
                    ast.For(target=ast.Name(id=name), iter=found)
                    | ast.comprehension(target=ast.Name(id=name), iter=found)
                ):
                    self._keep(name, bound, self._each(found))
                case ast.withitem(context_expr=value, optional_vars=ast.Name(id=name)):
                    self._keep(name, bound, self.of(value))
                case _:
                    pass

    def _keep(self, name: str, bound: Counter[str], path: str | None) -> None:
        if path is not None and bound[name] == 1:
            self._names[name] = path

    def of(self, node: ast.expr) -> str | None:
        """The path or the text that an expression stands for, or None."""
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id=name):
                return self._names.get(name)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                first, second = self.of(left), self.of(right)
                return None if first is None or second is None else first + second
            case ast.BinOp(op=ast.Div(), left=left, right=right):
                return self._joined([left, right])
            case ast.Attribute(value=folder, attr="parent"):
                return None if (path := self.of(folder)) is None else os.path.dirname(path) or "."
            case ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(value="HOME")):
                return "~"
            case ast.Call(func=func, args=args) if self._trusts:
                return self._called(func, args)
            case _:
                return None

    def _called(self, func: ast.expr, args: list[ast.expr]) -> str | None:
        name = ast.unparse(func)
        if name in _STANDS_FOR:
            return _STANDS_FOR[name]
        if isinstance(func, ast.Attribute) and func.attr in ("expanduser", "resolve", "absolute") and not args:
            return self.of(func.value)
        return self._joined(args) if name in _JOINS and args else None

    def _joined(self, parts: list[ast.expr]) -> str | None:
        paths = [path for part in parts if (path := self.of(part)) is not None]
        return os.path.join(*paths) if len(paths) == len(parts) else None

    def _each(self, node: ast.expr) -> str | None:
        """A pattern for what a loop goes over: the files in a folder, or those of a pattern."""
        match node:
            case ast.Call(func=ast.Name(id="sorted" | "list" | "reversed"), args=[inner]):
                return self._each(inner)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="glob"), attr="glob" | "iglob"), args=[pattern]):
                return self.of(pattern) if self._trusts else None
            case ast.Call(func=ast.Attribute(value=folder, attr="glob" | "rglob"), args=[pattern], keywords=[]):
                return self._joined([folder, pattern])
            case ast.Call(func=ast.Attribute(value=folder, attr="iterdir"), args=[]):
                return None if (path := self.of(folder)) is None else os.path.join(path, "*")
            case _:
                return None

    def made(self, node: ast.Call) -> str | None:
        """The file or folder that a call makes or fills, if that is what it does."""
        match node.func:
            case ast.Attribute(value=ast.Name(id="os"), attr="makedirs" | "mkdir"):
                return self.of(node.args[0]) if node.args else None
            case ast.Attribute(value=path, attr=attr) if attr in _MAKES:
                return self.of(path)
            case _:
                return None

    def as_shell(self, node: ast.Call) -> str | None:
        """What a shell would be told to do the same to the same files, or None."""
        elsewhere = any((word.arg or "dir_fd").endswith("dir_fd") for word in node.keywords)
        if not isinstance(node.func, ast.Attribute) or not self._trusts or elsewhere:
            return None
        match node.func.attr, node.args:
            case "unlink" | "rmdir" as verb, [] if (path := self.of(node.func.value)) is not None:
                return f"{'rm' if verb == 'unlink' else 'rmdir'} -- {_word(path)}"
            case "rename", [target] if (path := self.of(node.func.value)) is not None:
                return None if (to := self.of(target)) is None else f"mv -- {_word(path)} {_word(to)}"
            case _:
                pass
        count, words = _AS_SHELL.get(ast.unparse(node.func), (0, ""))
        paths = [path for arg in node.args if (path := self.of(arg)) is not None]
        return f"{words} {' '.join(map(_word, paths))}" if words and len(paths) == len(node.args) == count else None


def _word(path: str) -> str:
    """A path as a word for a shell, which is to see the person's home in it."""
    home, slash, rest = path.partition("/")
    return f"~{slash}{shlex.quote(rest) if rest else ''}" if home == "~" else shlex.quote(path)


def _bound(tree: ast.Module) -> Iterator[str]:
    """Every name that the code gives a meaning, as often as it does; plain imports do not count."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name) | ast.alias(asname=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case _:
                continue
