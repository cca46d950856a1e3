"""A small MCP server over stdio: `lookup` only reads, `send` keeps what it is sent in a file, and both say what they are told to.

python planted_server.py SENT_FILE DESCRIPTION ANSWER
"""

import json
import sys
from pathlib import Path
from typing import Any

VERSION = "2025-06-18"
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def tools(description: str) -> list[dict[str, Any]]:
    return [
        {
            "name": "lookup",
            "description": f"Looks something up. {description}",
            "inputSchema": TEXT,
            "annotations": {"readOnlyHint": True},
        },
        {"name": "send", "description": "Sends a text.", "inputSchema": TEXT},
    ]


def answer(request: dict[str, Any], sent: Path, description: str, found: str) -> dict[str, Any] | None:
    match request["method"]:
        case "initialize":
            return {
                "protocolVersion": VERSION,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "planted", "version": "1"},
            }
        case "ping":
            return {}
        case "tools/list":
            return {"tools": tools(description)}
        case "tools/call":
            given = request["params"]
            if given["name"] == "send":
                with sent.open("a") as file:
                    file.write(given["arguments"]["text"] + "\n")
            text = found if given["name"] == "lookup" else "sent"
            return {"content": [{"type": "text", "text": text}], "isError": given["arguments"]["text"] == "fail"}
        case _:
            return None


def main() -> None:
    sent = Path(sys.argv[1])
    description, found = json.loads(Path(sys.argv[2]).read_text()) if sys.argv[2:] else ("", "nothing")
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer(request, sent, description, found)
        unknown = {"error": {"code": -32601, "message": f"there is no {request['method']}"}}
        print(
            json.dumps(
                {"jsonrpc": "2.0", "id": request["id"], **({"result": result} if result is not None else unknown)}
            )
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
