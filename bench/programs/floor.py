"""The shortest way to a streamed answer and to a row that is on disk, for the bare programs."""

import apsw
import httpx2
import msgspec


def connect() -> httpx2.AsyncClient:
    """A client without TLS, which takes 30 ms to load and which http:// does not need."""
    transport = httpx2.AsyncHTTPTransport(verify=False, trust_env=False)
    return httpx2.AsyncClient(transport=transport, trust_env=False)


async def ask(client: httpx2.AsyncClient, url: str, body: object) -> str:
    """Post a request and put the text of the streamed answer together."""
    headers = {"content-type": "application/json"}
    text = ""
    async with client.stream("POST", url, content=msgspec.json.encode(body), headers=headers) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                for choice in msgspec.json.decode(line[6:])["choices"]:
                    text += choice["delta"].get("content") or ""
    return text


def open_database(path: str) -> apsw.Connection:
    """A database whose commits survive a loss of power."""
    connection = apsw.Connection(path)
    connection.set_busy_timeout(10_000)
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    connection.execute("CREATE TABLE IF NOT EXISTS rows(n INTEGER PRIMARY KEY, body TEXT)")
    return connection


def write(connection: apsw.Connection, body: str) -> None:
    """One row, one commit."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO rows(body) VALUES (?)", (body,))
    connection.execute("COMMIT")
