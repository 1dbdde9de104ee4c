"""MPTCP transfers, which last until a file appears, with a digest at either end.

    traffic.py serve ADDRESS PORT N STOP RESULT    accepts N connections, sends until the file STOP exists
    traffic.py fetch ADDRESS PORT N RESULT         opens N connections, reads to their ends

Both write a line for each connection to RESULT: its number, the bytes and their SHA-256. `fetch` prints `open` once data has
come on each.
"""

import hashlib
import os
import selectors
import socket
import sys

IPPROTO_MPTCP = 262
BLOCK = 16 * 1024


class Connection:
    def __init__(self, sock, number=None):
        self.socket = sock
        self.number = number
        self.bytes = 0
        self.digest = hashlib.sha256()
        self.pending = b""

    def add(self, data):
        self.bytes += len(data)
        self.digest.update(data)

    def line(self):
        return f"{self.number} {self.bytes} {self.digest.hexdigest()}\n"


def record(path, connections):
    with open(path + ".part", "w") as file:
        file.writelines(sorted(connection.line() for connection in connections))
    os.rename(path + ".part", path)


def serve(address, port, count, stop, result):
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("0.0.0.0", port))
    listener.listen(count)
    print("listening", flush=True)
    selector = selectors.DefaultSelector()
    connections = []
    for _ in range(count):
        sock, _ = listener.accept()
        number = int.from_bytes(sock.recv(4, socket.MSG_WAITALL), "big")
        sock.setblocking(False)
        connections.append(Connection(sock, number))
        selector.register(sock, selectors.EVENT_WRITE, connections[-1])
    open_connections = count
    while open_connections:
        stops = os.path.exists(stop)
        for key, _ in selector.select(1):
            connection = key.data
            if not connection.pending and stops:
                selector.unregister(connection.socket)
                connection.socket.close()
                open_connections -= 1
                continue
            if not connection.pending:
                connection.pending = os.urandom(BLOCK)
            try:
                sent = connection.socket.send(connection.pending)
            except BlockingIOError:
                continue
            connection.add(connection.pending[:sent])
            connection.pending = connection.pending[sent:]
    record(result, connections)


def fetch(address, port, count, result):
    selector = selectors.DefaultSelector()
    connections = []
    for number in range(count):
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
        sock.connect((address, port))
        sock.sendall(number.to_bytes(4, "big"))
        sock.setblocking(False)
        connections.append(Connection(sock, number))
        selector.register(sock, selectors.EVENT_READ, connections[-1])
    silent, open_connections = count, count
    while open_connections:
        for key, _ in selector.select():
            connection = key.data
            data = connection.socket.recv(65536)
            if not data:
                selector.unregister(connection.socket)
                connection.socket.close()
                open_connections -= 1
                continue
            if not connection.bytes:
                silent -= 1
                if not silent:
                    print("open", flush=True)
            connection.add(data)
    record(result, connections)


if __name__ == "__main__":
    command, address, port, count, *rest = sys.argv[1:]
    {"serve": serve, "fetch": fetch}[command](address, int(port), int(count), *rest)
