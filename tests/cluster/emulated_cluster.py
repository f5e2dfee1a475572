"""The emulated cluster as seen by a driver of tests."""
from __future__ import annotations

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Failed(Exception):
    """A case did not do what its entry says; the text says what was seen."""


class Cluster:
    """A cluster of this driver's own; every call is one of tests/cluster/cluster.sh."""

    def __init__(self, name):
        self.environment = dict(os.environ, DSEA_CLUSTER=name)

    def command(self, *arguments):
        return [str(HERE / "cluster.sh"), *map(str, arguments)]

    def call(self, *arguments, check=True):
        result = subprocess.run(self.command(*arguments), env=self.environment, cwd=ROOT, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if check and result.returncode != 0:
            raise Failed(f"'cluster {' '.join(map(str, arguments))}' ended with {result.returncode}: {result.stdout}")
        return result

    def start(self, output, *arguments):
        """Starts it in a process group of its own, with stdout and stderr in one file in the order of writing."""
        with open(output, "wb") as file:
            return subprocess.Popen(self.command(*arguments), env=self.environment, cwd=ROOT, stdin=subprocess.DEVNULL,
                                    stdout=file, stderr=subprocess.STDOUT, start_new_session=True)

    def sent_bytes(self):
        """Bytes that each rail of each node has sent: {("en1", "rail0"): 123, ...}."""
        lines = self.call("rails").stdout.splitlines()[1:]
        return {(node, rail): int(sent) for node, rail, sent, _ in map(str.split, lines)}

    def programs(self, nodes):
        """Names of the job's processes that live on the nodes: ["en2: heat"]."""
        found = []
        for node in range(1, nodes + 1):
            for line in self.call("exec", node, "ps", "-e", "-o", "stat=,comm=").stdout.splitlines():
                state, name = line.split(None, 1)
                if name in ("heat", "ljmd", "orted") and not state.startswith("Z"):
                    found.append(f"en{node}: {name} ({state})")
        return found
