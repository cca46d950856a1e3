"""Completion as the text of a script, for each shell.

All three walk over the words typed so far: one that leads to a deeper command is added to the place, all else is passed over.
"""

from collections.abc import Iterable

from msgspec import Struct


class Word(Struct, frozen=True):
    """Something that can be typed, with what it does."""

    text: str
    about: str = ""


class Place(Struct, frozen=True):
    """What can be typed behind a command, such as `hermes config get`; `values` are those of a flag that has choices."""

    command: str
    words: tuple[Word, ...]
    values: dict[str, tuple[str, ...]]


def bash(places: Iterable[Place]) -> str:
    """For bash from 3.2 on, which macOS has."""
    places = list(places)
    words = [f'    "{one.command}") words="{" ".join(word.text for word in one.words)}" ;;' for one in places]
    return f"""\
_hermes() {{
    local at=hermes words="" i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$at ${{COMP_WORDS[i]}}" in
        {_alternatives(places, '"')}) at="$at ${{COMP_WORDS[i]}}" ;;
        esac
    done
    case "$at" in
{_lines(words)}
    esac
    case "$at ${{COMP_WORDS[COMP_CWORD - 1]}}" in
{_lines(_values(places, '"'))}
    esac
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _hermes hermes
"""


def zsh(places: Iterable[Place]) -> str:
    places = list(places)
    words = [f"    '{one.command}') known=({' '.join(_described(word) for word in one.words)}) ;;" for one in places]
    values = [line.replace("words=", "values=") for line in _values(places, "'", list_of=True)]
    return f"""\
#compdef hermes
_hermes() {{
    local at=hermes word
    local -a known values
    for word in ${{words[2,CURRENT-1]}}; do
        case "$at $word" in
        {_alternatives(places, "'")}) at="$at $word" ;;
        esac
    done
    case "$at" in
{_lines(words)}
    esac
    case "$at ${{words[CURRENT-1]}}" in
{_lines(values)}
    esac
    if (( $#values )); then
        compadd -- $values
    else
        _describe hermes known || _files
    fi
}}
if [ "$funcstack[1]" = "_hermes" ]; then
    _hermes "$@"
else
    compdef _hermes hermes
fi
"""


def fish(places: Iterable[Place]) -> str:
    places = list(places)
    deeper = " ".join(f"'{one.command}'" for one in places if one.command != "hermes")
    lines = [
        """\
function __hermes_at
    set -l at hermes
    for word in (commandline -opc)[2..-1]
        switch "$at $word\"""",
        f"            case {deeper}",
        """\
                set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end""",
    ]
    for one in places:
        if any(not word.text.startswith("-") for word in one.words):
            lines.append(f"complete -c hermes -n '__hermes_at \"{one.command}\"' -f")
        for word in one.words:
            about = f" -d {_quoted(word.about)}" if word.about else ""
            lines.append(f"complete -c hermes -n '__hermes_at \"{one.command}\"' {_fish_word(one, word)}{about}")
    return "\n".join(lines) + "\n"


def _fish_word(place: Place, word: Word) -> str:
    if word.text.startswith("--"):
        values = place.values.get(word.text)
        return f"-l {word.text[2:]}" + (f" -x -a '{' '.join(values)}'" if values else "")
    return f"-s {word.text[1:]}" if word.text.startswith("-") else f"-a {word.text}"


def _alternatives(places: Iterable[Place], quote: str) -> str:
    return " | ".join(f"{quote}{one.command}{quote}" for one in places if one.command != "hermes")


def _values(places: Iterable[Place], quote: str, *, list_of: bool = False) -> list[str]:
    """A line of `case` for each flag whose values are known."""
    begin, end = ("(", ")") if list_of else ('"', '"')
    return [
        f"    {quote}{one.command} {flag}{quote}) words={begin}{' '.join(values)}{end} ;;"
        for one in places
        for flag, values in one.values.items()
    ] or ["    *) ;;"]


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _described(word: Word) -> str:
    """A word for zsh's _describe, where a colon ends the word."""
    text = word.text.replace(":", "\\:")
    return _quoted(f"{text}:{word.about}" if word.about else text)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
