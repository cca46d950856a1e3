"""Sources of skills, as people name them."""

from pathlib import Path

import pytest

from hermes.learning.skills.sources import (
    FolderSource,
    GitSource,
    Named,
    Source,
    Tap,
    WebSource,
    read_source,
    spelled,
    trust_of,
)
from hermes.protocol.errors import UserError

HERE = Path("/home/somebody")
NAMED: list[tuple[str, Source]] = [
    ("owner/repo", GitSource("https://github.com/owner/repo")),
    ("owner/repo/pdf", GitSource("https://github.com/owner/repo", "pdf")),
    ("owner/repo/skills/pdf@v2", GitSource("https://github.com/owner/repo", "skills/pdf", "v2")),
    ("codeberg.org/owner/repo.git", GitSource("https://codeberg.org/owner/repo")),
    (
        "https://github.com/owner/repo/tree/main/skills/pdf",
        GitSource("https://github.com/owner/repo", "skills/pdf", "main"),
    ),
    ("https://github.com/owner/repo/blob/main/pdf/SKILL.md", GitSource("https://github.com/owner/repo", "pdf", "main")),
    ("https://git.example.org/a/b.git", GitSource("https://git.example.org/a/b.git")),
    ("git+https://git.example.org/a/b@v1#c/d", GitSource("https://git.example.org/a/b", "c/d", "v1")),
    ("git+file:///srv/repo#pdf", GitSource("file:///srv/repo", "pdf")),
    ("git@example.org:owner/repo.git", GitSource("git@example.org:owner/repo.git")),
    ("ssh://git@example.org/owner/repo@v1", GitSource("ssh://git@example.org/owner/repo", "", "v1")),
    ("./pdf", FolderSource("/home/somebody/pdf")),
    ("/srv/skills#pdf", FolderSource("/srv/skills", "pdf")),
    ("https://example.org", WebSource("https://example.org")),
    (
        "https://example.org/.well-known/skills/index.json#pdf",
        WebSource("https://example.org/.well-known/skills/index.json", "pdf"),
    ),
]


@pytest.mark.parametrize(("text", "source"), NAMED, ids=[text for text, _ in NAMED])
def test_a_source_is_understood_and_its_spelling_means_the_same(text: str, source: Source) -> None:
    assert read_source(text, HERE) == source
    assert read_source(spelled(source), HERE) == source


def test_a_bare_word_is_a_name() -> None:
    assert read_source("pdf", HERE) == Named("pdf")


@pytest.mark.parametrize("text", ["", "a b", "git+", "git+--upload-pack=x", "owner/", "https://"])
def test_what_is_no_source_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UserError) as refused:
        read_source(text, HERE)
    assert refused.value.hint


def test_only_the_tap_itself_is_trusted_and_no_branch_of_it() -> None:
    taps = (Tap("owner/repo", trusted=True), Tap("other/repo"))
    assert trust_of(GitSource("https://github.com/owner/repo", "pdf"), taps) == "trusted"
    assert trust_of(GitSource("https://github.com/owner/repo", "pdf", "pull-7"), taps) == "community"
    assert trust_of(GitSource("https://github.com/other/repo", "pdf"), taps) == "community"
    assert trust_of(GitSource("https://github.com/owner/repository", "pdf"), taps) == "community"
