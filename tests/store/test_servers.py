"""A server of the tests that crashes by itself is there again."""

import signal

import pytest

from servers import new_mariadb


@pytest.mark.mariadb
def test_a_server_that_ends_in_a_fault_of_its_own_is_started_again():
    server = new_mariadb()
    server.keep_running()
    try:
        crashed = server._process
        crashed.send_signal(signal.SIGSEGV)
        crashed.wait(120)
        while server._process is crashed or not server._ready():
            pass
        assert server.prepared_url()  # its tables are made
    finally:
        server.stop()
