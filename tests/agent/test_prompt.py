"""The system text: its parts in their order, and how a long context file is cut."""

from hermes.agent.prompt import Where, clip, sections, system_text

WHERE = Where(cwd="/project", system="Linux", shell="bash", date="Monday, 2026-11-16 (UTC)", git_branch="main")


def test_what_is_stable_comes_first_and_the_date_last():
    parts = sections(
        WHERE,
        soul="I am somebody.",
        persona="Speak in rhymes.",
        skills="# Skills",
        extra="From the caller.",
        rules=("AGENTS.md", "Use tabs."),
        memory="# Memory",
    )
    guidance = parts[2].text
    assert [part.name for part in parts] == [
        *("identity", "personality", "guidance", "skills", "environment", "caller", "context file", "memory", "date")
    ]
    assert system_text(parts) == (
        f"I am somebody.\n\nSpeak in rhymes.\n\n{guidance}\n\n# Skills\n\n"
        "# Environment\n- Linux, bash, terminal\n- working folder: /project\n- git branch: main\n\n"
        "From the caller.\n\n# Rules of this project (AGENTS.md)\nUse tabs.\n\n# Memory\n\n"
        "Today is Monday, 2026-11-16 (UTC)."
    )


def test_the_small_profile_has_only_who_where_and_when():
    parts = sections(WHERE, rules=("AGENTS.md", "Use tabs."), memory="# Memory", skills="# Skills", small=True)
    assert [part.name for part in parts] == ["identity", "environment"]
    assert len(system_text(parts)) < 1_000


def test_a_long_context_file_keeps_its_head_and_its_tail():
    text = "h" * 14_000 + "m" * 30_000 + "t" * 4_000
    [context] = [part for part in sections(WHERE, rules=("AGENTS.md", text)) if part.name == "context file"]
    assert context.text == (
        f"# Rules of this project (AGENTS.md)\n{'h' * 14_000}\n[… 30,000 characters left out …]\n{'t' * 4_000}"
    )
    assert clip("x" * 20_000, 20_000) == "x" * 20_000


def test_a_large_window_takes_more_of_a_context_file():
    text = "x" * 40_000
    assert text in system_text(sections(WHERE, rules=("AGENTS.md", text), window=200_000))
    assert text not in system_text(sections(WHERE, rules=("AGENTS.md", text), window=100_000))
