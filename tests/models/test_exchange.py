"""Where a URL leads, and which ones lead nowhere."""

import pytest

from hermes.models.exchange import Address, address
from hermes.protocol.errors import BadRequest


@pytest.mark.parametrize(
    ("url", "place", "authority"),
    [
        ("https://api.example/v1", Address("https", "api.example", 443, "/v1"), "api.example"),
        ("HTTP://Api.Example:80", Address("http", "api.example", 80, "/"), "api.example"),
        ("http://[::1]:8080/a b?c=d e#f", Address("http", "::1", 8080, "/a%20b?c=d%20e"), "[::1]:8080"),
        ("http://h/%41/ü?q=ü%20", Address("http", "h", 80, "/%41/%C3%BC?q=%C3%BC%20"), "h"),
        ("http://bücher.example/", Address("http", "xn--bcher-kva.example", 80, "/"), "xn--bcher-kva.example"),
        ("http://me:a%40b@h:81/", Address("http", "h", 81, "/", "me:a@b"), "h:81"),
        ("http://me@h/", Address("http", "h", 80, "/", "me:"), "h"),
    ],
)
def test_a_url_leads_to_a_host(url: str, place: Address, authority: str):
    assert address(url) == place
    assert address(url).authority == authority


@pytest.mark.parametrize(
    "url",
    [
        "",
        "x",
        "api.example/v1",
        "ftp://h/",
        "ftp://h:21/",
        "http://",
        "http:///v1",
        "http://h:x/",
        "http://h:70000/",
        "http://[::1/",
    ]
    + ["http://h/a\nb", "http://h\0/", "http://" + "ü" * 70 + "/"],
)
def test_what_is_no_web_address_is_said_to_be_none(url: str):
    with pytest.raises(BadRequest, match="is no web address: set base_url"):
        address(url)
