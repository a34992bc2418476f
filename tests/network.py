"""The network guard: tests reach loopback and nothing else.

Invariant: every attempt elsewhere is refused where it is made, and noted, so that a test fails even if a library
swallows the refusal. An audit hook sees what patched functions would miss, and cannot be taken off again.
"""

from __future__ import annotations

import ipaddress
import socket
import sys
from typing import Any

LOOKUPS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo")
SENDS = ("socket.connect", "socket.sendto")
LOCAL_NAMES = {"", "localhost", "ip6-localhost", "testserver", socket.gethostname().lower()}

attempts: list[str] = []


class NetworkReached(OSError):
    """Attempt of a test to leave the machine."""


def guard() -> None:
    sys.addaudithook(_refuse)


def is_local(host: Any) -> bool:
    """Accept loopback, wildcard addresses and our own name; None and "" mean this machine."""
    if host is None:
        return True
    name = host.decode() if isinstance(host, bytes) else str(host)
    if name.lower() in LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(name.split("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in LOOKUPS:
        target = arguments[0]
    elif event in SENDS:
        target = arguments[1]
    else:
        return
    host = target[0] if isinstance(target, tuple) else target
    if event in SENDS and not isinstance(target, tuple):
        return  # a Unix socket's path
    if not is_local(host):
        attempts.append(f"{event} {host!r}")
        raise NetworkReached(f"tests reach loopback only; this one tried {event} {host!r}")
