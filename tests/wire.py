"""Two hosts, as network namespaces, and a wire between them that delays, loses, or is cut."""

from __future__ import annotations

import contextlib
import heapq
import os
import random
import select
import socket
import subprocess
import sys
import threading
import time

import pytest

LONGEST = 60
HOSTS = ["10.83.0.1", "10.83.0.2"]

# The side of a host: its own network device, whose packets the wire takes and delivers.
PLUG_IN = """
import fcntl, os, socket, struct, subprocess, sys
rank, address, line, code = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
device = os.open("/dev/net/tun", os.O_RDWR)
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"wire", IFF_TUN | IFF_NO_PI))
for command in ["link set lo up", f"addr add {address}/24 dev wire", "link set wire up"]:
    subprocess.run(["ip", *command.split()], check=True)
socket.send_fds(socket.socket(fileno=line), [b"."], [device])
exec(code)
"""


class Wire:
    """A thread that moves packets between the two hosts.

    Attributes
    ----------
    cut : bool
        Whether all packets are lost from now on.
    lost : int
        Packets so far.
    """

    def __init__(self, devices, delay, loss):
        self.cut, self.lost = False, 0
        self._devices, self._delay, self._loss = devices, delay, loss
        self._end, self._ended = os.pipe()
        self._thread = threading.Thread(target=self._carry)
        self._thread.start()

    def close(self):
        os.write(self._ended, b".")
        self._thread.join()
        for fd in (*self._devices, self._end, self._ended):
            os.close(fd)

    def _carry(self):
        chance, due, number = random.Random(3), [], 0
        while True:
            wait = max(0, due[0][0] - time.monotonic()) if due else None
            ready, _, _ = select.select([*self._devices, self._end], [], [], wait)
            if self._end in ready:
                return
            now = time.monotonic()
            for i, device in enumerate(self._devices):
                if device in ready:
                    packet = os.read(device, 1 << 16)
                    if self.cut or chance.random() < self._loss:
                        self.lost += 1
                    else:
                        number += 1
                        delay = self._delay * (0.5 + chance.random())  # some overtake others
                        heapq.heappush(due, (now + delay, number, 1 - i, packet))
            while due and due[0][0] <= now:
                _, _, to, packet = heapq.heappop(due)
                os.write(self._devices[to], packet)


@contextlib.contextmanager
def hosts(code, delay=0.0, loss=0.0):
    """Run `code`, which knows its `rank` and `address`, as a process on each of the hosts.

    Gives the processes, whose standard input and output are text, and the wire. They are killed after
    `LONGEST` seconds. Skips the test where one may not make namespaces.
    """
    command = ["unshare", "--user", "--map-root-user", "--net"]
    try:
        subprocess.run(
            [*command, "ip", "tuntap", "add", "t", "mode", "tun"], check=True, capture_output=True
        )
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no network namespaces here: {error}")
    processes, devices = [], []
    with contextlib.ExitStack() as held:
        for rank, address in enumerate(HOSTS):
            ours, theirs = socket.socketpair()
            with ours, theirs:
                process = subprocess.Popen(
                    [
                        *command,
                        sys.executable,
                        "-c",
                        PLUG_IN,
                        str(rank),
                        address,
                        str(theirs.fileno()),
                        code,
                    ],
                    text=True,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    pass_fds=[theirs.fileno()],
                )
                held.enter_context(process)
                held.callback(process.kill)
                processes.append(process)
                theirs.close()
                devices += socket.recv_fds(ours, 1, 1)[1]
        wire = Wire(devices, delay, loss)
        held.callback(wire.close)
        timer = threading.Timer(LONGEST, lambda: [process.kill() for process in processes])
        held.callback(timer.cancel)
        timer.start()
        yield processes, wire
