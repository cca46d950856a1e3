import pytest

from hermes.tools.exits import is_harmless, meaning


@pytest.mark.parametrize(
    ("command", "code", "harmless", "means"),
    [
        ("grep", 0, True, ""),
        ("grep", 1, True, "nothing matched"),
        ("grep", 2, False, ""),
        ("diff", 1, True, "they differ"),
        ("[", 1, True, "the condition is false"),
        ("pytest", 5, False, "no tests were collected"),
        ("python", 1, False, ""),
        ("nonesuch", 127, False, "command not found"),
        ("python", 137, False, "ended by SIGKILL, perhaps out of memory"),
        ("python", 139, False, "ended by SIGSEGV"),
        ("python", 255, False, ""),
        ("ssh", 255, False, "no connection"),
    ],
)
def test_a_code_is_explained_where_the_number_misleads(command, code, harmless, means):
    assert (is_harmless(command, code), meaning(command, code)) == (harmless, means)
