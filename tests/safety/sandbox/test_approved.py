"""What a person's yes opens."""

from pathlib import Path

import pytest

from hermes.protocol.safety import Grants
from hermes.safety.sandbox.approved import beyond, grants_for, notice

EVERYTHING = Grants(everything=True)


@pytest.mark.parametrize(
    ("argv", "granted"),
    [
        (("tee", "/etc/motd"), Grants(("/etc/motd",))),
        (("cp", "a.txt", "{home}/b.txt"), Grants(("{work}/a.txt", "{home}/b.txt"))),
        (("cp", "a.txt", "~/b.txt"), Grants(("{work}/a.txt", "{home}/b.txt"))),
        (("rm", "-r", "../home"), Grants(("{home}",))),
        (("dd", "if=/dev/zero", "of={home}/disk"), Grants(("/dev/zero", "{home}/disk"))),
        (("make", "test"), Grants()),
        (("make", "install", "PREFIX={home}/opt"), Grants(("{home}/opt",))),
        (("curl", "https://example.com/x", "-o", "x"), Grants()),
        (("rm", "-rf", "/"), Grants()),
        (("sudo", "make", "install"), EVERYTHING),
        (("/usr/bin/systemctl", "restart", "x"), EVERYTHING),
        (("git", "-C", "sub", "push"), EVERYTHING),
        (("git", "commit", "-m", "x"), Grants()),
        (("npm", "publish"), EVERYTHING),
        (("npm", "install"), Grants()),
        (("npm", "install", "-g", "typescript"), EVERYTHING),
        (("pip", "install", "--user", "black"), EVERYTHING),
        (("v/bin/pip", "install", "black"), Grants()),
        (("cargo", "install", "ripgrep"), EVERYTHING),
        (("cargo", "build"), Grants()),
        (("uv", "tool", "install", "ruff"), EVERYTHING),
    ],
)
def test_a_yes_opens_the_places_that_a_command_names(tmp_path: Path, argv: tuple[str, ...], granted: Grants) -> None:
    folders = {"home": str(tmp_path / "home"), "work": str(tmp_path / "work")}
    for folder in folders.values():
        Path(folder).mkdir()
    (tmp_path / "work/a.txt").touch()
    words = [word.format(**folders) for word in argv]
    wanted = Grants(tuple(path.format(**folders) for path in granted.paths), granted.everything)
    assert grants_for([words], folders["work"], folders["home"]) == wanted


def test_what_is_not_understood_is_let_out() -> None:
    assert grants_for([("ls",)], "/", "/home/me", understood=False) == EVERYTHING


def test_the_workspace_needs_no_grant() -> None:
    assert beyond(Grants(("/w/a", "/wide/b")), "/w") == Grants(("/wide/b",))


def test_the_question_says_what_a_yes_opens() -> None:
    said = [notice(grants) for grants in (Grants(), Grants(("/etc/motd",)), EVERYTHING)]
    assert said == ["", "it could also read and change /etc/motd", "it would run outside of the sandbox"]
