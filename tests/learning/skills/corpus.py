"""Skills as the scanner's tests read them: many in one file, each with the files that belong to it."""

import re
from collections.abc import Iterator
from pathlib import Path

CORPORA = Path(__file__).parents[1] / "corpora"
PLANTED = Path(__file__).parents[1] / "planted"


def skills(name: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The skills of a corpus: each with its name and its files."""
    text = (CORPORA / f"{name}.txt").read_text(encoding="utf-8")
    for part in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        body, *others = re.split(r"^--- (?=\S)", rest, flags=re.MULTILINE)
        head = f"---\nname: {title}\ndescription: A skill of the corpus.\n---\n\n"
        files = {"SKILL.md": head + body}
        for other in others:
            path, _, content = other.partition("\n")
            files[path] = content
        yield title, files


def lay_out(folder: Path, files: dict[str, str]) -> Path:
    """Write the files of a skill into a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder
