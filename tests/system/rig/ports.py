#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ports.py COUNT: prints so many ports of this machine, drawn as rig/port.h says, and keeps them for
the test that runs it until that one ends."""
import os
import random
import socket
import sys
import time


def draw():
    """A port, and the sockets that keep it from other tests."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        end = int(file.read().split()[0])
    while True:
        port = random.randrange(10000, end if 11000 < end < 20000 else 20000)
        claim, probe = socket.socket(socket.AF_UNIX), socket.socket()
        try:
            claim.bind(f"\0mcast-port-{port}".encode().ljust(108, b"\0"))
            probe.bind(("127.0.0.1", port))
            return port, claim
        except OSError:
            claim.close()
        finally:
            probe.close()


TEST = os.getppid()
DRAWN = [draw() for _ in range(int(sys.argv[1]))]
print(*(port for port, _ in DRAWN), flush=True)
while os.getppid() == TEST:
    time.sleep(1)
