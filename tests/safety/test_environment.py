"""Children see no secret of ours."""

from hermes.safety.environment import scrubbed

SECRET = [
    "OPENROUTER_API_KEY",
    "OPENAI_API_KEY_2",
    "OPENAIKEY",
    "ANTHROPIC_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "MYSQL_PWD",
    "PGPASSWORD",
    "GITHUB_PAT",
    "SLACK_WEBHOOK_URL",
    "CORP_LLM_CRED",
    "NPM_CONFIG__AUTH",
    "HERMES_BEARER",
    "JWT",
    "COOKIE",
    "SIGNING_PRIVATE",
    "AZURE_STORAGE_CONNECTION_STRING",
    "SENTRY_DSN",
    "DB_PASS",
    "GOOGLE_APPLICATION_CREDENTIALS",
]
HARMLESS = [
    "PATH",
    "HOME",
    "PWD",
    "OLDPWD",
    "LANG",
    "LC_ALL",
    "TERM",
    "SHELL",
    "USER",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "XAUTHORITY",
    "PYTHONPATH",
    "EDITOR",
    "KEYBOARD_LAYOUT",
    "COLORTERM",
    "VIRTUAL_ENV",
    "JAVA_HOME",
    "PATTERN",
    "COMPASS",
]


def test_what_is_named_like_a_secret_stays_with_us():
    assert scrubbed(dict.fromkeys(SECRET, "canary")) == {}


def test_what_is_harmless_is_passed_on():
    assert list(scrubbed(dict.fromkeys(HARMLESS, "x"))) == HARMLESS


def test_a_password_in_an_address_stays_with_us():
    kept = scrubbed(
        {"DATABASE_URL": "postgres://u:p@h/db", "HOMEPAGE": "https://example.com/a:b@c", "MIRROR": "http://h:80/x"}
    )
    assert list(kept) == ["HOMEPAGE", "MIRROR"]


def test_what_steers_a_shell_stays_with_us():
    assert scrubbed({"BASH_ENV": "x", "CDPATH": "/", "PATH": "/bin"}) == {"PATH": "/bin"}
