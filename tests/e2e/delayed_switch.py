"""A switch between two hosts in user space: each packet comes late, and some do not come. Ends with its standard input.
usage: delayed_switch.py PID0 PID1 DEVICE SECONDS LOSS"""
import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
LIBC = ctypes.CDLL(None, use_errno=True)


def tap(pid, name):
    """A device in the network namespace of a process; this end has its packets."""
    own, other = os.open("/proc/self/ns/net", os.O_RDONLY), os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    assert LIBC.setns(other, 0) == 0, os.strerror(ctypes.get_errno())
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    assert LIBC.setns(own, 0) == 0, os.strerror(ctypes.get_errno())
    os.close(own)
    os.close(other)
    return device


def packets(device):
    """Those that are there, at most 64."""
    for _ in range(64):
        try:
            yield os.read(device, 70000)
        except BlockingIOError:
            return


def main():
    taps = [tap(int(pid), sys.argv[3]) for pid in sys.argv[1:3]]
    delay, loss = float(sys.argv[4]), float(sys.argv[5])
    lost = random.Random(1)
    print("ready", flush=True)
    waiting, number = [], 0
    while True:
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, to, packet = heapq.heappop(waiting)
            try:
                os.write(taps[to], packet)
            except OSError:
                pass  # a card that is down or has no room drops it
        readable, _, _ = select.select([*taps, sys.stdin], [], [], max(0, waiting[0][0] - time.monotonic()) if waiting else None)
        if sys.stdin in readable:
            return
        for device in readable:
            for packet in packets(device):
                number += 1
                if lost.random() >= loss:
                    heapq.heappush(waiting, (time.monotonic() + delay, number, 1 - taps.index(device), packet))


main()
