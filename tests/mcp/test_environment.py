"""A server sees what any program needs and what the configuration names, and nothing else."""

from hermes.mcp.environment import child_env


def test_only_what_every_program_needs_is_inherited():
    needed = {
        "PATH": "/bin",
        "HOME": "/home/ada",
        "USER": "ada",
        "LOGNAME": "ada",
        "LANG": "C.UTF-8",
        "LC_ALL": "C",
        "LC_TIME": "de_DE",
        "TERM": "xterm",
        "SHELL": "/bin/sh",
        "TMPDIR": "/var/tmp",
        "XDG_CONFIG_HOME": "/home/ada/.config",
        "XDG_RUNTIME_DIR": "/run/user/1",
    }
    others = {
        "OPENAI_API_KEY": "sk-1",
        "LD_PRELOAD": "x.so",
        "PYTHONPATH": ".",
        "HERMES_HOME": "/h",
        "PATHS": "x",
        "LCD": "x",
    }
    assert child_env({**needed, **others}, {}) == needed


def test_what_the_configuration_names_is_added_and_wins():
    seen = child_env({"PATH": "/bin", "TERM": "xterm", "TOKEN": "ours"}, {"PATH": "/opt/bin", "TOKEN": "its own"})
    assert seen == {"PATH": "/opt/bin", "TERM": "xterm", "TOKEN": "its own"}


def test_an_exported_bash_function_is_never_handed_on():
    function = "() { :; }; echo taken over"
    assert child_env({"LC_X": function, "TERM": function, "LANG": "C"}, {"MINE": function, "ALSO": "(1)"}) == {
        "LANG": "C",
        "ALSO": "(1)",
    }
