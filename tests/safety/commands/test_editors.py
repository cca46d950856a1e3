"""Editors that are told what to do: changing text is work, anything that runs asks."""

import pytest

from tests.safety.scene import judge


@pytest.mark.parametrize(
    "command",
    [
        "vim -es -c '%s/foo/bar/g' -c 'wq' src/a.c",
        "vim -u NONE -c 'g/^$/d' -c x a.txt",
        "nvim --headless +'%s/a\\/b/c/ge' +wqa a.txt",
        "ex -s +'2,$d' +wq a.txt",
        "vim -c 'set nu' README.md",
        "view /etc/hosts",
    ],
)
def test_changing_text_and_looking_is_free(command: str) -> None:
    assert judge(command).decision == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "vim -es '+!id' +q",
        "vim -es -c '%s/a/\\=system(\"id\")/' -c wq a",
        "vim -c 's/a/b/|!id' a",
        "vim -c 'g/x/!id' a",
        "vim -c 'w /etc/x' a",
        "vim -c 'set shell=x' a",
        "vim -s keys a",
        "vim -c '%s/a/b/' -c wq ~/.bashrc",
        "emacs --batch --eval '(delete-file \"a\")'",
        "view ~/.ssh/id_rsa",
    ],
)
def test_running_something_asks(command: str) -> None:
    assert judge(command).decision == "ask"
