"""What the conformance suite starts as its client: hands the scenario to the test that waits, and ends when that is done.

The test has the client loaded already; loading it once more for each of fifty scenarios would take a minute.
"""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as line:
    line.connect(sys.argv[1])
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    task = {"url": sys.argv[2], "scenario": os.environ["MCP_CONFORMANCE_SCENARIO"], "context": context}
    line.sendall(json.dumps(task).encode() + b"\n")
    line.recv(1)
