"""Hosts for tests: network namespaces, each with a name of its own and a cable to a bridge in the namespace of this process. Nothing of it is seen
outside or left behind."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys

import harness


def enter_own_namespace():
    """Starts this program again where it may make devices; skips the test where that is not permitted."""
    if os.environ.get("SGD_HOSTS_INSIDE") == "1":
        return
    enter = ["unshare", "--net", "--uts", "--mount", "--user", "--map-root-user"]
    probe = subprocess.run([*enter, "ip", "link", "add", "bridge0", "type", "bridge"], capture_output=True, text=True)
    if probe.returncode != 0:
        harness.skip("namespaces", f"network namespaces and bridges are not permitted here: {probe.stderr.strip()}")
    os.environ["SGD_HOSTS_INSIDE"] = "1"
    os.execvp("unshare", [*enter, sys.executable, *sys.argv])


class Names:
    """/etc/hosts of a network: what names stand for."""

    def __init__(self, network, folder):
        self.network, self.file = network, folder / "hosts"
        self.file.write_text("127.0.0.1 localhost\n")
        for enter in network.prefixes:
            command(*enter, "mount", "--bind", self.file, "/etc/hosts")

    def add(self, name, *addresses):
        with self.file.open("a") as file:
            file.writelines(f"{address} {name}\n" for address in addresses)

    def close(self):
        for enter in self.network.prefixes:
            command(*enter, "umount", "/etc/hosts")


def command(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True)


class Network:
    """Hosts 10.98.0.1, 10.98.0.2, ..., named host0, host1, ..."""

    def __init__(self, hosts):
        command("ip", "link", "set", "lo", "up")
        command("ip", "link", "add", "bridge0", "type", "bridge")
        command("ip", "link", "set", "bridge0", "up")
        self.holders, self.prefixes = [], []
        for host in range(hosts):
            self.add(host)

    def add(self, host):
        # UCX reads the names of devices in /sys, which shows those of the namespace that has mounted it. The process that holds the namespace ends with this
        # one, whose end closes its input, and keeps no output of this one open.
        holder = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "sh", "-c", f"mount -t sysfs sysfs /sys; hostname host{host} && exec cat"],
                                  stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        harness.wait_until(lambda: os.readlink(f"/proc/{holder.pid}/exe").endswith("cat"))
        self.holders.append(holder)
        self.prefixes.append(["nsenter", "--net", "--uts", "--mount", f"--wd={os.getcwd()}", "--target", str(holder.pid)])
        self.connect(host)

    def connect(self, host):
        """The host's card, and its cable to the bridge."""
        command("ip", "link", "add", f"cable{host}", "type", "veth", "peer", "name", "eth0", "netns", str(self.holders[host].pid))
        command("ip", "link", "set", f"cable{host}", "master", "bridge0")
        command("ip", "link", "set", f"cable{host}", "up")
        command(*self.prefixes[host], "ip", "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            command(*self.prefixes[host], "ip", "link", "set", device, "up")

    def add_bridge(self, host, name="docker0", address="172.17.0.1/16"):
        """A network of containers, which has the same address on every host. It is up even without any of them."""
        for args in (["link", "add", name, "type", "bridge"], ["addr", "add", address, "dev", name], ["link", "add", f"{name}p", "type", "veth", "peer", "name", f"{name}q"],
                     ["link", "set", f"{name}p", "master", name], ["link", "set", f"{name}p", "up"], ["link", "set", f"{name}q", "up"], ["link", "set", name, "up"]):
            command(*self.prefixes[host], "ip", *args)
        shown = [*self.prefixes[host], "ip", "-json", "link", "show", "dev", name]
        harness.wait_until(lambda: json.loads(command(*shown).stdout)[0]["operstate"] == "UP")

    def read(self, host, path):
        return command(*self.prefixes[host], "cat", path).stdout

    def devices(self, host):
        """The names of network devices as programs find them in /sys."""
        return command(*self.prefixes[host], "ls", "/sys/class/net").stdout.split()

    def address(self, host):
        return f"10.98.0.{host + 1}"

    @contextlib.contextmanager
    def delayed(self, seconds, loss):
        """Replaces the cables of hosts 0 and 1 by a link on which packets take `seconds`, and this share of them is lost."""
        script = pathlib.Path(__file__).resolve().parent / "delayed_switch.py"
        for host in range(2):
            self.remove(host)
        # UCX finds devices by the names that they have in the machine's own namespace.
        args = [sys.executable, script, *(str(holder.pid) for holder in self.holders[:2]), "eth0", str(seconds), str(loss)]
        switch = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            if switch.stdout.readline() != "ready\n":
                harness.skip("tun", "devices of user space are not permitted here")
            for host in range(2):
                command(*self.prefixes[host], "ip", "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
                command(*self.prefixes[host], "ip", "link", "set", "eth0", "up")
            yield
        finally:
            switch.communicate("")  # its devices go with it
            for host in range(2):
                self.connect(host)

    def start(self, host, args, env=None, **options):
        """A process on a host."""
        return subprocess.Popen([*self.prefixes[host], *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **(env or {})}, **options)

    def start_ranks(self, layout, args, port):
        """Rank i on host layout[i], each started by itself, as Kubernetes does."""
        place = {"WORLD_SIZE": str(len(layout)), "MASTER_ADDR": self.address(layout[0]), "MASTER_PORT": str(port)}
        return [self.start(host, args, {**place, "JOB_COMPLETION_INDEX": str(rank)}) for rank, host in enumerate(layout)]

    def shape(self, host, gigabits):
        """Limits what a host sends and receives."""
        for prefix, device in ((self.prefixes[host], "eth0"), ([], f"cable{host}")):
            command(*prefix, "tc", "qdisc", "replace", "dev", device, "root", "tbf", "rate", f"{gigabits}gbit", "burst", "256kb", "latency", "50ms")

    def unshape(self, host):
        for prefix, device in ((self.prefixes[host], "eth0"), ([], f"cable{host}")):
            subprocess.run([*prefix, "tc", "qdisc", "del", "dev", device, "root"], capture_output=True)

    def sent_bytes(self, host):
        """What the kernel has counted on the host's cable."""
        text = command(*self.prefixes[host], "ip", "-json", "-stats", "link", "show", "dev", "eth0").stdout
        return json.loads(text)[0]["stats64"]["tx"]["bytes"]

    def traffic(self, host):
        """What the kernel has counted on the host's cable in both directions."""
        text = command(*self.prefixes[host], "ip", "-json", "-stats", "link", "show", "dev", "eth0").stdout
        stats = json.loads(text)[0]["stats64"]
        return stats["tx"]["bytes"] + stats["rx"]["bytes"]

    def mpirun(self, folder, ranks_per_host, hosts, args):
        """Open MPI's launcher on host 0, which starts processes on the others through a script in place of ssh."""
        agent = folder / "agent"
        cases = "".join(f"{self.address(host)}) exec {' '.join(self.prefixes[host])} sh -c \"$*\";;\n" for host in range(hosts))
        agent.write_text(f"#!/bin/sh\nhost=$1\nshift\ncase $host in\n{cases}esac\n")
        agent.chmod(0o700)
        places = ",".join(f"{self.address(host)}:{ranks_per_host}" for host in range(hosts))
        flags = ["--allow-run-as-root", "--host", places, "-np", hosts * ranks_per_host, "--bind-to", "none"]
        for name, value in (("plm_rsh_agent", agent), ("pml", "ob1"), ("btl", "tcp,self"), ("btl_tcp_if_include", "eth0"), ("oob_tcp_if_include", "eth0")):
            flags += ["--mca", name, value]
        return self.start(0, ["mpirun", *flags, *args])

    def cut(self, host):
        command("ip", "link", "set", f"cable{host}", "down")

    def mend(self, host):
        command("ip", "link", "set", f"cable{host}", "up")

    def take_down(self, host):
        """The host's card, by the host itself."""
        command(*self.prefixes[host], "ip", "link", "set", "eth0", "down")

    def remove(self, host):
        """The card and its cable, for good."""
        command(*self.prefixes[host], "ip", "link", "delete", "eth0")

    def close(self):
        for holder in self.holders:
            holder.kill()
            holder.wait()
        command("ip", "link", "delete", "bridge0")
