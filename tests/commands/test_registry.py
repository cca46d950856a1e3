"""How a command is found, read and run."""

import pytest

from hermes.commands.builtin import BUILTIN, ask_no_more
from hermes.commands.registry import TERMINAL, Command, Context, Outcome, Registry, Typed
from hermes.protocol.errors import ToolError, UserError
from tests.commands.surface import person


async def nothing(ctx: Context, argument: str) -> Outcome:
    return Outcome(reply=argument)


def command(name: str, *aliases: str, **more) -> Command:
    return Command(name=name, aliases=aliases, help=f"do {name}", run=nothing, **more)


STOP, STATUS, RESET = command("stop"), command("status"), command("reset", "new", "start")
REGISTRY = Registry((STOP, STATUS, RESET))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("stop", STOP),
        ("STATUS", STATUS),
        ("new", RESET),
        ("sta", STATUS),
        ("st", STOP),
        ("s", STOP),
        ("star", RESET),
        ("Re", RESET),
    ],
)
def test_a_command_is_found_by_name_alias_or_beginning_and_the_first_one_wins(name, found):
    assert REGISTRY.find(name, "terminal") is found


def test_an_alias_in_full_beats_the_beginning_of_a_name():
    short = command("exit", "s")
    assert Registry((STOP, short)).find("s", "terminal") is short


@pytest.mark.parametrize(
    ("name", "found"),
    [("sta", STATUS), ("star", RESET), ("start", RESET), ("stargaze", "stargaze"), ("starg", "stargaze")],
)
def test_a_skill_is_found_by_its_name_or_by_a_beginning_that_no_command_shares(name, found):
    skills = (command("stargaze"),)
    registry = Registry((STOP, STATUS, RESET), more=lambda: skills)
    assert registry.find(name, "terminal") is (skills[0] if found == "stargaze" else found)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("/stahtus", "there is no command /stahtus (did you mean /status?)"),
        ("/Zzz", "there is no command /zzz (/help lists them; with a space before the slash it is a message)"),
    ],
)
def test_an_unknown_command_is_one_line_with_the_nearest_name(text, line):
    with pytest.raises(UserError) as error:
        REGISTRY.read(text, "terminal")
    assert f"{error.value} ({error.value.hint})" == line


@pytest.mark.parametrize(
    "text", ["hello", " /stop", "/etc/hosts is what?", "/", "//stop", "/1", "what does /stop do?", ""]
)
def test_what_is_no_command_is_a_message(text):
    assert REGISTRY.read(text, "terminal") is None


@pytest.mark.parametrize(
    ("text", "argument"),
    [("/stop", ""), ("/stop  ", ""), ("/stop  a  b ", "a  b"), ("/stop a\nb", "a\nb"), ("/stop\ta", "a")],
)
def test_what_stands_behind_the_name_is_the_argument(text, argument):
    assert REGISTRY.read(text, "terminal") == Typed(STOP, argument)


@pytest.mark.parametrize(
    ("text", "argument", "question"),
    [
        ("/drop", "", "drop?"),
        ("/drop 2", "2", "drop 2?"),
        ("/drop now", "", ""),
        ("/drop 2 --yes", "2", ""),
        ("/drop a file -Y", "a file", ""),
        ("/drop knownow", "knownow", "drop knownow?"),
        ("/drop -y 2", "-y 2", "drop -y 2?"),
        ("/drop list", "list", ""),
    ],
)
def test_a_destructive_command_has_a_question_unless_it_is_confirmed_behind_it(text, argument, question):
    drop = command("drop", destructive=lambda said: "" if said == "list" else f"drop {said}".rstrip() + "?")
    assert Registry((drop,)).read(text, "terminal") == Typed(drop, argument, question)


def test_nothing_asks_where_the_person_wants_no_questions():
    drop = command("drop", destructive=lambda said: "drop?")
    asks = [True]
    registry = Registry((drop,), lambda command: asks[0])
    assert registry.read("/drop 2", "terminal") == Typed(drop, "2", "drop?")
    asks[0] = False
    assert registry.read("/drop 2", "terminal") == Typed(drop, "2")
    assert registry.read("/drop 2 now", "terminal") == Typed(drop, "2")


async def test_a_person_who_says_always_is_asked_no_more(tmp_path):
    async with person(tmp_path) as me:
        undo = me.registry.read("/undo", "terminal")
        assert undo is not None
        assert undo.question == "Take back the last exchange?"
        await ask_no_more(me.app, undo.command)
        assert me.registry.read("/undo", "terminal") == Typed(undo.command, "")
        assert "destructive_slash_confirm: false" in (tmp_path / "home" / "config.yaml").read_text()


def test_a_surface_has_only_its_own_commands():
    there = command("save", surfaces=TERMINAL)
    registry = Registry((there, STOP))
    assert (registry.on("terminal"), registry.on("chat")) == ((there, STOP), (STOP,))
    assert registry.find("s", "chat") is STOP
    with pytest.raises(UserError):
        registry.find("save", "chat")


@pytest.mark.parametrize(
    ("error", "reply"),
    [
        (UserError("it is closed", "open it"), "it is closed (open it)"),
        (UserError("it is closed"), "it is closed"),
        (ToolError("git failed"), "git failed"),
    ],
)
async def test_what_goes_wrong_is_a_reply_of_one_line(error, reply):
    async def fail(ctx: Context, argument: str) -> Outcome:
        raise error

    failing = Typed(Command(name="fail", help="", run=fail), "")
    assert await failing.run(None) == Outcome(reply=reply)  # type: ignore[arg-type]


def test_no_two_built_in_commands_share_a_name_and_each_tells_what_it_does():
    names = [name for command in BUILTIN for name in (command.name, *command.aliases)]
    assert sorted(set(names)) == sorted(names)
    assert all(command.help and "\n" not in command.help for command in BUILTIN)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("/new", "Start a new session?"),
        ("/new plans for May", "Start a new session?"),
        ("/reset -y", ""),
        ("/clear", "Start a new session?"),
        ("/undo", "Take back the last exchange?"),
        ("/undo 3", "Take back the last 3 exchanges?"),
        ("/undo 3 now", ""),
        ("/undo x", ""),
        ("/rollback", ""),
        ("/rollback diff 1", ""),
        ("/rollback 2", "Put the folder back as it was at checkpoint 2?"),
        ("/rollback 2 a file.txt", "Put a file.txt back as it was at checkpoint 2?"),
        ("/rollback 2 a.txt -y", ""),
        ("/stop", ""),
        ("/quit", ""),
        ("/quit --delete", "Leave, and delete this session for good?"),
        ("/quit --delete now", ""),
    ],
)
def test_only_what_takes_something_away_asks_first(text, question):
    typed = Registry(BUILTIN).read(text, "terminal")
    assert typed is not None
    assert typed.question == question
