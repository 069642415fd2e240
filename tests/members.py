"""Members of a gang as threads of this process, over each kind of channel."""

from __future__ import annotations

import functools
import socket
import ssl
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from dask_graphflow.comm.channel import in_process
from dask_graphflow.comm.sockets import Listener

KINDS = ["in-process", "sockets", "tls", "mixed"]
SIZES = [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(3, marks=pytest.mark.slow), 5]
SECRET = b"of this run"


def certified(folder):
    """Return the files of a key and a certificate, made in a folder."""
    key, certificate = f"{folder}/key.pem", f"{folder}/certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=gang", "-keyout", key, "-out", certificate]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl makes the certificates, and is not there")
    return key, certificate


@functools.cache
def contexts():
    """Return TLS contexts for accepting and for connecting, which check each other's certificates."""
    made = []
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = certified(folder)
        for purpose in (ssl.Purpose.CLIENT_AUTH, ssl.Purpose.SERVER_AUTH):
            context = ssl.create_default_context(purpose, cafile=certificate)
            context.load_cert_chain(certificate, key)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_REQUIRED
            made.append(context)
    return tuple(made)


@contextmanager
def connecting(kind):
    """Return a function that returns the channels of a gang with a given number of members."""
    made = []

    def connect(size):
        tls = contexts() if kind == "tls" else None
        here = (0, size - 1) if kind == "mixed" else ()
        made.extend(in_process(size) if kind == "in-process" else by_sockets(size, tls, here=here))
        return made[-size:]

    try:
        yield connect
    finally:
        for channel in made:
            channel.abort(ConnectionError("the test is over"))
            channel.close()


def by_sockets(size, tls=None, secrets=None, timeout=20, here=()):
    """Return the channels of a gang on sockets, or raise the error of the first member that fails.

    The members `here` behave as if they were the only ones that share a process.
    """
    listeners = [
        Listener("127.0.0.1", (secrets or {}).get(rank, SECRET), tls) for rank in range(size)
    ]
    addresses = [("127.0.0.1", listener.port) for listener in listeners]

    def connect(rank):
        return listeners[rank].connect(rank, addresses, timeout, here if rank in here else ())

    return each(connect, range(size))


def eventually(condition, seconds=20.0):
    stop = time.monotonic() + seconds
    while time.monotonic() < stop:
        if condition():
            return True
        time.sleep(0.02)
    return False


def reached(port):
    """Connect to a port as soon as it is open."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=10)
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.001)


def each(work, members):
    """Call `work` for all members at once; return its results, or raise the first error."""
    members = list(members)
    with ThreadPoolExecutor(len(members)) as pool:
        running = [pool.submit(work, member) for member in members]
        return [member.result(60) for member in running]
