"""What one question used, as a JSON file for whoever started Hermes (--usage-file)."""

import asyncio
from pathlib import Path

import msgspec

from hermes.app import App
from hermes.cli.stored import events_of
from hermes.protocol.errors import UserError
from hermes.protocol.events import Usage
from hermes.store.rows import counted


async def write_usage(app: App, session: str, after: int, path: Path) -> None:
    """Sum up the events behind a seq; a cost is null if some call has no known price."""
    events = [event async for event in events_of(app.store, session) if (event.seq or 0) > after]
    totals = counted(events)
    models = list(dict.fromkeys(event.body.model for event in events if isinstance(event.body, Usage)))
    facts = {"session": session, "models": models, **msgspec.structs.asdict(totals)}
    facts["cost"] = None if totals.unpriced else totals.cost
    text = msgspec.json.format(msgspec.json.encode(facts)) + b"\n"
    try:
        await asyncio.to_thread(path.write_bytes, text)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}", "choose another file for --usage-file") from None
