"""Which of a project's context files counts, and which branch is checked out."""

from pathlib import Path

from hermes.agent.rules import find_rules, git_branch


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_first_of_the_known_files_wins(tmp_path: Path):
    files = [
        ".cursor/rules/b.mdc",
        ".cursor/rules/a.mdc",
        ".cursorrules",
        "CLAUDE.md",
        "AGENTS.md",
        "HERMES.md",
        ".hermes.md",
    ]
    found = [find_rules(tmp_path)]
    for name in files:
        put(tmp_path / name, f" {name}\n")
        found.append(find_rules(tmp_path))
    cursor = (".cursor/rules/b.mdc", ".cursor/rules/a.mdc\n\n.cursor/rules/b.mdc")
    assert found == [
        ("", ""),
        (".cursorrules", cursor[0]),
        (".cursorrules", cursor[1]),
        (".cursorrules", f".cursorrules\n\n{cursor[1]}"),
        *((name, name) for name in files[3:]),
    ]


def test_hermes_own_file_is_looked_for_up_to_the_git_root_and_no_further(tmp_path: Path):
    inner = tmp_path / "repository" / "lib" / "deep"
    put(tmp_path / ".hermes.md", "of somebody else")
    put(tmp_path / "repository" / ".git" / "HEAD", "ref: refs/heads/main\n")
    put(tmp_path / "repository" / "AGENTS.md", "only where it lies")
    put(inner / "CLAUDE.md", "here")
    assert find_rules(inner) == ("CLAUDE.md", "here")
    put(tmp_path / "repository" / "HERMES.md", "of all")
    assert find_rules(inner) == ("HERMES.md", "of all")
    put(tmp_path / "repository" / "lib" / ".hermes.md", "nearer")
    assert find_rules(inner) == (".hermes.md", "nearer")


def test_outside_a_repository_only_the_folder_itself_counts(tmp_path: Path):
    put(tmp_path / ".hermes.md", "above")
    (tmp_path / "inner").mkdir()
    assert find_rules(tmp_path / "inner") == ("", "")


def test_an_empty_file_is_passed_over(tmp_path: Path):
    put(tmp_path / ".hermes.md", " \n")
    put(tmp_path / "AGENTS.md", "Be brief.")
    assert find_rules(tmp_path) == ("AGENTS.md", "Be brief.")


def test_the_branch_is_read_from_the_git_root(tmp_path: Path):
    put(tmp_path / ".git" / "HEAD", "ref: refs/heads/feature/one\n")
    (tmp_path / "inner").mkdir()
    assert git_branch(tmp_path / "inner") == "feature/one"
