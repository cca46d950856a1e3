"""What a line of a server's output says, and whose answer it was if it cannot be used.

A call must not wait until its deadline for an answer that came and was dropped. Where the raw text shows beyond doubt
that it answers a request, the request gets an error in its place; `data.fault` says that it is ours.
"""

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from hermes.mcp.lines import EDGE, Overlong

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage, RequestId

_VERSION = rb'"jsonrpc"\s*:\s*"2\.0"'
_ID = rb'"id"\s*:\s*(-?\d+|"[^"\\]*")'
_OUTCOME = rb'"(?:result|error)"\s*:'
# Only what stands next to the outermost bracket is certain to be the message's own: servers put the id in front of the
# result (Python) or at the very end (TypeScript).
_ID_FIRST = re.compile(rb"\s*\{\s*(?:%b\s*,\s*)?%b\s*,\s*(?:%b\s*,\s*)?%b" % (_VERSION, _ID, _VERSION, _OUTCOME))
_OUTCOME_FIRST = re.compile(rb"\s*\{\s*(?:%b\s*,\s*)?%b" % (_VERSION, _OUTCOME))
_ID_LAST = re.compile(rb",\s*%b\s*(?:,\s*%b\s*)?\}\s*\Z" % (_ID, _VERSION))


def parse(line: bytes) -> "JSONRPCMessage":
    """The message in a line; ValueError if there is none. Bytes that are no UTF-8 are replaced, as a terminal would."""
    from mcp_types import jsonrpc_message_adapter

    if b'"jsonrpc"' not in line:  # looking for it costs a hundredth of what a failed validation does
        raise ValueError("no JSON-RPC")
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        text = line.decode(errors="replace")
        if text.encode() == line:
            raise
        return jsonrpc_message_adapter.validate_json(text, by_name=False)


def answered(line: bytes | Overlong) -> "RequestId | None":
    """The request that this line certainly answers."""
    head, tail = (line.head, line.tail) if isinstance(line, Overlong) else (line[:EDGE], line[-EDGE:])
    found = _ID_FIRST.match(head) or (_ID_LAST.search(tail) if _OUTCOME_FIRST.match(head) else None)
    return msgspec.json.decode(found[1], type=int | str) if found else None


def failure(request: "RequestId", text: str, fault: Literal["oversize", "garbage"]) -> "JSONRPCMessage":
    """An answer that says why there is none."""
    from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError

    error = ErrorData(code=INTERNAL_ERROR, message=text, data={"fault": fault})
    return JSONRPCError(jsonrpc="2.0", id=request, error=error)
