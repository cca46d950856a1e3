"""What compaction took out of the model's view of a session. The log has all of it."""

from hermes.protocol.events import ItemDone
from hermes.protocol.items import Item, Summary
from hermes.protocol.store import Log


async def items_of(log: Log, session: str) -> dict[str, Item]:
    """Every finished item of a session by its id, in the order of the log."""
    items: dict[str, Item] = {}
    seq = 0
    while events := await log.events(session, seq):
        items |= {event.body.item.id: event.body.item for event in events if isinstance(event.body, ItemDone)}
        seq = events[-1].seq or seq
    return items


async def originals(log: Log, session: str, summary: str) -> set[str]:
    """The ids of the items that a summary stands for, through all that it is made of; none if there is no such summary."""
    items = await items_of(log, session)
    found = [item for name, item in items.items() if name.startswith(summary) and isinstance(item, Summary)]
    return {item.id for item in beneath(items, found[0])} if len(found) == 1 else set()


def beneath(items: dict[str, Item], summary: Summary) -> list[Item]:
    """The items at the bottom of a summary, in the order of the conversation."""
    bottom: dict[str, Item] = {}
    waiting = list(summary.covers)
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        item = items.get(name)
        if item is None or name in seen:
            continue
        seen.add(name)
        if isinstance(item, Summary):
            waiting += item.covers
        else:
            bottom[name] = item
    return sorted(bottom.values(), key=lambda item: (item.step, item.index))


def out_of_view(items: dict[str, Item]) -> list[Item]:
    """Whatever some summary covers."""
    covered: dict[str, Item] = {}
    for item in items.values():
        if isinstance(item, Summary):
            covered |= {each.id: each for each in beneath(items, item)}
    return sorted(covered.values(), key=lambda item: (item.step, item.index))
