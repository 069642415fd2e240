"""Channels between two hosts: network namespaces, with delay and loss in between, or without a link."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from contextlib import ExitStack, contextmanager

import pytest

MEMBER = """
import json, os, sys, time
import numpy as np
from dask_graphflow.comm.channel import PeerLost
from dask_graphflow.comm.exchange import Exchange
from dask_graphflow.comm.sockets import Listener

folder, rank, rounds, length = sys.argv[1], *map(int, sys.argv[2:])
hosts = ["10.77.0.1", "10.77.0.2"]
listener = Listener(hosts[rank], b"of this run")
with open(f"{folder}/{rank}.new", "w") as file:
    json.dump(listener.port, file)
os.rename(f"{folder}/{rank}.new", f"{folder}/{rank}.port")
while not os.path.exists(f"{folder}/{1 - rank}.port"):
    time.sleep(0.01)
ports = [json.load(open(f"{folder}/{member}.port")) for member in range(2)]
channel = listener.connect(rank, list(zip(hosts, ports)), 30)
exchange = Exchange(channel)
total, begin = 0, time.monotonic()
try:
    for at in range(rounds):
        told = exchange.all_gather(np.full(length, 2 * at + rank))
        assert [part.tolist() for part in told] == [[2 * at + r] * length for r in range(2)]
        total += exchange.all_reduce(sums=(at + rank,)).sums[0]
        if not at:
            open(f"{folder}/{rank}.began", "w").close()
    channel.close()
    print(json.dumps(total))
except PeerLost:
    channel.abort(PeerLost(1 - rank))
    print(json.dumps("lost"))
"""


# A link: what one namespace sends by its device comes to the other, later or not at all.
LINK = """
import ctypes, fcntl, heapq, os, random, select, struct, sys, time

delay, loss = map(float, sys.argv[3:])
devices = []
for name in sys.argv[1:3]:
    with open(f"/var/run/netns/{name}") as namespace:
        assert ctypes.CDLL(None).setns(namespace.fileno(), 0x40000000) == 0  # CLONE_NEWNET
    devices.append(os.open("/dev/net/tun", os.O_RDWR))
    # TUNSETIFF: IFF_TUN, IFF_NO_PI
    fcntl.ioctl(devices[-1], 0x400454CA, struct.pack("16sH", b"tun0", 0x0001 | 0x1000))
print("up", flush=True)
rng, waiting, count = random.Random(0), [], 0
while True:
    left = max(0, waiting[0][0] - time.monotonic()) if waiting else None
    for device in select.select(devices, [], [], left)[0]:
        packet = os.read(device, 65536)
        if rng.random() >= loss:
            count += 1
            due = time.monotonic() + delay * (0.5 + rng.random())  # some overtake others
            heapq.heappush(waiting, (due, count, devices[device == devices[0]], packet))
    while waiting and waiting[0][0] <= time.monotonic():
        _, _, to, packet = heapq.heappop(waiting)
        try:
            os.write(to, packet)
        except OSError:
            pass  # that end is down
"""


def command(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True)


@contextmanager
def two_hosts(delay=0.0, loss=0.0):
    """Give two network namespaces, and a link that delays packets, and loses some."""
    if os.geteuid() or not shutil.which("ip") or not os.path.exists("/dev/net/tun"):
        pytest.skip("network namespaces take root, iproute2 and tun devices")
    names = [f"gf{uuid.uuid4().hex[:8]}" for _ in range(2)]
    with ExitStack() as stack:
        try:
            for name in names:
                command("ip", "netns", "add", name)
                stack.callback(command, "ip", "netns", "del", name)
                command("ip", "-n", name, "tuntap", "add", "dev", "tun0", "mode", "tun")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network namespaces here: {error.stderr.strip()}")
        link = [sys.executable, "-c", LINK, *names, str(delay), str(loss)]
        between = stack.enter_context(subprocess.Popen(link, stdout=subprocess.PIPE, text=True))
        stack.callback(between.kill)
        assert between.stdout.readline() == "up\n"
        for at, name in enumerate(names):
            addresses = f"10.77.0.{at + 1}", "peer", f"10.77.0.{2 - at}"
            command("ip", "-n", name, "addr", "add", *addresses, "dev", "tun0")
            command("ip", "-n", name, "link", "set", "tun0", "up")
        yield names


def started(names, folder, rounds, length):
    return [
        subprocess.Popen(
            ["ip", "netns", "exec", name, sys.executable, "-c", MEMBER]
            + [str(one) for one in (folder, rank, rounds, length)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, name in enumerate(names)
    ]


def ended(members, timeout):
    found = []
    for member in members:
        out, err = member.communicate(timeout=timeout)
        assert member.returncode == 0, err
        found.append(json.loads(out))
    return found


@pytest.mark.parametrize(
    ("delay", "loss", "rounds", "length"),
    [(0.01, 0.0, 20, 10), (0.0005, 0.03, 10, 50_000)],
    ids=["delay", "loss, out of order"],
)
def test_rounds_over_a_bad_network_bring_the_same(tmp_path, delay, loss, rounds, length):
    with two_hosts(delay, loss) as names:
        begin = time.monotonic()
        members = started(names, tmp_path, rounds, length)
        assert ended(members, 120) == [sum(2 * at + 1 for at in range(rounds))] * 2
        assert time.monotonic() - begin > rounds * delay / 2  # the link is what they talk by


@pytest.mark.slow
def test_a_link_that_goes_away_ends_both_within_half_a_minute(tmp_path):
    with two_hosts() as names:
        members = started(names, tmp_path, 10**9, 10)
        while not all((tmp_path / f"{rank}.began").exists() for rank in range(2)):
            assert all(member.poll() is None for member in members)
            time.sleep(0.01)
        command("ip", "-n", names[0], "link", "set", "tun0", "down")
        begin = time.monotonic()
        assert ended(members, 60) == ["lost", "lost"]
        assert time.monotonic() - begin < 35
