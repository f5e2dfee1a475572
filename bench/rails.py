#!/usr/bin/python3
"""Measures how fast slices travel between four emulated nodes of four rails, shaped to 400 Mbit/s each.

usage: ./dev bench rails [CASE...] [--rounds N] [--seconds S] [--check] [--list]      (needs root; makes a cluster of its own)
       bench/rails.py [CASE...] --check --from build/bench/rails.jsonl                (judges what was measured before)

Slices of 10 and 40 MB go around a ring of all nodes by bench/rails.cpp. Cases: transport ucx over 1, 2 and 4 rails, with
1, 2 and 4 processes a node, with and without relays; for comparison transport mpi, and UCX's own use of several rails (one
context over all devices), with the system's UCX and with the newest (./dev setup ucx). Rounds go through all cases in turn,
so that drifts of a shared machine meet all alike.

A value is the rate of the slowest link between two nodes, in MB/s, the median of the rounds; a ratio compares it, round by
round, with one rail of the same transport, slices and processes. `rails` is what the kernel counted on node 1's rails, as
shares; `cores` is processor time a node. build/bench/rails.jsonl has one object a case.

With --check every case of ucx without relays has a limit: one rail carries at least 90 % of its shaped rate, two rails make
at least 1.9 and four at least 3.6 times one rail. A line names each case that misses its limit.

Exit code: 0 done, 1 a case misses its limit, 2 bad usage or something is missing, 3 a run failed.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "cluster"))
from emulated_cluster import Cluster, Failed  # noqa: E402

NODES, RAILS, RATE = 4, 4, "400mbit"
SHAPED = 50.0  # MB/s of one rail, headers included
LIMITS = {1: ("share_of_shaped_rate", 0.9), 2: ("ratio", 1.9), 4: ("ratio", 3.6)}  # of ucx, by the number of rails
PROGRAM = "build/host/bin/bench/rails"
NEWEST = os.path.join(ROOT, "build", "ucx", "libucx", "lib")


@dataclass(frozen=True)
class Case:
    how: str  # "ucx", "ucx relays", "mpi", "UCX's own", "newest ucx", "newest UCX's own"
    rails: int
    megabytes: int
    processes: int = 1

    @property
    def name(self):
        more = f", {self.processes} processes a node" if self.processes > 1 else ""
        return f"{self.how} {self.rails} rail{'s' * (self.rails > 1)} {self.megabytes} MB{more}"

    @property
    def base(self):
        """What the ratio is to."""
        how = self.how.replace(" relays", "").replace("UCX's own", "ucx")
        return Case(how, 1, self.megabytes, self.processes)

    def command(self):
        names = ",".join(f"rail{r}" for r in range(self.rails))
        words = ["run", self.processes, "--", PROGRAM, f"bytes={self.megabytes}e6"]
        environment = {"OMPI_MCA_btl_tcp_if_include": "ethm"}
        if self.how == "mpi":
            environment["OMPI_MCA_btl_tcp_if_include"] = names
            words.append("transport=mpi")
        elif "own" in self.how:
            environment |= {"UCX_NET_DEVICES": names, "UCX_MAX_RNDV_RAILS": str(self.rails),
                            "UCX_MAX_EAGER_RAILS": str(self.rails)}
        else:
            words.append(f"rails={names}")
            words += ["relays=1"] * ("relays" in self.how)
        if self.how.startswith("newest"):
            environment["LD_LIBRARY_PATH"] = NEWEST
        return words, environment


def all_cases():
    sizes = (10, 40)
    cases = [Case(how, rails, mb) for mb in sizes for how in ("ucx", "mpi") for rails in (1, 2, 4)]
    cases += [Case("UCX's own", rails, mb) for mb in sizes for rails in (2, 4)]
    if os.path.isdir(NEWEST):
        cases += [Case("newest ucx", rails, mb) for mb in sizes for rails in (1, 2, 4)]
        cases += [Case("newest UCX's own", rails, mb) for mb in sizes for rails in (2, 4)]
    cases += [Case("ucx", rails, mb, p) for mb in sizes for p in (2, 4) for rails in (1, 2, 4)]
    cases += [Case("ucx relays", rails, mb, p) for mb in sizes for p in (2, 4) for rails in (2, 4)]
    return cases


def measure(cluster, case, seconds):
    words, environment = case.command()
    before = cluster.sent_bytes()
    saved = dict(cluster.environment)
    cluster.environment.update(environment)
    try:
        done = subprocess.run(cluster.command(*words, f"seconds={seconds}"), env=cluster.environment, cwd=ROOT, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)
    finally:
        cluster.environment = saved
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        raise Failed(f"{case.name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    result = json.loads(lines[-1])
    after = cluster.sent_bytes()
    sent = [after[("en1", f"rail{r}")] - before[("en1", f"rail{r}")] for r in range(RAILS)]
    return {"rate": result["slowest"] / 1e6, "cores": result["processor"] / NODES, "sent": sent}


def report(cases, results, rounds, file):
    """Prints the table and writes the file; returns the file's objects."""
    rows = []
    print(f"\n{NODES} nodes, {RAILS} rails of {RATE} (at most {SHAPED:.0f} MB/s each), {rounds} rounds; MB/s of the slowest link\n")
    print(f"{'case':44} {'median':>7} {'least':>7} {'most':>7}  {'/ 1 rail':>8}  {'cores':>5}  rails, % of the bytes")
    for case in cases:
        rates = [r["rate"] for r in results[case]]
        row = {"case": case.name, "value": round(statistics.median(rates), 2), "unit": "MB/s", "least": round(min(rates), 2),
               "most": round(max(rates), 2), "rounds": rounds,
               "cores_per_node": round(statistics.median(r["cores"] for r in results[case]), 3)}
        sent = [sum(r["sent"][k] for r in results[case]) for k in range(RAILS)]
        row["rail_bytes"] = sent
        ratio = ""
        if case.base in results:
            pairs = [r["rate"] / b["rate"] for r, b in zip(results[case], results[case.base])]
            row |= {"peer": case.base.name, "peer_value": round(statistics.median(b["rate"] for b in results[case.base]), 2),
                    "ratio": round(statistics.median(pairs), 3)}
            ratio = f"{row['ratio']:.2f}"
        row["share_of_shaped_rate"] = round(row["value"] / (SHAPED * case.rails), 3)
        shares = " ".join(f"{100 * s / max(1, sum(sent)):3.0f}" for s in sent)
        print(f"{case.name:44} {row['value']:7.1f} {row['least']:7.1f} {row['most']:7.1f}  {ratio:>8}  "
              f"{row['cores_per_node']:5.2f}  {shares}")
        file.write(json.dumps(row) + "\n")
        rows.append(row)
    return rows


def check(rows):
    """Judges those that have a limit, and says which miss it. Returns the exit code."""
    limits = {case.name: LIMITS[case.rails] for case in all_cases() if case.how == "ucx"}
    judged = [row for row in rows if row["case"] in limits]
    if not judged:
        print("rails.py: no case has a limit here: --check is for those of ucx without relays", file=sys.stderr)
        return 2
    missed = 0
    for row in judged:
        key, least = limits[row["case"]]
        if row[key] >= least:
            continue
        missed += 1
        what = "of the shaped rate" if key == "share_of_shaped_rate" else "times one rail"
        print(f"rails.py: {row['case']}: {row[key]:.3f} {what}, less than {least}", file=sys.stderr)
    print(f"{len(judged) - missed} of {len(judged)} cases keep their limits", file=sys.stderr)
    return 1 if missed else 0


def main():
    parser = argparse.ArgumentParser(prog="./dev bench rails", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="only cases whose names contain this (and one rail, for ratios)")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement")
    parser.add_argument("--check", action="store_true", help="exit code 1 if a case misses its limit")
    parser.add_argument("--from", dest="file", metavar="FILE", help="with --check: judge an earlier run's results, measure nothing")
    parser.add_argument("--list", action="store_true", help="name all cases")
    given = parser.parse_args()
    cases = all_cases()
    if given.cases:
        chosen = [c for c in cases if any(text in c.name for text in given.cases)]
        if not chosen:
            parser.error(f"no case has {' or '.join(map(repr, given.cases))} in its name; --list names all")
        bases = {c.base for c in chosen}
        cases = [c for c in cases if c in chosen or c in bases]
    if given.rounds < 1 or given.seconds <= 0:
        parser.error("--rounds and --seconds must be above 0")
    if given.list:
        print("\n".join(c.name for c in cases))
        return 0
    if given.file:
        if not given.check:
            parser.error("--from is for --check")
        try:
            with open(given.file, encoding="utf-8") as file:
                rows = [json.loads(line) for line in file]
            return check([row for row in rows if not given.cases or row["case"] in {c.name for c in cases}])
        except (OSError, ValueError, KeyError, TypeError) as error:
            parser.error(f"{given.file} holds no results of this benchmark: {error}")
    if not os.path.isdir(NEWEST):
        print("the newest UCX is not here, so its cases are left out: ./dev setup ucx fetches it", file=sys.stderr)
    cluster = Cluster(f"rails{os.getpid() % 1000000}")
    if cluster.call("check", check=False).returncode != 0:
        sys.exit("rails.py: no cluster can be made here: " + cluster.call("check", check=False).stdout)
    results = {case: [] for case in cases}
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda n, _: sys.exit(128 + n))  # the cluster goes, too
    try:
        cluster.call("up", NODES, RAILS, RATE)
        for n in range(given.rounds):
            for k, case in enumerate(cases):
                results[case].append(measure(cluster, case, given.seconds))
                print(f"round {n + 1} of {given.rounds}, {k + 1} of {len(cases)}: {case.name}: "
                      f"{results[case][-1]['rate']:.1f} MB/s", file=sys.stderr)
    except Failed as error:
        print(f"rails.py: {error}", file=sys.stderr)
        return 3
    finally:
        cluster.call("down", check=False)
    os.makedirs(os.path.join(ROOT, "build", "bench"), exist_ok=True)
    with open(os.path.join(ROOT, "build", "bench", "rails.jsonl"), "w", encoding="utf-8") as file:
        rows = report(cases, results, given.rounds, file)
    return check(rows) if given.check else 0


if __name__ == "__main__":
    sys.exit(main())
