"""The log of every Hermes process: logs/agent.log from INFO on, logs/errors.log from WARNING on, in the home.

Nothing is opened before the first line is logged. A file above 5 MB becomes agent.log.1, and three older ones are kept;
the settings may want something else.
Any number of processes may log: a line is one append, and only who holds the lock renames.
"""

import contextlib
import fcntl
import logging
import os
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hermes.protocol.errors import UserError

if TYPE_CHECKING:
    from hermes.config import LogSettings
    from hermes.safety.secrets.redact import Redactor

LARGEST = 5 << 20
KEPT = 3
AGENT = "agent.log"
ERRORS = "errors.log"


def home_in_use() -> Path:
    from hermes import config  # msgspec, 20 ms: only who logs something needs it

    return config.find_home()


class LogFile:
    """One file that several processes append to and that is renamed when it has grown too large."""

    def __init__(self, path: Path, largest: int = LARGEST, kept: int = KEPT) -> None:
        self.path = path
        self._largest = largest
        self._kept = kept
        self._handle = -1

    def write(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        if self._handle < 0 or self._moved():
            self._open()
        if os.fstat(self._handle).st_size + len(data) > self._largest:
            self._rotate()
        os.write(self._handle, data)

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _open(self) -> None:
        self.close()
        flags = os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
        self._handle = os.open(self.path, flags, 0o600)

    def _moved(self) -> bool:
        """Whether another process has renamed the file that is open here."""
        try:
            return os.stat(self.path).st_ino != os.fstat(self._handle).st_ino
        except FileNotFoundError:
            return True

    def _rotate(self) -> None:
        with self._lock():
            # Somebody else may have done it while the lock was waited for.
            if not self._moved():
                for surplus in _older(self.path)[self._kept - 1 :]:
                    surplus.unlink(missing_ok=True)
                for number in range(self._kept, 0, -1):
                    older = _numbered(self.path, number - 1)
                    if older.exists():
                        older.replace(_numbered(self.path, number))
            self._open()

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        handle = os.open(self.path.with_name(f".{self.path.name}.lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


class LogFiles(logging.Handler):
    """Writes records to the files, secrets masked. `session` is the one that lines belong to, once it is known."""

    def __init__(self, home: Callable[[], Path] = home_in_use) -> None:
        super().__init__(logging.INFO)
        self._home = home
        self._files: dict[str, LogFile] = {}
        self._redactor: Redactor | None = None
        self._gave_up = False
        self._largest, self._kept = LARGEST, KEPT
        self.session = ""

    def use(self, wanted: "LogSettings") -> None:
        """Log as the settings want it from now on."""
        self.close_files()
        self.setLevel(wanted.level)
        self._largest, self._kept = int(wanted.max_size_mb * (1 << 20)), wanted.backup_count

    def emit(self, record: logging.LogRecord) -> None:
        """A log that cannot be written is given up for this process: `hermes doctor` tells why."""
        if self._gave_up:
            return
        try:
            line = self._line(record)
            self._file(AGENT).write(line)
            if record.levelno >= logging.WARNING:
                self._file(ERRORS).write(line)
        except (OSError, UserError):
            self._gave_up = True

    def close(self) -> None:
        self.close_files()
        super().close()

    def close_files(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _file(self, name: str) -> LogFile:
        if name not in self._files:
            folder = self._home() / "logs"
            folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.mkdir(exist_ok=True, mode=0o700)
            self._files[name] = LogFile(folder / name, self._largest, self._kept)
        return self._files[name]

    def _line(self, record: logging.LogRecord) -> str:
        """One line, and the lines of a traceback below it, indented."""
        at = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(record.created))
        text = _message(record)
        if record.exc_info:
            text += "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip()
        text = self._mask(text).replace("\n", "\n    ")
        where = f"{record.process}{f' {self.session}' if self.session else ''}"
        return f"{at} {record.levelname} {record.name.removeprefix('hermes.')} [{where}] {text}\n"

    def _mask(self, text: str) -> str:
        if self._redactor is None:
            from hermes import config
            from hermes.safety.secrets.redact import Redactor

            try:
                environ = config.load(use_file=False).environ
            except UserError:
                environ = config.load(use_file=False, use_env=False).environ
            self._redactor = Redactor(value for name, value in environ.items() if config.SECRET_NAME.match(name))
        return self._redactor.mask(text)


def _message(record: logging.LogRecord) -> str:
    """What was logged; a line with the wrong number of arguments is no reason to fail."""
    try:
        return record.getMessage()
    except (TypeError, ValueError):
        return f"{record.msg} {record.args}"


@contextlib.contextmanager
def logging_to_files() -> Iterator[None]:
    """While it lasts, what Hermes logs goes to the files; how logging was before, it is afterwards."""
    root, hermes, handler = logging.getLogger(), logging.getLogger("hermes"), LogFiles()
    before = root.handlers[:], root.level, hermes.level
    root.addHandler(handler)
    hermes.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.handlers[:] = before[0]
        root.setLevel(before[1])
        hermes.setLevel(before[2])
        handler.close()


def use(wanted: "LogSettings") -> None:
    """Log to the files as the settings want it."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, LogFiles):
            handler.use(wanted)
            logger = logging.getLogger("hermes")
            logger.setLevel(min(logger.level, handler.level))


def log_to_stderr() -> None:
    """Show it to the person too."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.INFO)


def keep_off_the_screen() -> None:
    """Log to the files only: the full screen is drawn on stderr, and a line there would tear it."""
    root = logging.getLogger()
    for handler in root.handlers[:]:
        if isinstance(handler, logging.StreamHandler):
            root.removeHandler(handler)


def name_session(session: str) -> None:
    """From now on lines belong to this session."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, LogFiles):
            handler.session = session


def files_of(folder: Path, name: str) -> list[Path]:
    """A log and its older parts that are there, oldest first."""
    newest = folder / name
    return [*reversed(_older(newest)), *([newest] if newest.exists() else [])]


def _older(path: Path) -> list[Path]:
    """The older parts of a log that are there, newest first."""
    numbers = [int(end) for one in path.parent.glob(f"{path.name}.*") if (end := one.suffix[1:]).isdecimal()]
    return [_numbered(path, number) for number in sorted(numbers)]


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}") if number else path
