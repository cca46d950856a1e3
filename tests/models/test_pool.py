"""The connections of the process: TLS that is checked and made late, proxies that were handed in, IPv4 on demand."""

import asyncio
import datetime
import ipaddress
import ssl
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from hermes.models.endpoint import Endpoint
from hermes.models.pool import Pool
from hermes.protocol.errors import Disconnected, UserError
from hermes.protocol.models import Finished
from tests.models.histories import request, said
from tests.services.model_server import ModelServer
from tests.services.script import Reply


async def ask(url: str, pool: Pool) -> None:
    """One call, which must be answered."""
    model = Endpoint(name="t:m", model="m", dialect="chat", url=url, pool=pool, window=1)
    deltas = [delta async for delta in model.stream(request(said(0, "hi")))]
    assert isinstance(deltas[-1], Finished)


@asynccontextmanager
async def relay(
    target: str, tls: ssl.SSLContext | None = None, *, host: str = "127.0.0.1"
) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Passes connections on to a server; as a proxy it is asked for absolute URLs, whose host it ignores."""
    name, _, port = target.removeprefix("http://").partition(":")
    asked: list[bytes] = []
    busy: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(pass_on(reader, writer))
        busy.add(task)
        task.add_done_callback(busy.discard)

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(name, int(port))
        try:
            line = await reader.readuntil(b"\r\n")
            asked.append(line)
            method, url, version = line.split(b" ")
            path = b"/" + url.split(b"/", 3)[3] if url.startswith(b"http") else url
            back.write(b" ".join([method, path, version]))
            await asyncio.gather(pump(reader, back), pump(there, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            return  # The client hung up.
        finally:
            back.close()
            writer.close()

    server = await asyncio.start_server(serve, host, 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1], asked
    finally:
        server.close()
        for task in busy:
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)
        await server.wait_closed()


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


def certificate(folder: Path) -> Path:
    """A key and a certificate for 127.0.0.1 that nobody but its owner has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a test")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "server.pem"
    path.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
    return path


async def test_a_certificate_is_checked(tmp_path: Path):
    path = certificate(tmp_path)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(path)
    async with ModelServer([Reply("ok")]) as server, relay(server.url, tls) as (port, asked):
        async with Pool() as pool:
            with pytest.raises(Disconnected, match="CERTIFICATE_VERIFY_FAILED"):
                await ask(f"https://127.0.0.1:{port}/v1", pool)
        assert asked == []
        async with Pool(ca_file=str(path)) as pool:
            await ask(f"https://127.0.0.1:{port}/v1", pool)
        assert asked == [b"POST /v1/chat/completions HTTP/1.1\r\n"]


LOADED = """
import asyncio, gc, ssl, sys
import hermes.models.endpoint, hermes.models.dialects.chat
from hermes.models.pool import Pool

def trusting():
    return [c for c in gc.get_objects() if isinstance(c, ssl.SSLContext) and c.verify_mode != ssl.CERT_NONE]

pool = Pool()
assert not {"h11", "httpx2", "email", "http", "urllib.request"} & set(sys.modules)
pool.way("http://127.0.0.1:1/v1")
plain = len(trusting())
pool.way("https://a.example/v1")
assert not {"httpx2", "email", "urllib.request"} & set(sys.modules)
print(plain, len(trusting()))
"""


async def test_nothing_costly_is_loaded_early_and_no_certificates_for_plain_http():
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", LOADED, stdout=asyncio.subprocess.PIPE)
    output, _ = await child.communicate()
    assert output.split() == [b"0", b"1"]


@pytest.mark.parametrize(
    "variables,url,by_proxy",
    [
        ({"HTTP_PROXY": "PROXY"}, "http://model.test/v1", True),
        ({"http_proxy": "PROXY"}, "http://model.test:81/v1", True),
        ({"ALL_PROXY": "PROXY"}, "http://model.test/v1", True),
        ({"HTTPS_PROXY": "PROXY"}, "SERVER", False),
        ({"HTTP_PROXY": "PROXY"}, "SERVER", False),
        ({"HTTP_PROXY": ""}, "SERVER", False),
        ({"HTTP_PROXY": "PROXY", "NO_PROXY": "other.test"}, "http://model.test/v1", True),
        ({"HTTP_PROXY": "PROXY", "NO_PROXY": "el.test"}, "http://model.test/v1", True),
    ],
)
async def test_a_proxy_that_was_handed_in_is_used(variables: Mapping[str, str], url: str, by_proxy: bool):
    async with ModelServer([Reply("ok")]) as server, relay(server.url) as (port, asked):
        proxies = {name: value.replace("PROXY", f"http://127.0.0.1:{port}") for name, value in variables.items()}
        async with Pool(proxies=proxies) as pool:
            await ask(url.replace("SERVER", server.base_url), pool)
        assert len(asked) == by_proxy
        assert len(server.requests) == 1


@pytest.mark.parametrize("exempt", ["model.invalid", ".invalid", "x, invalid", "*", "model.invalid:80"])
async def test_what_no_proxy_names_is_dialled_directly(exempt: str):
    async with ModelServer() as server, relay(server.url) as (port, asked):
        proxies = {"HTTP_PROXY": f"http://127.0.0.1:{port}", "NO_PROXY": exempt}
        async with Pool(proxies=proxies) as pool:
            with pytest.raises(Disconnected, match=r"cannot reach model\.invalid"):
                await ask("http://model.invalid:80/v1", pool)
        assert asked == []


async def test_the_environment_is_not_looked_at(monkeypatch: pytest.MonkeyPatch):
    async with ModelServer([Reply("ok")]) as server, relay(server.url) as (port, asked):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        async with Pool() as pool:
            with pytest.raises(Disconnected, match=r"cannot reach model\.invalid"):
                await ask("http://model.invalid:80/v1", pool)
        assert asked == []


async def test_ipv4_can_be_forced():
    """Of two ways to one server, of which a pool without a preference takes either."""
    async with ModelServer([Reply("ok")] * 3) as server, relay(server.url, host="::1") as (port, _):
        other = f"http://[::1]:{port}/v1"
        async with Pool() as pool:
            await ask(other, pool)
        async with Pool(force_ipv4=True) as pool:
            await ask(server.base_url.replace("127.0.0.1", "localhost"), pool)
            with pytest.raises(Disconnected):
                await ask(other, pool)
        assert len(server.requests) == 2


async def test_calls_of_all_models_share_connections_and_a_closed_pool_has_none():
    async with ModelServer([Reply("ok")] * 3) as server:
        async with Pool() as pool:
            await ask(server.base_url, pool)
            await ask(server.base_url, pool)
            assert server.connections == 1
        async with asyncio.timeout(1):
            while server.open_connections:
                await asyncio.sleep(0.005)


@pytest.mark.parametrize("proxy", ["carrier-pigeon://x", "socks5://127.0.0.1:9", "http://[::1"])
async def test_a_proxy_that_cannot_be_used_is_named(proxy: str):
    async with Pool(proxies={"ALL_PROXY": proxy}) as pool:
        with pytest.raises(UserError) as caught:
            pool.way("http://model.test/v1")
    assert (str(caught.value), caught.value.hint) == (
        f"the proxy {proxy} cannot be used",
        "set it as http://HOST:PORT",
    )


async def test_certificates_that_are_not_there_are_named(tmp_path: Path):
    async with Pool(ca_file=str(tmp_path / "none.pem")) as pool:
        with pytest.raises(UserError, match=r"none\.pem cannot be read"):
            pool.way("https://model.test/v1")
