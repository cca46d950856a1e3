"""Tool calls out of the fragments in which chat servers send them, whichever way they are marked.

The dialect says: each fragment has the call's index, the first one also id and name. Real servers leave out the index
or the id, repeat the name, give each fragment an id of its own, number every call 0, or send each call whole.
"""

import msgspec

from hermes.models.answer import Answer, is_object


class Fragment(msgspec.Struct, frozen=True):
    """A piece of a call; `extra` is what the vendor wants back with the call."""

    index: int | None
    id: str
    name: str
    args: str
    extra: dict[str, object] | None = None


class _Call:
    def __init__(self, index: int | None, call_id: str) -> None:
        self.index = index
        self.id = call_id
        self.name = ""
        self.held = ""
        self.part: int | None = None
        self.extra: dict[str, object] = {}


class Calls:
    """Tells the answer of each call as soon as its name is known."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._calls: list[_Call] = []

    def take(self, fragment: Fragment) -> None:
        call = self._known(fragment)
        if call is None:
            call = _Call(fragment.index, fragment.id)
            self._calls.append(call)
        call.id = call.id or fragment.id
        call.name = call.name or fragment.name
        call.extra.update(fragment.extra or {})
        if call.part is not None:
            self._answer.grow(call.part, fragment.args)
            return
        call.held += fragment.args
        if call.name:
            self._begin(call)

    def end(self) -> None:
        """Close every call."""
        for call in self._calls:
            part = self._begin(call) if call.part is None else call.part
            opaque = msgspec.json.encode({"extra_content": call.extra}).decode() if call.extra else ""
            self._answer.end(part, opaque)

    def _known(self, fragment: Fragment) -> _Call | None:
        """The call that a fragment continues, if any."""
        if fragment.index is not None:
            same = [call for call in self._calls if call.index == fragment.index]
        else:
            same = [call for call in self._calls if fragment.id and call.id == fragment.id] or self._calls
        return None if not same or self._is_another(fragment, same[-1]) else same[-1]

    def _is_another(self, fragment: Fragment, call: _Call) -> bool:
        """A fragment with a name begins a call, unless it only repeats the name of an unfinished one."""
        if not fragment.name or not call.name or (fragment.id and fragment.id == call.id):
            return False
        if fragment.id and call.id:
            return True
        return fragment.name != call.name or (bool(fragment.args) and self._is_whole(call))

    def _is_whole(self, call: _Call) -> bool:
        return call.part is not None and is_object(self._answer.text(call.part))

    def _begin(self, call: _Call) -> int:
        call.part = self._answer.begin("call", call.id, call.name)
        self._answer.grow(call.part, call.held)
        return call.part
