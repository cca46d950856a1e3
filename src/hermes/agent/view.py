"""What the model is shown of a log: summaries in the place of what they cover, old results cut down to one line.

    mask    its items stay where they are, with their long texts cut and a reference to the whole
    leaf    stands for the items of some steps, at the place of the first; what a person said is never among them
    node    stands for leaves

Nothing is lost by any of them: the items stay in the log, and `context_expand` shows them.
"""

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from hermes.protocol.items import Item, Part, Plan, Reply, Summary, Text, Thought, ToolCall, UserMessage, text_of

BEGINNING = 160
LONG_ARGUMENT = 400
HEAD, TAIL = 2_000, 1_000
LONG_MESSAGE = 8_000
"""Characters above which an old message of a person is shown by its head and its tail."""


def shown(items: Iterable[Item]) -> tuple[Item, ...]:
    """The items in their order as the model sees them."""
    items = tuple(items)
    masked: set[str] = set()
    above: dict[str, Summary] = {}
    for item in items:
        if isinstance(item, Summary):
            if item.kind == "mask":
                masked.update(item.covers)
            else:
                above |= dict.fromkeys(item.covers, item)
    view: list[Item] = []
    placed: set[str] = set()
    for item in items:
        if isinstance(item, Summary):
            continue
        summary = above.get(item.id)
        if summary is None:
            view.append(masked_item(item) if item.id in masked else item)
            continue
        while (higher := above.get(summary.id)) is not None:
            summary = higher
        if summary.id not in placed:
            placed.add(summary.id)
            view.append(summary)
    return tuple(view)


def masked_item(item: Item) -> Item:
    """An item with its long texts cut, and where to find them whole."""
    match item:
        case ToolCall(args=args, result=result):
            text = text_of(result).strip()
            begins = " ".join(text[:BEGINNING].split())
            line = f'[{len(text):,} characters out of view, context_expand("{item.id}") shows them] {begins}'
            short: tuple[Part, ...] = (Text(line),) if len(line) < len(text) else result
            return msgspec.structs.replace(item, args=_short_args(args), result=short)
        case UserMessage(parts=parts) if len(text := text_of(parts)) > LONG_MESSAGE:
            left_out = len(text) - HEAD - TAIL
            note = f'[… {left_out:,} characters out of view, context_expand("{item.id}") shows them …]'
            return msgspec.structs.replace(item, parts=(Text(f"{text[:HEAD]}\n{note}\n{text[-TAIL:]}"),))
        case _:
            return item


def length(item: Item) -> int:
    """Roughly how many bytes an item has in a request."""
    match item:
        case UserMessage(parts=parts):
            return len(text_of(parts))
        case ToolCall(args=args, result=result):
            return len(args) + len(text_of(result))
        case Reply(text=text) | Thought(text=text) | Summary(text=text):
            return len(text)
        case Plan():
            return 0


def _short_args(args: str) -> str:
    """Arguments whose long strings are cut; they stay JSON, because a provider reads them."""
    if len(args) <= LONG_ARGUMENT:
        return args
    try:
        return msgspec.json.encode(_short(msgspec.json.decode(args))).decode()
    except msgspec.DecodeError:
        return args


def _short(value: Any) -> Any:
    match value:
        case str() if len(value) > LONG_ARGUMENT:
            return f"{value[:BEGINNING]}[… {len(value) - BEGINNING:,} characters out of view …]"
        case dict():
            return {name: _short(each) for name, each in cast(dict[str, Any], value).items()}
        case list():
            return [_short(each) for each in cast(list[Any], value)]
        case _:
            return value
