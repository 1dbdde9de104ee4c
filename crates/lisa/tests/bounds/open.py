"""Opens MPTCP connections to itself, prints their number, and keeps them until its input ends.

open.py ALGORITHM ADDRESS NUMBER
"""

import socket
import sys

name, address, number = sys.argv[1].encode(), sys.argv[2], int(sys.argv[3])


def opened():
    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
    one.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)  # creates the subflow
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name)
    return one


listener = opened()
listener.bind((address, 7000))
listener.listen(64)
kept = []
for _ in range(number):
    client = opened()
    client.connect((address, 7000))
    kept += [client, listener.accept()[0]]
for client, server in zip(kept[::200], kept[1::200], strict=True):
    client.sendall(b"unharmed")
    assert server.recv(8) == b"unharmed"
print(len(kept) // 2, flush=True)
sys.stdin.read()
