"""What a command may do to its shell without spoiling the next one."""

import os
from pathlib import Path

import pytest

from hermes.protocol.errors import TerminalError
from hermes.terminals.backends.local import LocalTerminal


async def said(terminal: LocalTerminal, command: str) -> tuple[str, int]:
    ran = await terminal.run(command, timeout=20)
    return ran.output, ran.code


async def test_folder_and_exported_variables_carry_over(terminal: LocalTerminal, tmp_path: Path) -> None:
    (tmp_path / "sub folder").mkdir()
    await terminal.run("cd 'sub folder'; export NAME='two words'; PRIVATE=1; unset GIVEN", timeout=20)
    assert terminal.cwd == str(tmp_path / "sub folder")
    assert await said(terminal, "pwd; echo $NAME/${PRIVATE-none}/${GIVEN-none}; cd -") == (
        f"{tmp_path}/sub folder\ntwo words/none/none\n{tmp_path}\n",
        0,
    )


async def test_functions_and_aliases_carry_over(terminal: LocalTerminal) -> None:
    await terminal.run("greet() { echo hello $1; }; export -f greet; alias say='echo said'", timeout=20)
    assert await said(terminal, "greet you; say so; bash -c 'greet child'") == ("hello you\nsaid so\nhello child\n", 0)
    await terminal.run("unset -f greet; unalias say", timeout=20)
    assert (await said(terminal, "greet || say"))[1] == 127


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("cd /usr; true", 0),
        ("cd /usr; false", 1),
        ("cd /usr; exit 7", 7),
        ("cd /usr\nexit 0", 0),
        ("cd /usr; set -e; false; echo no", 1),
        ("cd /usr; set -u; echo $nothing_of_that_name", 127),
        ("cd /usr; set -C; set -f; IFS=/", 0),
        ("cd /usr; PATH=/nowhere", 0),
        ("cd /usr # a comment", 0),
        ("cd /usr; echo \\", 0),
        ("cd /usr && cat <<END\ntext\nEND", 0),
        ("cd /usr; sleep 0.01 &", 0),
        ('cd /usr; for f in pwd printf export set unset alias eval return; do eval "$f() { echo lies; }"; done', 0),
        ("cd /usr; alias pwd=false eval=false; shopt -s extdebug", 0),
        ("cd /usr; trap 'true' EXIT; false", 1),
        ("cd /usr; (exit 9)", 9),
        ("cd /usr\n(", 2),
        ("cd /usr; exec 1>&- 2>&-", 0),
        ("cd /usr; kill -TERM $$", 143),
    ],
)
async def test_the_folder_is_kept_however_a_command_ends(terminal: LocalTerminal, command: str, code: int) -> None:
    ran = await terminal.run(command, timeout=20)
    assert (ran.code, ran.cwd, terminal.cwd) == (code, "/usr", "/usr")
    assert await said(terminal, "\\builtin pwd") == ("/usr\n", 0)


@pytest.mark.parametrize(("command", "code"), [("cd /usr; kill -9 $$", 137), ("cd /usr; exec false", 1)])
async def test_a_shell_that_cannot_say_where_it_was_changes_nothing(
    terminal: LocalTerminal, tmp_path: Path, command: str, code: int
) -> None:
    ran = await terminal.run(command, timeout=20)
    assert (ran.code, ran.cwd) == (code, str(tmp_path))
    assert await said(terminal, "pwd; echo $GIVEN") == (f"{tmp_path}\nyes\n", 0)


async def test_what_a_command_prints_is_all_there_is(terminal: LocalTerminal) -> None:
    assert await said(terminal, "set -x; echo one") == ("++ echo one\none\n", 0)
    assert await said(terminal, "trap 'echo bye' EXIT; echo one") == ("one\nbye\n", 0)


async def test_errors_name_the_line_of_the_command(terminal: LocalTerminal) -> None:
    assert await said(terminal, "\nno-such-program") == ("bash: line 2: no-such-program: command not found\n", 127)
    output, code = await said(terminal, "echo one\n)")
    assert output.startswith("one\nbash: eval: line 2: syntax error near unexpected token `)'")
    assert code == 2


async def test_a_command_sees_no_arguments_and_can_be_long(terminal: LocalTerminal) -> None:
    assert await said(terminal, 'echo "$0 $#"; : ' + "x" * 300_000) == ("bash 0\n", 0)
    assert await said(terminal, "echo \x01\x7f$'\\x02'é | od -An -tx1") == (" 01 7f 02 c3 a9 0a\n", 0)


@pytest.mark.needs("pkill")
async def test_a_command_does_not_find_itself(terminal: LocalTerminal) -> None:
    assert await said(terminal, "pkill -f a-name-that-only-this-command-has; echo $?") == ("1\n", 0)


async def test_a_variable_that_bash_cannot_name_reaches_children_all_the_same(
    tmp_path: Path, env: dict[str, str]
) -> None:
    terminal = LocalTerminal(str(tmp_path), env | {"odd.name": "1"})
    await terminal.run("true", timeout=20)
    assert await said(terminal, "env | grep odd") == ("odd.name=1\n", 0)


async def test_values_with_newlines_and_quotes_carry_over(terminal: LocalTerminal) -> None:
    await terminal.run("export ODD=$'a\\n\"b\\'$(c)\\\\ é\\x01'", timeout=20)
    assert await said(terminal, 'printf %s "$ODD"') == ("a\n\"b'$(c)\\ é\x01", 0)


async def test_a_command_with_a_nul_or_half_a_character_is_refused(terminal: LocalTerminal) -> None:
    with pytest.raises(TerminalError, match="NUL"):
        await terminal.run("echo \0", timeout=20)
    with pytest.raises(TerminalError, match="not valid text at character 6"):
        await terminal.run("echo \ud83d", timeout=20)


async def test_the_setup_command_leaves_its_variables_functions_and_aliases(
    tmp_path: Path, env: dict[str, str]
) -> None:
    (tmp_path / ".rc").write_text("export FROM_RC=1; f() { echo f; }; alias a='echo a'; cd /; echo noise")
    terminal = LocalTerminal(str(tmp_path), env, setup=". ~/.rc")
    assert await said(terminal, "echo $FROM_RC; f; a; pwd") == (f"1\nf\na\n{tmp_path}\n", 0)


async def test_a_setup_command_that_fails_does_not_stop_the_terminal(tmp_path: Path, env: dict[str, str]) -> None:
    terminal = LocalTerminal(str(tmp_path), env, setup="kill -9 $$")
    assert await said(terminal, "echo $GIVEN") == ("yes\n", 0)


async def test_no_start_up_file_is_read(tmp_path: Path, env: dict[str, str]) -> None:
    for name in (".bashrc", ".bash_profile", ".profile"):
        (tmp_path / name).write_text("echo from a start-up file; export STARTED=1")
    terminal = LocalTerminal(str(tmp_path), env | {"SSH_CLIENT": "1"})
    assert await said(terminal, "echo ${STARTED-no}") == ("no\n", 0)


async def test_children_get_the_environment_they_are_given_and_nothing_else(
    terminal: LocalTerminal, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_OURS", "canary")
    output, _ = await said(terminal, "env; tr '\\0' '\\n' </proc/self/environ")
    names = {line.partition("=")[0] for line in output.splitlines()}
    assert names == {*env, "HERMES_MARK", "PWD", "OLDPWD", "SHLVL", "_"} - ({"OLDPWD"} - names)
    assert "canary" not in output


async def test_children_inherit_no_descriptor_of_ours(terminal: LocalTerminal) -> None:
    secret = os.open("/etc/passwd", os.O_RDONLY)
    try:
        os.set_inheritable(secret, True)
        output, _ = await said(terminal, "ls -l /proc/self/fd")
    finally:
        os.close(secret)
    assert "/etc/passwd" not in output
