"""URLs that may be fetched, and the ways in which others try to look like them."""

import ipaddress
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.protocol.actions import Verdict
from hermes.safety.addresses import why_not_address
from hermes.safety.secrets.redact import Redactor
from hermes.safety.urls import BadURL, URLPolicy, judge_url, parse

CORPUS = [json.loads(line) for line in (Path(__file__).parent / "corpora" / "urls.jsonl").read_text().splitlines()]
PUBLIC = {"a.example.com": [["93.184.216.34"]]}


def test_the_corpus_is_judged_without_a_mistake():
    wrong = [
        row
        for row in CORPUS
        if judge_url(row["url"], row.get("resolve"), row.get("redirects", ())).decision != row["expect"]
    ]
    assert wrong == []
    assert len(CORPUS) >= 160
    assert sum(row["expect"] == "allow" for row in CORPUS) >= 60


def test_own_networks_can_be_allowed_but_not_the_clouds_credentials():
    policy = URLPolicy(allow_private=True)
    urls = {
        url: judge_url(url, {}, (), policy).decision
        for url in (
            "http://127.0.0.1:8080/",
            "http://localhost:3000/",
            "http://nas/",
            "http://192.168.1.2/",
            "http://[fd00::1]/",
            "http://169.254.169.254/",
            "http://metadata.google.internal/",
            "http://100.100.100.200/",
            "http://[fd00:ec2::254]/",
            "http://2130706433/",
            "http://224.0.0.1/",
            "file:///etc/passwd",
        )
    }
    assert list(urls.values()) == ["allow"] * 5 + ["block"] * 7


def test_a_domain_on_the_blocklist_takes_its_subdomains_along():
    policy = URLPolicy(blocked=("bad.example", "*.worse.example", " Worst.Example. "))
    decisions = [
        judge_url(f"https://{host}/", {}, (), policy).rule
        for host in (
            "bad.example",
            "a.bad.example",
            "notbad.example",
            "x.worse.example",
            "worst.example",
            "BAD.example.",
        )
    ]
    assert decisions == ["blocklist", "blocklist", "public-url", "blocklist", "blocklist", "blocklist"]


@pytest.mark.parametrize("place", ["?q={}", "{}", "a/{}/b", "#{}", "?q=x%20{}"])
def test_a_url_does_not_carry_secrets_away(place: str):
    token = "gh" + "p_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    policy = URLPolicy(redactor=Redactor(["Tr0ub4dor/&3"]))
    for secret in (token, "Tr0ub4dor/&3", "Tr0ub4dor%2F%263", "VHIwdWI0ZG9yLyYz", b"Tr0ub4dor/&3".hex()):
        url = "https://a.example.com/" + place.format(secret)
        assert judge_url(url, PUBLIC, (), policy) == Verdict(
            "block", "secret-in-url", "the URL would carry a secret away"
        )


def test_a_signed_link_is_no_secret():
    key = "AK" + "IAZ7QK3M9XP2LV5T8R"
    url = f"https://a.example.com/file?X-Amz-Credential={key}%2F20240101%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Expires=900"
    assert judge_url(url, PUBLIC).decision == "allow"


def test_a_host_without_look_ups_is_judged_by_its_name():
    assert judge_url("https://a.example.com/") == Verdict("allow", "public-url")
    assert judge_url("https://printer.local/").rule == "private-name"


@given(st.text(max_size=60))
def test_no_text_raises(text: str):
    for url in (text, "http://" + text, "http://example.com" + text, "http://a@" + text + "/"):
        assert judge_url(url, {}, [text]).decision in ("allow", "block")


@given(st.ip_addresses())
def test_every_spelling_of_an_address_gets_the_same_verdict(address: ipaddress.IPv4Address | ipaddress.IPv6Address):
    private = bool(why_not_address(address))
    host = f"[{address.exploded}]" if address.version == 6 else str(address)
    assert (judge_url(f"http://{host}/").decision == "block") == private
    assert (judge_url("http://a.example.com/", {"a.example.com": [[str(address)]]}).decision == "block") == private
    # Whatever the standard library does not call global is refused; a few more networks are.
    if not address.is_global or address.is_multicast:
        assert private or address in ipaddress.ip_network("192.88.99.0/24" if address.version == 4 else "2001::/23")


@given(st.integers(0, 2**32 - 1), st.sampled_from(["{}", "0x{:x}", "0{:o}"]))
def test_one_number_is_never_a_host(number: int, spelling: str):
    with pytest.raises(BadURL):
        parse(f"http://{spelling.format(number)}/")


@given(
    st.sampled_from(["127.0.0.1", "10.0.0.1", "localhost", "169.254.169.254", "metadata.google.internal"]), st.data()
)
def test_full_width_letters_hide_nothing(host: str, data: st.DataObject):
    wide = "".join(chr(ord(char) + 0xFEE0) if data.draw(st.booleans()) else char for char in host)
    assert judge_url(f"http://{wide}/").decision == "block"
