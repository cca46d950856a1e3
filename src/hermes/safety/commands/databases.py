"""Database clients: questions are reading, and what drops, empties or rewrites asks."""

import re
from collections.abc import Callable

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import has, listed, operands, value_of
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import READS, WORKS, ask
from hermes.safety.patterns import Pattern

_TEXT = Pattern(r"'(?:[^']|'')*'|\"[^\"]*\"")
_COMMENT = Pattern(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_LOOKS = Pattern(
    r"\s*(select|from|summarize|show|explain|describe|desc|with|values|use|begin|commit|end|analyze|help|table|pragma|\\[dlztconqx]\S*|\.(tables|schema|mode|headers?|databases|indexes|indices|dump|quit|exit|help|width|nullvalue|show|stats))\b",
    re.I,
)
_ADDS = Pattern(
    r"\s*(insert|create|alter\s+table\s+\S+\s+add|update|delete|set|replace|copy|merge|comment|refresh|reindex|vacuum)\b",
    re.I,
)
_DESTROYS = Pattern(
    r"\b(drop|truncate|grant|revoke|alter\s+(user|role|system)|shutdown|kill|flush|purge|load_file|into\s+(out|dump)file|"
    r"load\s+data|create\s+(user|role|extension|function|trigger|event)|copy\s+.*\bprogram\b|xp_cmdshell|lo_import|"
    r"pg_read_file|pg_terminate_backend|rename\s+table|attach|load_extension|detach)\b|\\(copy|!|o|i)\b|\.(shell|system|import|load|output|once|read|restore)\b|"
    r"\balter\s+table\s+\S+\s+drop\b",
    re.I | re.DOTALL,
)
_CHANGES_ROWS = Pattern(r"\b(delete\s+from|update\s+\S+\s+set)\b", re.I)
# A database with such a name is the one that people use, on whichever machine.
_IN_USE = Pattern(r"(?:.*[_=/-])?(?:prod|production|live)(?:[_-].*)?", re.I)
_ALL_ROWS = Pattern(r"\bwhere\s+(1\s*=\s*1|true|1)\s*(;|$)", re.I)

# Where nothing is kept, nothing is lost by these.
_IN_MEMORY = Pattern(r"\bdrop\s+(?:table|view|index)\b|\btruncate\b|\bdelete\s+from\b", re.I)


def sql(text: str, *, local: bool) -> Verdict:
    """Judge statements; `local` is a database that is a file of the working folder, or on this machine."""
    if UNKNOWN in text:
        return ask("database", "nobody can tell which statements it would run")
    bare = _COMMENT.sub(" ", _TEXT.sub("''", text))
    verdict = READS
    for statement in (part for part in bare.split(";") if part.strip()):
        if found := _DESTROYS.search(statement):
            return ask("database", f"{found.group().strip().upper()} cannot be undone, or reaches beyond the database")
        if _CHANGES_ROWS.search(statement) and (
            not re.search(r"\bwhere\b", statement, re.I) or _ALL_ROWS.search(statement)
        ):
            return ask("database", "without WHERE it changes every row")
        if _CHANGES_ROWS.search(statement) and not local:
            return ask("database", "it changes rows on another machine")
        if _LOOKS.match(statement) and not re.search(r"\b(insert|into)\b", statement, re.I):
            continue
        if not _ADDS.match(statement) and not _LOOKS.match(statement):
            return ask("database", f"nobody knows what {statement.split()[0]} does")
        if not local:
            return ask("database", "it changes a database on another machine")
        verdict = WORKS
    return verdict


def server(step: Step, ground: Ground) -> Verdict:
    """psql, mysql and their like."""
    args = list(step.args)
    host = value_of(args, "-h", "--host", "-H", "--hostname") or ""
    where = " ".join([host, *(arg for arg in args if "://" in arg)])
    here = not where.strip() or bool(re.search(r"localhost|127\.0\.0\.1|@/|::1", where))
    local = here and not any(_IN_USE.fullmatch(arg) for arg in args)
    options = ("-c", "--command", "-e", "--execute", "--query", "-q", "-Q", "--eval", "--sql")
    texts = [args[at + 1] for at, arg in enumerate(args[:-1]) if arg in options]
    texts += [
        arg.partition("=")[2]
        for arg in args
        if arg.partition("=")[0] in ("--command", "--execute", "--query") and "=" in arg
    ]
    if has(args, "-l", "--list") and not texts:
        return READS
    if step.input.text:
        texts.append(step.input.text)
    if not texts or value_of(args, "-f", "--file") or step.input.text is None:
        return ask("database", f"nobody can tell what {step.name} would do")
    return next((verdict for text in texts if (verdict := sql(text, local=local)).decision != "allow"), READS)


def sqlite(step: Step, ground: Ground) -> Verdict:
    """sqlite3 and duckdb: the first word is the file, and the rest are statements."""
    args = step.args
    words = operands(args, ("-separator", "-cmd", "-init", "-newline", "-nullvalue", "-c", "-f", "-s"))
    kept = words[:1] not in ([], [":memory:"], [""])
    if kept and (verdict := ground.writing(step, words[:1])):
        return verdict
    if has(args, "-init") or (step.name == "duckdb" and "-f" in args):
        return ask("database", f"{step.name} is told elsewhere what to do")
    texts = [*words[1:], *([step.input.text] if step.input.text else [])]
    texts += [args[at + 1] for at, arg in enumerate(args[:-1]) if arg in ("-cmd", "-c", "-s")]
    verdicts = [sql(text if kept else _IN_MEMORY.sub("select", text), local=True) for text in texts]
    return next(
        (verdict for verdict in verdicts if verdict.decision != "allow"),
        WORKS if WORKS in verdicts or not texts else READS,
    )


_REDIS_LOOKS = listed(
    "get mget keys scan info ping ttl pttl type exists strlen llen lrange hget hgetall hkeys hlen smembers scard "
    "zrange zcard zscore dbsize memory monitor client.list slowlog time lastsave object randomkey --scan --stat "
    "--bigkeys echo hscan sscan"
)


def redis(step: Step, ground: Ground) -> Verdict:
    words = operands(step.args, ("-h", "-p", "-a", "-n", "-u", "--user", "--pass", "--pattern"))
    if (
        words[:2] == ["config", "get"]
        or (words[:1] and words[0].lower() in _REDIS_LOOKS)
        or has(step.args, "--scan", "--stat", "--latency", "--latency-history", "--bigkeys", "--memkeys", "--hotkeys")
    ):
        return READS
    return ask("database", f"redis-cli {' '.join(words[:2])} changes what is stored")


def mongo(step: Step, ground: Ground) -> Verdict:
    text = value_of(step.args, "--eval") or ""
    changes = re.search(
        r"drop|remove|delete|update|insert|rename|shutdown|replace|bulkWrite|createUser|\beval\b|load\(|fsync|\$out|\$merge|process|require",
        text,
        re.I,
    )
    if text and not changes and UNKNOWN not in text:
        return READS
    return ask(
        "database", f"nobody can tell what {step.name} would do" if not text else f"{step.name} changes what is stored"
    )


def _tool(rule: str, why: str) -> Callable[[Step, Ground], Verdict]:
    return lambda step, ground: ask(rule, why.format(step.name))


def dump(step: Step, ground: Ground) -> Verdict:
    target = value_of(step.args, "-f", "--file", "--out", "-o", "--result-file")
    return ground.writing(step, [target]) or WORKS if target else READS


RULES: dict[str, Callable[[Step, Ground], Verdict]] = {
    **dict.fromkeys(
        listed(
            "psql mysql mariadb clickhouse-client cqlsh sqlcmd trino presto duckdb-server snowsql mycli pgcli usql "
            "cockroach"
        ),
        server,
    ),
    **dict.fromkeys(("sqlite3", "sqlite", "duckdb"), sqlite),
    **dict.fromkeys(("redis-cli", "valkey-cli", "keydb-cli"), redis),
    **dict.fromkeys(("mongo", "mongosh"), mongo),
    **dict.fromkeys(("pg_dump", "mysqldump", "pg_dumpall", "mongodump"), dump),
    **dict.fromkeys(
        listed("dropdb dropuser createuser mongorestore pg_resetwal initdb mongoimport"),
        _tool("database", "{} changes a database"),
    ),
    "createdb": lambda step, ground: WORKS,
    "pg_isready": lambda step, ground: READS,
}
