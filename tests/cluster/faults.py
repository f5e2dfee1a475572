#!/usr/bin/python3
"""Faults across emulated nodes: what a run does when a rank dies or stops, or a rail is cut.

Each case runs one rank on each of three nodes with two rails, waits until slices flow, does its harm to node en2, and
compares what the run does with the table in fault_cases.py. Nothing is judged by its speed: a run hangs when no slices
have moved for longer than it may take to notice. Exit codes: 0 all as expected, 1 not, 2 bad usage, 77 this machine cannot do it.
"""
from __future__ import annotations

import argparse
import fcntl
import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

from emulated_cluster import ROOT, Cluster, Failed
from fault_cases import CASES

# ---- the run ------------------------------------------------------------------------------------------------------
NODES, RAILS, RATE, LOADING_RATE = 3, 2, "400mbit", "40mbit"
HARMED = 2  # the node, and with one rank a node rank 1
CUT_SECONDS = 5
SPARE_SECONDS = 15  # beyond the limit, before standing still counts as hanging
LONGEST_SECONDS = 100  # whatever happens; below the time-out of the entries of ctest
# 25 MB, handed on 25 times over each link: 7 s at 88 MB/s, and little to compute.
HEAT = {"grid.nx": 48, "grid.ny": 256, "grid.nz": 256, "ring.workers": 1, "output.thermo_every": 6}
STEPS, SRUN_STEPS, LOADING_STEPS = 75, 12, 6
FLOWING_BYTES = 60e6  # sent by all nodes together after the table began, when the harm is done: slices flow
LOADING_BYTES = 3e6  # the same, for faults while slices of the start travel, after the links were measured
MOVING_BYTES = 1e6  # more than what connections say to each other when nothing moves


class Unable(Exception):
    """This machine cannot do it."""


class Driver:
    def __init__(self, cluster, binaries, folder):
        self.cluster, self.binaries, self.folder = cluster, binaries, folder
        self.references = {}

    def heat(self, case, *arguments):
        steps = LOADING_STEPS if case.loading else SRUN_STEPS if case.fault == "srun" else STEPS
        settings = [f"--set={key}={value}" for key, value in {**HEAT, "run.steps": steps}.items()]
        return [self.binaries / "heat", ROOT / "apps/heat/heat.toml", *settings, *arguments]

    def undisturbed_digest(self, case):
        """The digest line of the same run by one rank in one process; computed when it is first needed."""
        command = tuple(map(str, self.heat(case, "--transport=local", "--out", self.folder / "reference")))
        if command not in self.references:
            result = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
            if result.returncode != 0:
                raise Failed(f"the undisturbed run ended with {result.returncode}: {result.stderr}")
            self.references[command] = result.stdout.splitlines()[-1]
        return self.references[command]

    # ---- one case ----
    def run(self, case):
        """Returns what was seen, in words; throws Failed."""
        folder = self.folder / case.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            self.cluster.call("up", NODES, RAILS, LOADING_RATE if case.loading else RATE)
            if case.fault == "srun":
                return self.srun(case, folder)
            return self.mpirun(case, folder)
        finally:
            self.cluster.call("down", check=False)

    def mpirun(self, case, folder):
        rails = ["--set", 'ring.rails=["rail0", "rail1"]'] if case.transport == "ucx" else []
        output = folder / "output"
        job = self.cluster.start(output, "run", 1, "--", *self.heat(
            case, "--transport", case.transport, *rails, f"--set=ring.link_timeout={case.limit}", "--out", folder / "out"))
        fault_time, ended = None, ""
        try:
            if case.fault != "none":
                self.wait_for_flow(job, output, case.loading)
                self.harm(case.fault)
                fault_time = time.monotonic()
            if case.fault == "cut and restore":
                time.sleep(CUT_SECONDS)  # the length of the fault itself
                self.cluster.call("link", HARMED, 1, "up")
            self.wait_for_end(job, case.limit + SPARE_SECONDS, output)
            ended = "" if fault_time is None else f" {time.monotonic() - fault_time:.1f} s after the fault"
            self.wait_for_nobody(output, job.returncode)
        finally:
            kill_group(job)
        return self.judge(case, job.returncode, output, ended)

    def wait_for_flow(self, job, output, loading):
        deadline = time.monotonic() + 30
        enough = None  # known with the table's head: links are measured before
        while enough is None or sum(self.cluster.sent_bytes().values()) < enough:
            if enough is None and "Step" in Path(output).read_text(errors="replace"):
                enough = sum(self.cluster.sent_bytes().values()) + (LOADING_BYTES if loading else FLOWING_BYTES)
            if job.poll() is not None:
                raise Failed(f"the run ended with exit code {job.returncode} before the fault\n{tail(output)}")
            if time.monotonic() > deadline:
                raise Failed(f"no slices flowed over the rails within 30 s: {self.cluster.sent_bytes()}\n{tail(output)}")
            time.sleep(0.1)
        if job.poll() is not None:
            raise Failed("the run was over before the fault could be made: it is too short")
        if loading and re.search(r"^ +0 ", Path(output).read_text(errors="replace"), re.MULTILINE):  # row of step 0
            raise Failed("all slices were loaded before the fault could be made: there are too few")

    def harm(self, fault):
        if fault in ("kill", "stop"):
            self.cluster.call("exec", HARMED, "pkill", "-KILL" if fault == "kill" else "-STOP", "-x", "heat")
        elif fault in ("cut", "cut and restore"):
            self.cluster.call("link", HARMED, 1, "down")
        else:
            for rail in range(RAILS):
                self.cluster.call("link", HARMED, rail, "down")

    def wait_for_end(self, job, patience, output):
        start = moved = time.monotonic()
        before = self.cluster.sent_bytes()
        while job.poll() is None:
            time.sleep(0.1)
            now, bytes_now = time.monotonic(), self.cluster.sent_bytes()
            if sum(bytes_now.values()) - sum(before.values()) > MOVING_BYTES:
                before, moved = bytes_now, now
            if now - moved > patience or now - start > LONGEST_SECONDS:
                why = f"no slices have moved for {now - moved:.0f} s" if now - moved > patience else "it takes too long"
                raise Failed(f"the run hangs {now - start:.0f} s after the fault: {why}; sent: {bytes_now}; "
                             f"alive: {self.cluster.programs(NODES)}\n{tail(output)}")

    def wait_for_nobody(self, output, code):
        """mpirun tells the nodes to end everything and goes; they may take a moment."""
        deadline = time.monotonic() + 5
        while left := self.cluster.programs(NODES):
            if time.monotonic() > deadline:
                raise Failed(f"the run ended with exit code {code}, but 5 s later there is still "
                             f"{', '.join(left)}\n{tail(output)}")
            time.sleep(0.1)

    def judge(self, case, code, output, ended=""):
        text = output.read_text(errors="replace")
        seen = f"exit code {code}{ended}"
        expected = case.done if code == 0 else case.failed
        if expected is None:
            raise Failed(f"{seen}, where {'an error' if code == 0 else 'success'} was expected\n{tail(output)}")
        found = []
        for pattern in expected:
            alternatives = pattern if isinstance(pattern, tuple) else (pattern,)
            match = re.search("|".join(alternatives), text)
            if not match:
                raise Failed(f"{seen}, but the output has no match for {pattern}\n{tail(output)}")
            found.append(line_of(text, match))
        if code == 0:
            digests = re.findall(r"^digest [0-9a-f]{16} step \d+$", text, re.MULTILINE)
            undisturbed = self.undisturbed_digest(case)
            if digests != [undisturbed]:
                raise Failed(f"{seen}, but it printed {digests}, and undisturbed '{undisturbed}'\n{tail(output)}")
            seen += ", the undisturbed digest"
        return seen + "".join(f"\n    {line}" for line in dict.fromkeys(found))

    def srun(self, case, folder):
        self.cluster.call("slurm-up", 0)
        plugin = "none" if case.name.endswith("without-pmix") else "pmix"
        output = folder / "output"
        job = self.cluster.start(output, "slurm", "srun", f"--mpi={plugin}", "-N", 2, "-n", 2, *self.heat(
            case, "--transport", "mpi", "--out", folder / "out"))
        try:
            self.wait_for_end(job, 20, output)
            self.wait_for_nobody(output, job.returncode)
        finally:
            kill_group(job)
        if plugin == "none" and job.returncode != 2:
            raise Failed(f"exit code {job.returncode}, where 2 (bad usage) was expected\n{tail(output)}")
        return self.judge(case, job.returncode, output)


# ---- small things -------------------------------------------------------------------------------------------------
def tail(path, lines=25):
    text = path.read_text(errors="replace").splitlines()
    return "\n".join(f"    | {line}" for line in text[-lines:])


def line_of(text, match):
    start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
    return text[start:end if end >= 0 else len(text)].strip()


def kill_group(process):
    """Ends what is left on the outside; the nodes are emptied by cluster down."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def chosen(patterns):
    cases = []
    for pattern in patterns:
        found = [c for c in CASES if fnmatch.fnmatch(c.name, pattern) or fnmatch.fnmatch(c.name, pattern + ".*")]
        if not found:
            print(f"faults: no case '{pattern}'; there are: {', '.join(c.name for c in CASES)}", file=sys.stderr)
            sys.exit(2)
        cases += [c for c in found if c not in cases]
    return cases or CASES


def able(cluster, cases):
    check = cluster.call("check", check=False)
    if check.returncode != 0:
        raise Unable(check.stdout.strip())
    if any(c.fault == "srun" for c in cases):
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        missing = [p for p in ("slurmctld", "slurmd", "srun", "munged") if not shutil.which(p, path=path)]
        if missing:
            raise Unable(f"{', '.join(missing)} missing for the cases srun: ./dev setup cluster installs what is needed")


def main():
    parser = argparse.ArgumentParser(prog="./dev cluster faults", description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names or patterns: kill-rank, '*.ucx' (all)")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/host/bin", help="folder of the programs")
    options = parser.parse_args()
    if options.list:
        print("\n".join(c.name for c in CASES))
        return 0
    cases = chosen(options.cases)
    binaries = options.bin.resolve()
    if not (binaries / "heat").exists():
        print(f"faults: {binaries / 'heat'} is not there: run ./dev build host heat", file=sys.stderr)
        return 2

    cluster = Cluster(f"faults{zlib.crc32(os.fsencode(binaries)):08x}")
    try:
        able(cluster, cases)
    except Unable as reason:
        print(f"faults: left out: {reason}")
        return 77
    folder = binaries.parent / "faults"
    folder.mkdir(exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    with open(folder / "lock", "w") as lock:  # builds have clusters of their own; one build's cases take turns
        fcntl.flock(lock, fcntl.LOCK_EX)
        cluster.call("down")  # of a run that was killed
        return run_all(Driver(cluster, binaries, folder), cases)


def run_all(driver, cases):
    failed = []
    for case in cases:
        start = time.monotonic()
        try:
            verdict = f"ok: {driver.run(case)}"
        except Failed as reason:
            failed.append(case.name)
            verdict = f"FAILED: {reason}"
        print(f"{case.name} ({time.monotonic() - start:.0f} s) {verdict}", flush=True)
    if failed:
        print(f"faults: {len(failed)} of {len(cases)} cases failed: {', '.join(failed)}; logs are in {driver.folder}")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
