#!/usr/bin/env python3
"""Requests and responses on one TCP connection, for `lasthop emulate`: prints the time of each response, s.

    lasthop emulate PATH --congestion cubic --server 'requests.py serve' -- requests.py ask {server} BYTES THINK_S COUNT

The client sends a request of 300 bytes, reads the response, waits THINK_S seconds, and repeats.
"""

import socket
import statistics
import sys
import time

PORT, REQUEST = 8080, 300


def read(connection, count):
    while count > 0:
        data = connection.recv(min(count, 1 << 16))
        if not data:
            return False
        count -= len(data)
    return True


def serve():
    with socket.create_server(("", PORT)) as listening:
        connection, _ = listening.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while read(connection, REQUEST):
            size = int.from_bytes(connection.recv(8, socket.MSG_WAITALL), "big")
            connection.sendall(bytes(size))


def ask(server, size, think, count):
    times = []
    with socket.create_connection((server, PORT)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(count):
            began = time.monotonic()
            connection.sendall(bytes(REQUEST) + size.to_bytes(8, "big"))
            read(connection, size)
            times.append(time.monotonic() - began)
            time.sleep(think)
    print(" ".join(f"{each:.3f}" for each in times))
    print(f"mean {statistics.mean(times):.4f} s, median {statistics.median(times):.4f} s")


if sys.argv[1] == "serve":
    serve()
else:
    ask(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
