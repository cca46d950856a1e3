"""Where descriptions are looked for, and which are believed."""

import pytest

from hermes.mcp.oauth.challenge import Challenge
from hermes.mcp.oauth.discovery import canonical, covers, metadata_urls, resource_urls, same_issuer


def test_a_server_is_asked_first_where_it_says_then_at_its_path_then_at_the_root() -> None:
    well_known = "https://h/.well-known/oauth-protected-resource"
    assert list(resource_urls("https://h/a/mcp", Challenge(metadata="https://h/me"))) == [
        "https://h/me",
        f"{well_known}/a/mcp",
        well_known,
    ]
    assert list(resource_urls("https://h/", Challenge())) == [well_known]


def test_an_issuer_with_a_path_is_asked_at_three_places_and_one_without_at_two() -> None:
    assert list(metadata_urls("https://h/tenant/")) == [
        "https://h/.well-known/oauth-authorization-server/tenant",
        "https://h/.well-known/openid-configuration/tenant",
        "https://h/tenant/.well-known/openid-configuration",
    ]
    assert list(metadata_urls("https://h/")) == [
        "https://h/.well-known/oauth-authorization-server",
        "https://h/.well-known/openid-configuration",
    ]


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ("https://host/api/mcp", True),
        ("https://HOST:443/api/mcp/", True),
        ("https://host/api", True),
        ("https://host", True),
        ("https://host/ap", False),
        ("https://host/api/mcp/more", False),
        ("http://host/api/mcp", False),
        ("https://host:444/api/mcp", False),
        ("https://host.evil/api/mcp", False),
        ("https://host:port/api/mcp", False),
        ("", False),
    ],
)
def test_a_resource_must_be_the_server_or_a_folder_above_it(resource: str, expected: bool) -> None:
    assert covers(resource, "https://host/api/mcp") is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("https://h", "https://h/", True),
        ("https://h/a", "https://h/a", True),
        ("https://h/a", "https://h/a/", False),
        ("https://h", "https://H", False),
        ("https://h", "https://h.evil", False),
    ],
)
def test_issuers_are_compared_letter_by_letter(one: str, other: str, expected: bool) -> None:
    assert (same_issuer(one, other), same_issuer(other, one)) == (expected, expected)


def test_a_resource_indicator_has_no_fragment_and_small_letters_in_its_host() -> None:
    assert canonical("HTTPS://Host/Path?q=A#part") == "https://host/Path?q=A"
