"""Test environment: tests reach loopback only, see no settings of a person, and start in an empty folder."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

import network


@pytest.fixture
def noted():
    """Return the attempts of this test, forgiven at its end since they are its subject."""
    yield network.attempts
    network.attempts.clear()


def test_a_connection_to_another_machine_is_refused_and_noted(noted):
    with socket.socket() as outward, pytest.raises(network.NetworkReached):
        outward.connect(("192.0.2.1", 80))
    assert noted == ["socket.connect '192.0.2.1'"]


def test_a_name_is_not_even_looked_up(noted):
    with pytest.raises(network.NetworkReached):
        socket.getaddrinfo("memoir.invalid", 443)
    assert noted == ["socket.getaddrinfo 'memoir.invalid'"]


def test_loopback_is_open():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()


def test_no_key_or_setting_of_a_person_reaches_a_test():
    kept = [name for name in os.environ if name.startswith(("MEMOIR_", "OPENAI_")) and not name.startswith("MEMOIR_TEST_")]
    assert kept == []


def test_a_test_starts_in_an_empty_folder(tmp_path: Path):
    assert Path.cwd() == tmp_path
    assert list(tmp_path.iterdir()) == []
