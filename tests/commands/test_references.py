"""@-references with real files, a real git repository and a real web server."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from hermes.app.fetching import fetch
from hermes.app.repository import Repository
from hermes.commands.references import Expanded, Reference, expand, find
from hermes.protocol.errors import UserError
from hermes.protocol.events import ItemDone
from hermes.protocol.items import Text, UserMessage
from hermes.protocol.ops import Redirect, Say
from hermes.safety.secrets.redact import Redactor
from hermes.safety.urls import URLPolicy
from tests.agent.stage import ScriptedModel, answer
from tests.commands.surface import person


class Desk:
    """A workspace in a home, and messages that refer to what is in it."""

    def __init__(self, folder: Path) -> None:
        self.user_home = folder
        self.home, self.root = folder / ".hermes", folder / "work"
        self.home.mkdir()
        self.root.mkdir()

    async def expand(self, text: str, **other: Any) -> Expanded:
        wanted: dict[str, Any] = {
            "root": self.root,
            "home": self.home,
            "user_home": self.user_home,
            "window": 100_000,
            "repository": Repository(self.root, {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(self.user_home)}),
            "fetch": lambda url: fetch(url, URLPolicy(allow_private=True)),
            "mask": lambda text: text,
        }
        return await expand(text, **wanted | other)

    async def warning(self, text: str, **other: Any) -> str:
        """The one line that a person sees."""
        [line] = (await self.expand(text, **other)).warnings
        return line

    def git(self, *args: str) -> None:
        named = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main")
        subprocess.run(["git", *named, *args], cwd=self.root, check=True, capture_output=True)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@contextmanager
def website(pages: dict[str, tuple[str, str]]) -> Iterator[str]:
    """A server on this machine with pages of a type and a text; one that begins with / leads on to another."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, body = pages.get(self.path, ("", ""))
            if kind.startswith("/"):
                self.send_response(302)
                self.send_header("Location", kind)
                self.end_headers()
                return
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", kind or "text/plain")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# What is a reference


@pytest.mark.parametrize(
    ("text", "references"),
    [
        ("look at @file:a.py.", [Reference("@file:a.py", "file", "a.py")]),
        ("(@file:a.py:3-9)", [Reference("@file:a.py:3-9", "file", "a.py:3-9")]),
        ('@file:"my notes.md" and more', [Reference('@file:"my notes.md"', "file", "my notes.md")]),
        ("@diff, @staged and @git:3", [Reference("@diff", "diff"), Reference("@staged", "staged"), Reference("@git:3", "git", "3")]),
        ("@file:a @file:a", [Reference("@file:a", "file", "a")]),
        ("@url:http://a.example/b(c)", [Reference("@url:http://a.example/b(c)", "url", "http://a.example/b(c)")]),
        ("see\n@folder:src/\n", [Reference("@folder:src/", "folder", "src/")]),
        ("mail me@file:x or ann@diff", []),
        ("@ann, @file and @different, @diff-tool, @diff.com", []),
        ("@file: a.py", []),
        ("user@example.org", []),
    ],
)  # fmt: skip
def test_what_counts_as_a_reference(text: str, references: list[Reference]):
    assert find(text) == references


async def test_a_message_that_refers_to_nothing_stays_as_it_is(desk: Desk):
    assert await desk.expand("write to ann@example.org") == Expanded("write to ann@example.org")


# Files and folders


async def test_a_file_is_quoted_behind_the_message_with_its_name(desk: Desk):
    (desk.root / "a.py").write_text("print(1)\n")
    expanded = await desk.expand("what is @file:a.py?")
    assert expanded == Expanded("what is @file:a.py?", ("@file:a.py:\n```py\nprint(1)\n```",))
    assert expanded.text == "what is @file:a.py?\n\n@file:a.py:\n```py\nprint(1)\n```"
    assert expanded.parts == (Text("what is @file:a.py?"), Text("@file:a.py:\n```py\nprint(1)\n```"))


async def test_some_lines_of_a_file(desk: Desk):
    (desk.root / "a.txt").write_text("one\ntwo\r\nthree\nfour\n")
    assert (await desk.expand("@file:a.txt:2-3")).blocks == ("@file:a.txt:2-3:\n```txt\ntwo\nthree\n```",)
    assert (await desk.expand("@file:a.txt:4")).blocks == ("@file:a.txt:4:\n```txt\nfour\n```",)
    assert "it has no line 9" in await desk.warning("@file:a.txt:9")
    assert "line 1 stands before line 3" in await desk.warning("@file:a.txt:3-1")


async def test_a_file_with_fences_in_it_gets_a_longer_fence(desk: Desk):
    (desk.root / "a.md").write_text("```\ncode\n```\n")
    assert (await desk.expand("@file:a.md")).blocks == ("@file:a.md:\n````md\n```\ncode\n```\n````",)


async def test_a_folder_is_listed_level_by_level(desk: Desk):
    (desk.root / "src" / "deep").mkdir(parents=True)
    (desk.root / "src" / "b.py").write_text("12345")
    (desk.root / "src" / "deep" / "c.py").write_text("")
    (desk.root / "src" / "link").symlink_to("b.py")
    [block] = (await desk.expand("@folder:src")).blocks
    assert block == "@folder:src:\n```text\nb.py (5 bytes)\ndeep/\nlink (link)\ndeep/c.py (0 bytes)\n```"


async def test_a_large_folder_is_listed_up_to_200_entries(desk: Desk):
    for number in range(250):
        (desk.root / f"f{number:03}").touch()
    [block] = (await desk.expand("@folder:.")).blocks
    lines = block.splitlines()[2:-1]
    assert (len(lines), lines[0], lines[-2], lines[-1]) == (
        201, "f000 (0 bytes)", "f199 (0 bytes)", "… and more than these 200",
    )  # fmt: skip


async def test_what_cannot_be_quoted_is_told_to_the_person_and_to_the_model(desk: Desk):
    expanded = await desk.expand("@file:gone.py")
    assert expanded == Expanded(
        "@file:gone.py",
        ("[@file:gone.py is not quoted: it is not there]",),
        ("@file:gone.py is not quoted: it is not there (check the path)",),
    )


@pytest.mark.parametrize(
    "path", ["../outside.txt", "/etc/passwd", "leads-out", "sub/../../outside.txt", "~/outside.txt"]
)
async def test_nothing_outside_the_workspace_is_quoted(desk: Desk, path: str):
    (desk.user_home / "outside.txt").write_text("private")
    (desk.root / "sub").mkdir()
    (desk.root / "leads-out").symlink_to(desk.user_home / "outside.txt")
    assert "it lies outside the workspace" in await desk.warning(f"@file:{path}")


@pytest.mark.parametrize(
    "path",
    [".ssh/config", ".aws/credentials", ".gnupg/x", ".kube/config", ".bashrc", ".zshrc", ".profile", ".config/fish/a",
     ".netrc", ".pgpass", ".npmrc", ".pypirc", ".hermes/.env", ".hermes/auth.json", "looks-harmless"],
)  # fmt: skip
async def test_what_holds_keys_is_not_quoted_even_in_the_workspace(desk: Desk, path: str):
    desk.root = desk.user_home
    (desk.root / ".netrc").write_text("password")
    (desk.root / "looks-harmless").symlink_to(".netrc")
    file = desk.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        file.write_text("password")
    expanded = await desk.expand(f"@file:{path}")
    assert "it is a place where keys are kept" in expanded.warnings[0]
    assert "password" not in expanded.text


async def test_a_binary_file_is_not_quoted(desk: Desk):
    (desk.root / "a.bin").write_bytes(b"ELF\0\1\2")
    assert "it is a binary file" in await desk.warning("@file:a.bin")


async def test_a_folder_is_no_file_and_a_file_no_folder(desk: Desk):
    (desk.root / "src").mkdir()
    (desk.root / "a").touch()
    assert "it is no file (for a folder write @folder:src)" in await desk.warning("@file:src")
    assert "it is no folder (for a file write @file:a)" in await desk.warning("@folder:a")


async def test_keys_in_a_file_are_masked(desk: Desk):
    (desk.root / "a.env").write_text("TOKEN=abcdef-secret\n")
    expanded = await desk.expand("@file:a.env", mask=lambda text: text.replace("abcdef-secret", "***"))
    assert expanded.blocks == ("@file:a.env:\n```env\nTOKEN=***\n```",)


async def test_above_a_quarter_of_the_window_there_is_a_warning(desk: Desk):
    (desk.root / "a").write_text("x" * 1400)
    assert await desk.warning("@file:a", window=1000) == "the references fill about 35% of the model's window"


async def test_above_half_of_the_window_nothing_is_sent(desk: Desk):
    for name in "ab":
        (desk.root / name).write_text("x" * 1400)
    with pytest.raises(UserError, match=r"the references hold about 7.. tokens, over half of the model's 1,000"):
        await desk.expand("@file:a @file:b", window=1000)


async def test_a_file_that_is_too_large_is_not_even_read(desk: Desk):
    (desk.root / "a").write_text("x\n" * 2000)
    assert "it has more than 2,000 bytes (quote some lines of it" in await desk.warning("@file:a", window=1000)
    assert (await desk.expand("@file:a:1-2", window=1000)).blocks == ("@file:a:1-2:\n```\nx\nx\n```",)


async def test_files_of_another_machine_are_left_to_the_model(desk: Desk):
    assert "the session works on another machine" in await desk.warning("@file:a", root=None, repository=None)
    assert "the session works on another machine" in await desk.warning("@diff", root=None, repository=None)


# Git


async def test_changes_and_commits_are_quoted(desk: Desk):
    desk.git("init")
    for number in (1, 2, 3):
        (desk.root / "a.txt").write_text(f"version {number}\n")
        desk.git("add", ".")
        desk.git("commit", "-m", f"Change {number}")
    (desk.root / "a.txt").write_text("staged\n")
    desk.git("add", ".")
    (desk.root / "a.txt").write_text("not staged\n")
    [diff, staged, commits] = (await desk.expand("@diff @staged @git:2")).blocks
    assert diff.startswith("@diff:\n```diff\ndiff --git")
    assert ("-staged\n+not staged" in diff, "-version 3\n+staged" in staged) == (True, True)
    assert [f"Change {number}" in commits for number in (1, 2, 3)] == [False, True, True]
    assert "by Ann on" in commits and "-version 2\n+version 3" in commits


async def test_a_repository_without_changes_says_so(desk: Desk):
    desk.git("init")
    assert (await desk.expand("@diff @staged")).blocks == (
        "@diff:\n```diff\n(nothing is changed)\n```",
        "@staged:\n```diff\n(nothing is staged)\n```",
    )


@pytest.mark.parametrize("count", ["0", "11", "x"])
async def test_between_one_and_ten_commits_can_be_quoted(desk: Desk, count: str):
    assert f"{count} is no number from 1 to 10" in await desk.warning(f"@git:{count}")


async def test_where_there_is_no_repository_git_says_so(desk: Desk):
    assert "Not a git repository (git is asked in the working folder)" in await desk.warning("@diff")


async def test_a_repository_cannot_start_programs_of_its_own(desk: Desk):
    desk.git("init")
    (desk.root / "a.txt").write_text("one\n")
    desk.git("add", ".")
    desk.git("commit", "-m", "One")
    for name in ("diff.external", "core.fsmonitor", "core.pager", "diff.own.textconv"):
        desk.git("config", name, f"touch {desk.user_home}/ran; cat")
    (desk.root / ".gitattributes").write_text("*.txt diff=own\n")
    (desk.root / "a.txt").write_text("two\n")
    assert "+two" in (await desk.expand("@diff")).text
    assert not (desk.user_home / "ran").exists()


# URLs


PAGE = """<html><head><title>Winds</title><style>b {}</style><script>track()</script></head>
<body><h1>The  winds</h1><p>North &amp; <b>south</b>.<br>East.</p><ul><li>one<li>two</ul><pre>a
  b</pre><noscript>no</noscript></body></html>"""


async def test_a_web_page_is_quoted_as_plain_text_and_named_as_a_source(desk: Desk):
    with website({"/": ("text/html; charset=utf-8", PAGE), "/old": ("/", "")}) as site:
        expanded = await desk.expand(f"@url:{site}/old")
    text = "Winds\n\n# The winds\n\nNorth & south.\nEast.\n\n- one\n- two\n\na\n  b"
    assert expanded == Expanded(f"@url:{site}/old", (f"@url:{site}/old:\n```text\n{text}\n```",), (), f"{site}/")


async def test_a_text_is_quoted_as_it_is(desk: Desk):
    with website({"/a": ("application/json", '{"a": 1}'), "/b": ("text/plain", "<b>")}) as site:
        expanded = await desk.expand(f"@url:{site}/a @url:{site}/b")
    assert expanded.blocks == (f'@url:{site}/a:\n```text\n{{"a": 1}}\n```', f"@url:{site}/b:\n```text\n<b>\n```")
    assert expanded.quoted == f"{site}/a, {site}/b"


async def test_a_url_that_gives_no_text_is_told(desk: Desk):
    with website({"/a": ("image/png", "…")}) as site:
        assert "is no text but image/png" in await desk.warning(f"@url:{site}/a")
        assert "HTTP 404" in await desk.warning(f"@url:{site}/gone")
    assert "cannot be fetched" in await desk.warning(f"@url:{site}/")
    assert "only http:// and https:// are fetched" in await desk.warning("@url:file:///etc/passwd")


async def test_a_page_that_is_too_large_is_not_taken(desk: Desk):
    with website({"/": ("text/plain", "x" * 2000)}) as site:
        line = await desk.warning(
            f"@url:{site}/", fetch=lambda url: fetch(url, URLPolicy(allow_private=True), most_bytes=1000)
        )
        assert "larger than 1,000 bytes" in line


async def test_own_networks_are_not_reached_unless_the_settings_say_so(tmp_path: Path):
    async with person(tmp_path) as one:
        with pytest.raises(UserError, match=r"may not be fetched: 127.0.0.1 is this machine"):
            await one.app.fetch("http://127.0.0.1:9999/")


async def test_a_key_is_not_carried_away_in_a_url(desk: Desk):
    policy = URLPolicy(allow_private=True, redactor=Redactor(["abcdef-secret-123456"]))
    line = await desk.warning(
        "@url:http://127.0.0.1:9999/?k=abcdef-secret-123456", fetch=lambda url: fetch(url, policy)
    )
    assert "would carry a secret away" in line


# The gate


@pytest.mark.parametrize("kind", [Say, Redirect])
async def test_a_message_with_a_web_page_in_it_makes_the_session_untrusted(tmp_path: Path, kind: type[Say | Redirect]):
    async with person(tmp_path, ScriptedModel(answer("ok"))) as one:
        assert one.session.history.untrusted() == ()
        await one.session.send(kind(parts=(Text("read"), Text("a page")), quoted="http://a.example/"))
        await one.ended(1)
        [message] = [done.item for done in one.stage.of(ItemDone) if isinstance(done.item, UserMessage)]
        assert (message.trust, message.source) == ("untrusted", "http://a.example/")
        assert one.session.history.untrusted() == ("http://a.example/",)


async def test_asking_again_keeps_the_source_untrusted(tmp_path: Path):
    async with person(tmp_path, ScriptedModel(answer("ok"), answer("ok again"))) as one:
        await one.session.send(Say(parts=(Text("read"),), quoted="http://a.example/"))
        await one.ended(1)
        await one.types("/retry")
        await one.ended(2)
        assert one.session.history.untrusted() == ("http://a.example/",)
