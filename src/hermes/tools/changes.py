"""What a write changed, as a unified diff that `git apply` takes."""

from hermes.protocol.items import FileChange
from hermes.tools.text import TextFile, lines_of, printable

CONTEXT = 3
LONGEST = 50_000

Code = tuple[str, int, int, int, int]
"""What happened to lines a to b of the old text, which are lines c to d of the new one."""


def changed(
    path: str, old: TextFile | None, new: TextFile | None, *, name: str, old_name: str, moved: bool = False
) -> FileChange:
    """The change from one state of a file to another; None is a file that is not there."""
    before, after = (printable(old.text) if old else ""), (printable(new.text) if new else "")
    kind = "moved" if moved else "created" if old is None else "deleted" if new is None else "edited"
    names = (
        "/dev/null" if old is None else f"a/{old_name.lstrip('/')}",
        "/dev/null" if new is None else f"b/{name.lstrip('/')}",
    )
    lines = unified(lines_of(before), lines_of(after))
    head = [f"--- {names[0]}\n", f"+++ {names[1]}\n"] if lines else []
    diff = "".join(head + lines)
    if len(diff) > LONGEST:
        diff = diff[:LONGEST] + "\n[the rest of the diff is left out]\n"
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return FileChange(path, kind, diff, added, removed)


def unified(old: list[str], new: list[str]) -> list[str]:
    """The hunks between two lists of lines. Only the part that differs is compared, so a large file costs little."""
    from difflib import SequenceMatcher

    head, tail = _common(old, new)
    middle = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail])
    codes = [(kind, a + head, b + head, c + head, d + head) for kind, a, b, c, d in middle.get_opcodes()]
    codes.insert(0, ("equal", 0, head, 0, head))
    codes.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    lines: list[str] = []
    for group in _groups(codes):
        _, a, _, c, _ = group[0]
        _, _, b, _, d = group[-1]
        lines.append(f"@@ -{_range(a, b)} +{_range(c, d)} @@\n")
        for kind, a, b, c, d in group:
            lines += _shown(" ", old[a:b]) if kind == "equal" else _shown("-", old[a:b]) + _shown("+", new[c:d])
    return lines


def _common(old: list[str], new: list[str]) -> tuple[int, int]:
    """How many lines at the start and at the end are the same."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _groups(codes: list[Code]) -> list[list[Code]]:
    """The changes with three lines round each; two changes with up to six lines between them stay together."""
    groups: list[list[Code]] = [[]]
    for place, (kind, a, b, c, d) in enumerate(codes):
        if kind != "equal":
            groups[-1].append((kind, a, b, c, d))
            continue
        last = place == len(codes) - 1
        if place and not last and b - a <= 2 * CONTEXT:
            groups[-1].append((kind, a, b, c, d))
            continue
        if place:
            kept = min(CONTEXT, b - a)
            groups[-1].append((kind, a, a + kept, c, c + kept))
        if not last:
            kept = min(CONTEXT, b - a)
            groups.append([(kind, b - kept, b, d - kept, d)])
    return [group for group in groups if any(code[0] != "equal" for code in group)]


def _range(start: int, end: int) -> str:
    """Lines as a hunk names them: from 1, with a count unless it is 1; an empty range names the line before it."""
    count = end - start
    return str(start + 1) if count == 1 else f"{start + (count > 0)},{count}"


def _shown(sign: str, lines: list[str]) -> list[str]:
    return [sign + line if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n" for line in lines]
