"""Actions in words."""

import pytest

from hermes.commands.requests import effect
from hermes.protocol.actions import (
    CallServer,
    OpenURL,
    Persist,
    ReadPath,
    RunCommand,
    SendMessage,
    Spend,
    StartServer,
    WritePath,
)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (RunCommand("rm -r x", "/w"), ("run in /w", "rm -r x")),
        (RunCommand("serve", "/w", "docker", background=True), ("run in /w (docker), in the background", "serve")),
        (ReadPath("/etc/x"), ("read", "/etc/x")),
        (WritePath("/etc/x"), ("write", "/etc/x")),
        (WritePath("/etc/x", delete=True), ("delete", "/etc/x")),
        (OpenURL("http://a"), ("open", "http://a")),
        (OpenURL("http://a", "POST"), ("send (POST)", "http://a")),
        (CallServer("files", "put", '{"a": 1}'), ("call put of files", '{"a": 1}')),
        (StartServer("files", ("npx", "a b")), ("start the server files", "npx 'a b'")),
        (Persist("a memory", "likes tea"), ("keep a memory", "likes tea")),
        (SendMessage("ann", "hi"), ("send to ann", "hi")),
        (Spend("a search", 0.5), ("spend $0.50", "a search")),
    ],
)
def test_an_action_is_told_in_full(action, words):
    assert effect(action) == words
