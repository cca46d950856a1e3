"""Which addresses and names lead to somewhere private: the machine itself, its network, its cloud."""

import ipaddress
import re

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_V4 = [
    (ipaddress.IPv4Network(network), what)
    for network, what in (
        ("0.0.0.0/8", "this machine"),
        ("10.0.0.0/8", "a private network"),
        ("100.64.0.0/10", "a carrier's network"),
        ("127.0.0.0/8", "this machine"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "a private network"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "for documentation"),
        ("192.31.196.0/24", "reserved"),
        ("192.52.193.0/24", "reserved"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "a private network"),
        ("192.175.48.0/24", "reserved"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
]
# Of IPv6 only 2000::/3 is given out to the public at all; the rest is here to be named.
_V6 = [
    (ipaddress.IPv6Network(network), what)
    for network, what in (
        ("::1/128", "this machine"),
        ("::ffff:0:0/96", "an IPv4 address in disguise"),
        ("::ffff:0:0:0/96", "an IPv4 address in disguise"),
        ("::/96", "an IPv4 address in disguise"),
        ("64:ff9b::/96", "an IPv4 address behind NAT64"),
        ("64:ff9b:1::/48", "an IPv4 address behind NAT64"),
        ("100::/64", "a sink"),
        ("2001::/32", "a Teredo tunnel"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "a 6to4 tunnel"),
        ("3ffe::/16", "reserved"),
        ("3fff::/20", "for documentation"),
        ("fc00::/7", "a private network"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
]
_PUBLIC_V6 = ipaddress.IPv6Network("2000::/3")
# Where a person's own services are, if the settings let Hermes reach them.
_OWN = frozenset({"this machine", "a private network", "a carrier's network"})

# Clouds tell a machine its credentials here. Azure's lies among public addresses, so no network above has it.
METADATA = frozenset(
    ipaddress.ip_address(address)
    for address in (
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "169.254.0.23",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
    )
)
_METADATA_NAMES = (
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "metadata.tencentyun.com",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "metadata.azure.internal",
    "metadata.azure.com",
    "metadata.cloud.ibm.com",
    "api.metadata.cloud.ibm.com",
    "metadata.nova",
    "instance-data",
    "instance-data.ec2.internal",
    "rancher-metadata",
)
_PRIVATE_SUFFIXES = [
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "home.arpa",
    "svc",
    "cluster.local",
    "consul",
    "localtest.me",
    "lvh.me",
    "vcap.me",
    "lacolhost.com",
    "yoogle.com",
]
# Names that anybody can spell so that they lead to any address: 10.0.0.1.nip.io.
_SPELLED = re.compile(
    r"(?:^|[.-])((?:\d{1,3}[.-]){3}\d{1,3}|[0-9a-f]{8}|[0-9a-f-]*--[0-9a-f-]*)\.(?:nip\.io|sslip\.io|xip\.io|traefik\.me|nip\.dev|local-ip\.(?:co|sh|medicmobile\.org))$"
)


def why_not_address(address: Address, *, allow_private: bool = False) -> str:
    """Why this address must not be dialled; empty if it may."""
    if address in METADATA:
        return f"{address} is where a cloud keeps its credentials"
    what = _kind(address)
    if not what or (allow_private and what in _OWN):
        return ""
    return f"{address} is {what}"


def why_not_name(name: str, *, allow_private: bool = False) -> str:
    """Why a host of this name must not be dialled, whatever its address is; empty if it may."""
    if name in _METADATA_NAMES:
        return f"{name} is where a cloud keeps its credentials"
    if allow_private:
        return ""
    if "." not in name:
        return f"{name} is a name of the local network"
    for suffix in _PRIVATE_SUFFIXES:
        if name == suffix or name.endswith("." + suffix):
            return f"{name} is a name of the local network"
    return ""


def spelled_address(name: str) -> Address | None:
    """The address that a name of a wildcard DNS service spells out, if it does."""
    found = _SPELLED.search(name)
    if found is None:
        return None
    text = found[1]
    try:
        if re.fullmatch(r"[0-9a-f]{8}", text):
            return ipaddress.IPv4Address(int(text, 16))
        if "--" in text:
            return ipaddress.IPv6Address(text.replace("-", ":"))
        return ipaddress.IPv4Address(text.replace("-", "."))
    except ValueError:
        return None


def _kind(address: Address) -> str:
    """What is special about an address; empty if it is one of the public internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return next((what for network, what in _V4 if address in network), "")
    for network, what in _V6:
        if address in network:
            return what
    if address not in _PUBLIC_V6:
        return "reserved"
    # ISATAP keeps an IPv4 address in its last bits, and a tunnel would unpack it.
    if (int(address) >> 32) & 0xFDFFFFFF == 0x00005EFE:
        return "an ISATAP tunnel"
    return ""
