"""What became of the skills that a session used, by its events.

A skill was loaded in the turn in which the model viewed it or the person called it. It helped if that turn ended well and the
last effect in it succeeded; it failed if the turn failed or ran into a limit, or its last effect failed. A turn that was
interrupted or refused tells nothing.
"""

from collections.abc import Callable

import msgspec

from hermes.learning.skills.evidence import EFFECTS, OWN
from hermes.protocol.events import Event, ItemDone, TurnEnded, TurnStarted
from hermes.protocol.items import ToolCall, UserMessage
from hermes.protocol.skills import SkillUse

SOURCE = "skill:"


class Tally:
    """Counts for one session. `version` tells which version of a skill is seen now, and what one use of it saves."""

    def __init__(self, version: Callable[[str], tuple[int, int]]) -> None:
        self._version = version
        self._loaded: set[str] = set()
        self._last_effect = ""

    def take(self, event: Event) -> list[SkillUse]:
        """What to count once an event was seen; nothing most of the time."""
        match event.body:
            case TurnStarted():
                self._loaded.clear()
                self._last_effect = ""
            case ItemDone(item=UserMessage(origin="skill", source=source)) if source.startswith(SOURCE):
                self._loaded.add(source.removeprefix(SOURCE))
            case ItemDone(item=ToolCall(name="skill_view", status="done", source=source, args=args)):
                if source.startswith(SOURCE) and not _is_file(args):
                    self._loaded.add(source.removeprefix(SOURCE))
            case ItemDone(item=ToolCall(name=name, kind=kind, status=status)) if kind in EFFECTS and name not in OWN:
                self._last_effect = status
            case TurnEnded(reason=reason):
                return [self._use(name, reason, event.at) for name in sorted(self._loaded)]
            case _:
                pass
        return []

    def _use(self, name: str, reason: str, at: float) -> SkillUse:
        version, saves = self._version(name)
        failed = reason in ("failed", "limit") or (reason == "done" and self._last_effect == "failed")
        helped = reason == "done" and not failed
        return SkillUse(
            skill=name,
            version=version,
            loaded=1,
            helped=int(helped),
            failed=int(failed),
            saved=saves if helped else 0,
            at=at,
        )


def _is_file(args: str) -> bool:
    return bool(msgspec.json.decode(args or "{}").get("file_path"))
