"""Runs a command that the kernel's Landlock holds within bounds; a program of its own, started for each command.

python landlocked.py NETWORK (+PATH | -PATH | =PATH)... -- COMMAND...

NETWORK is on or off. `+` may be written and read, `-` may not be read, `=` may be read though it lies in a `-`. Everything
else may be read. Rules can only permit, and what they permit of a folder they permit of all in it: so each folder on the
way to a `-` is permitted entry by entry.
"""

import ctypes
import os
import stat
import sys

CREATE, ADD, RESTRICT = 444, 445, 446
PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
READ = EXECUTE | READ_FILE
TCP, SCOPES = 0b11, 0b11
NAMELESS_SOCKETS = 0b01
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
NO_NEW_PRIVILEGES, DROP_FROM_BOUNDING_SET = 38, 24
LAST_CAPABILITY = 63
# chown, dac_override, fowner, fsetid, kill, setgid, setuid, net_bind_service
ROOT_KEEPS = sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7, 10))

libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """Which Landlock the kernel has; 0 or less means none."""
    return libc.syscall(CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))


def rights(abi: int) -> int:
    """Every right that this version can withhold: three came later than the first."""
    return (1 << (13, 13, 14, 15, 15)[min(abi, 4)]) - 1 | (IOCTL_DEV if abi >= 5 else 0)


class Ruleset:
    """What will be permitted once `enforce` is called, for this process and all it starts."""

    def __init__(self, network: bool) -> None:
        abi = version()
        if abi < 1:
            raise OSError("this kernel has no Landlock")
        self._all = rights(abi)
        withheld = [self._all]
        if abi >= 4:
            withheld.append(0 if network else TCP)
        if abi >= 6:
            withheld.append(SCOPES)
        attributes = (ctypes.c_uint64 * len(withheld))(*withheld)
        self._fd = _checked(libc.syscall(CREATE, attributes, ctypes.c_size_t(ctypes.sizeof(attributes)), 0))

    def permit(self, path: str, wanted: int) -> None:
        """Permit something of a place and all in it; one that is gone or out of reach needs no rule."""
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return
        try:
            if not stat.S_ISDIR(os.fstat(fd).st_mode):
                wanted &= OF_FILES
            rule = (wanted & self._all).to_bytes(8, sys.byteorder) + fd.to_bytes(4, sys.byteorder)
            _checked(libc.syscall(ADD, self._fd, PATH_BENEATH, rule, 0))
        finally:
            os.close(fd)

    def permit_all_but(self, folder: str, hidden: set[str], ways: set[str]) -> None:
        """Permit reading, except what is hidden; `ways` are the folders that lead to it."""
        if folder not in ways:
            self.permit(folder, READ)
            return
        try:
            entries = list(os.scandir(folder))
        except OSError:
            return
        for entry in entries:
            if entry.path not in hidden and not entry.is_symlink():
                self.permit_all_but(entry.path, hidden, ways)

    def permit_write(self, path: str) -> None:
        self.permit(path, self._all & ~IOCTL_DEV)

    def permit_devices(self) -> None:
        for name in DEVICES:
            self.permit(f"/dev/{name}", self._all)

    def enforce(self) -> None:
        _checked(libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _checked(libc.syscall(RESTRICT, self._fd, 0))
        os.close(self._fd)


def scope() -> None:
    """Keep this thread, and all it starts from now on, from the nameless sockets of other programs."""
    attributes = (ctypes.c_uint64 * 3)(0, 0, NAMELESS_SOCKETS)
    fd = _checked(libc.syscall(CREATE, attributes, ctypes.c_size_t(ctypes.sizeof(attributes)), 0))
    _checked(libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(libc.syscall(RESTRICT, fd, 0))
    os.close(fd)


def drop_capabilities() -> None:
    """Let root keep what building needs, and nothing that reaches past the rules."""
    for number in range(LAST_CAPABILITY + 1):
        if not ROOT_KEEPS >> number & 1:
            libc.prctl(DROP_FROM_BOUNDING_SET, number, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    low, high = ROOT_KEEPS & 0xFFFFFFFF, ROOT_KEEPS >> 32
    _checked(libc.capset(header, (ctypes.c_uint32 * 6)(low, low, 0, high, high, 0)))


def confine(network: bool, rules: list[str]) -> None:
    writable = [rule[1:] for rule in rules if rule[0] == "+"]
    hidden = {rule[1:] for rule in rules if rule[0] == "-"}
    ruleset = Ruleset(network)
    ruleset.permit("/", READ_DIR)
    ruleset.permit_all_but("/", hidden, {folder for path in hidden for folder in above(path)})
    for path in (rule[1:] for rule in rules if rule[0] == "="):
        ruleset.permit(path, READ)
    for path in writable:
        ruleset.permit_write(path)
    ruleset.permit_devices()
    if os.geteuid() == 0:
        drop_capabilities()
    ruleset.enforce()


def above(path: str) -> list[str]:
    """The folders that a path lies in."""
    folders: list[str] = []
    while path != "/":
        path = os.path.dirname(path)
        folders.append(path)
    return folders


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def main(words: list[str]) -> None:
    end = words.index("--")
    confine(words[0] == "on", words[1:end])
    os.execv(words[end + 1], words[end + 1 :])


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as error:
        sys.exit(f"sandbox: {error}")
