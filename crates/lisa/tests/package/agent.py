"""Runs commands for the test, in the guest: a line of JSON for each command from the host, and one for each answer."""

import json
import os
import subprocess
from pathlib import Path

port = os.open("/dev/vport0p1", os.O_RDWR)


def send(message):
    line = json.dumps(message).encode() + b"\n"
    while line:
        line = line[os.write(port, line) :]


def lines():
    pending = b""
    while data := os.read(port, 65536):
        *complete, pending = (pending + data).split(b"\n")
        yield from complete


send({"boot": Path("/proc/sys/kernel/random/boot_id").read_text().strip()})
for line in lines():
    done = subprocess.run(
        ["/bin/bash", "-c", json.loads(line)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    send({"status": done.returncode, "output": done.stdout.decode(errors="replace")})
