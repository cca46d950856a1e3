"""The ground that a command stands on, where homes and folders lie in unusual places."""

import pytest

from hermes.protocol.actions import Origin
from hermes.safety.places import Places
from tests.safety.scene import judge

HOME = "/tmp/home-of-nobody"
PLACES = Places(home=f"{HOME}/.hermes", user_home=HOME)
WORK = f"{HOME}/work"


@pytest.mark.parametrize(
    "command", ["rm -rf ~/.hermes", "rm -r ~/Documents", "mv ~/Documents/* .", f"rm -rf {HOME}", "echo x > ~/notes.txt"]
)
def test_a_home_among_the_temporary_files_is_not_temporary(command: str) -> None:
    origin = Origin(surface="cli", session="one", workspace=WORK)
    assert judge(command, cwd=WORK, origin=origin, places=PLACES).decision != "allow"


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("cd /tmp/of-nobody && echo x > a.txt", "allow"),
        ("cd /tmp/of-nobody && echo x > ../../etc/x", "ask"),
        ("cd /tmp/of-nobody; echo x > ../x", "ask"),
        ("cd /tmp/of-nobody && ln -s /etc e && echo x > e/x", "ask"),
        ("rm -rf '~'", "ask"),
    ],
)
def test_a_new_temporary_file_may_be_named_from_where_the_command_went(command: str, decision: str) -> None:
    assert judge(command).decision == decision
