"""A page of the web is a source where the settings allow its host, and nothing else is ever connected to."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memoir_engine import FetchedPage, FileTooLarge, MemoirError, Memory
from memoir_engine.web import fetch as web
from web_site import Site, serving

LEASE = "<!doctype html><title>Lease</title><p>The lease of the office may be ended with three months' notice.</p>"


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as made:
        yield made


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Memory]]:
    made: list[Memory] = []

    def open_one(*hosts: str, **settings: Any) -> Memory:
        made.append(Memory(data_dir=tmp_path / f"kept-{len(made)}", model="offline", web_hosts=hosts, **settings))
        return made[-1]

    yield open_one
    for memory in made:
        memory.close()


def test_a_page_is_filed_with_its_address_and_again_as_a_newer_version(opened: Callable[..., Memory], site: Site):
    memory = opened(site.host)
    address = site.put("/papers/lease", LEASE)
    first = memory.ingest_url(f"{address}#notice", metadata={"asked_by": "Ana"}).raise_for_error()
    source = memory.sources.get(first.source_id)
    assert (source.name, source.kind, source.title) == (f"{site.host}/papers/lease.html", "html", "Lease")
    assert source.metadata["address"] == address
    assert source.metadata["asked_by"] == "Ana"
    assert source.metadata["fetched_at"].endswith("+00:00")
    assert memory.ingest_url(address).source_id == first.source_id
    site.put("/papers/lease", LEASE.replace("three", "two"))
    again = memory.ingest_url(address).raise_for_error()
    assert [(one.version, one.status) for one in memory.sources.versions(again.source_id)] == [(2, "filed"), (1, "replaced")]


def test_a_redirect_is_followed_and_where_it_led_is_kept(opened: Callable[..., Memory], site: Site):
    there = site.put("/there.txt", "The lease ends in May.", Content_Type="text/plain")
    page = opened(site.host).fetch_url(site.put("/here", status=302, Location="/there.txt"))
    assert isinstance(page, FetchedPage)
    assert (page.data, page.metadata["led_to"]) == (b"The lease ends in May.", there)


def refusal(address: str, *hosts: str) -> MemoirError:
    with pytest.raises(MemoirError) as caught:
        asyncio.run(web.fetch(address, hosts, max_mb=1))
    return caught.value


@pytest.mark.parametrize("hosts", [(), ("*",), ("example.org",), ("127.0.0.1",)], ids=["none", "public", "another", "no port"])
def test_nothing_on_this_machine_is_asked_unless_it_is_named_with_its_port(site: Site, hosts: tuple[str, ...]):
    assert refusal(site.put("/", LEASE), *hosts).code == "E525"
    assert site.seen == []


def test_a_name_that_turns_out_to_be_this_machine_is_not_connected_to(site: Site, monkeypatch: pytest.MonkeyPatch):
    port = site.server.server_address[1]
    monkeypatch.setitem(web.PORTS, "http", port)  # so that the rule of usual ports does not refuse it first
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *asked, **how: found)
    site.put("/", LEASE)
    refused = refusal(f"http://rebound.example:{port}/", "*")
    assert (refused.code, "127.0.0.1" in str(refused), site.seen) == ("E525", True, [])


@pytest.mark.parametrize("to", ["http://127.0.0.1:1/", "http://10.0.0.1/", "file:///etc/passwd", "//169.254.169.254/latest"])
def test_a_redirect_leads_nowhere_that_an_address_could_not(site: Site, to: str):
    assert refusal(site.put("/", status=302, Location=to), site.host, "*").code == "E525"


@pytest.mark.parametrize(
    "address",
    ["ftp://example.org/a", "javascript:alert(1)", "example.org", "http://", "http://ana:secret@example.org/", "http://[::1", ""],
)
def test_what_is_no_address_of_a_page_is_refused_and_shows_no_password(address: str):
    refused = refusal(address, "*")
    assert refused.code == "E525"
    assert "secret" not in str(refused)


NUMBERS = {
    "93.184.215.14": True,
    "2606:2800:21f:cb07:6820:80da:af6b:8b2c": True,
    **dict.fromkeys(("127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.1.1", "255.255.255.255"), False),
    **dict.fromkeys(("::1", "::", "fe80::1%eth0", "fd00::1", "fec0::1", "ff0e::1", "::ffff:127.0.0.1", "::127.0.0.1"), False),
    **dict.fromkeys(("64:ff9b::7f00:1", "2002:7f00:1::", "64:ff9b::a00:1"), False),
}


@pytest.mark.parametrize("number", NUMBERS)
def test_only_addresses_of_the_open_internet_are_public(number: str):
    assert web.is_public(number) is NUMBERS[number]


def test_too_much_is_not_read_and_too_slow_not_waited_for(site: Site, monkeypatch: pytest.MonkeyPatch):
    assert isinstance(refusal(site.put("/large", b"a" * (2**20 + 1)), site.host), FileTooLarge)
    assert "404" in str(refusal(f"http://{site.host}/missing", site.host))
    assert "without end" in str(refusal(site.put("/round", status=302, Location="/round"), site.host))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(web, "FETCH_S", 0.2)
        name = f"127.0.0.1:{silent.getsockname()[1]}"
        assert "0.2 s" in str(refusal(f"http://{name}/", name))


def test_what_keeps_a_page_from_being_filed_is_in_the_result(opened: Callable[..., Memory], site: Site):
    memory = opened(site.host)
    results = (memory.ingest_url("http://10.0.0.1/"), memory.ingest_url(site.put("/tea", b"\x89PNG", Content_Type="image/png")))
    assert [(each.status, each.error and each.error.code) for each in results] == [("error", "E525"), ("error", "E527")]
    assert memory.sources.list() == ()
