#!/usr/bin/python3
"""Compares ljmd with Debian's LAMMPS, from the same start, in turn, on the same cores.

usage: ./dev bench lammps [CASE...] [OPTIONS]        (builds ljmd first; --help lists cases and options)

Both programs read the same LAMMPS data file: a fluid melted from a lattice, made once by LAMMPS and kept in
build/bench/lammps/. Both are double precision, NVE, cut-off 2.5 truncated and shifted. LAMMPS runs `lmp -sf opt` with
neigh_modify delay 0 check yes; a sweep finds its best skin (0.2 to 0.5) and interval of checks (every 1 or 5) among those
without dangerous builds; it is kept beside the start. Then each round runs LAMMPS and ljmd, one after the other.

LAMMPS's rate is steps x molecules / its "Loop time"; ljmd's is `rate` of run.json, the steady part. Both leave out
reading and setting up. Ratios (above 1: ljmd is faster) are taken round by round, because shared machines drift; the table
has their median and spread, build/bench/lammps.jsonl one object a measurement. Energies of the first and the last
step must agree. Exit code: 0 done, 2 bad usage or something is missing, 3 a run failed or energies disagree.
"""
import argparse
import csv
import dataclasses
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BENCH = os.path.join(ROOT, "build", "bench")
CACHE = os.path.join(BENCH, "lammps")  # starts, sweeps, and the files of the latest runs


@dataclasses.dataclass
class Case:
    name: str
    kind: str  # of the start: "fluid", "melt" (with the energy of LAMMPS's bench in.lj), "film"
    density: float
    temperature: float  # of the fluid; for "melt" of the lattice, half of which melting takes
    dt: float
    cells: int  # of the fcc lattice in each direction: 4 cells^3 molecules
    steps: int  # so that a run takes 5 to 15 s
    cores: int

    @property
    def molecules(self):
        return 4 * self.cells**3

    def text(self):
        where = ", liquid in the first third of the box" if self.kind == "film" else ""
        return (f"density {self.density}{where}, {'lattice of ' if self.kind == 'melt' else ''}T {self.temperature}, "
                f"dt {self.dt}, {self.molecules} molecules, {self.steps} steps, {self.cores} core{'s'[:self.cores > 1]}")


CASES = [
    Case("fluid-256k", "fluid", 0.5, 1.5, 0.0018, 40, 200, 1),
    Case("melt-32k", "melt", 0.8442, 1.44, 0.005, 20, 800, 1),
    Case("melt-256k", "melt", 0.8442, 1.44, 0.005, 40, 120, 1),
    Case("fluid-256k-2", "fluid", 0.5, 1.5, 0.0018, 40, 300, 2),
    Case("fluid-1M-2", "fluid", 0.5, 1.5, 0.0018, 63, 80, 2),
    Case("film-256k-2", "film", 0.7, 0.85, 0.0018, 40, 150, 2),
]

# How ljmd uses its cores: name -> arguments, and whether it is started by mpirun (then with so many processes).
WAYS = {
    1: {"1 rank": (["--ranks", "1", "--threads", "1"], 0)},
    2: {
        "1 rank x 2 threads": (["--ranks", "1", "--threads", "2"], 0),
        "2 ranks": (["--threads", "1"], 2),
    },
}

# Keys of ljmd's configuration by case, or by "case/way"; for every case under "all". What is not here is ljmd's default.
SETTINGS = {
    "all": {"ring.stream": "longest"},
    "fluid-256k": {},
    "melt-32k": {},
    "melt-256k": {},
    "fluid-256k-2": {},
    "fluid-256k-2/2 ranks": {},
    "fluid-1M-2": {},
    "fluid-1M-2/2 ranks": {},
    "film-256k-2": {},
    "film-256k-2/2 ranks": {},
}

# What LAMMPS may do beside its defaults, by kind of start: name -> commands.
PEERS = {
    "fluid": {"": ""},
    "melt": {"": ""},
    "film": {"without balance": "", "with balance": "balance 1.0 shift x 20 1.0"},
}
SKINS = (0.2, 0.3, 0.4, 0.5)
EVERY = (1, 5)
MELT_COOLED_TO = 0.7  # about where it ends
SWEEP_STEPS = 100  # of each setting, twice; the better one counts

# Relative to the potential energy. Rounding errors grow to some 1e-12 over these few steps, the energies of trajectories
# that had become independent would still agree to some 1e-3.
TOLERANCE_START = 1e-6
TOLERANCE_END = 1e-4


class Failure(Exception):
    """A run failed, or energies disagree: exit code 3."""


def say(text):
    print(text, flush=True)


def progress(text):
    print(text, file=sys.stderr, flush=True)


def missing(text):
    print(f"bench/lammps.py: {text}", file=sys.stderr)
    sys.exit(2)


# ---- running ------------------------------------------------------------------------------------------------------
def choose_cores(count):
    """The first `count` processors this process may use, one of each core; fewer if there are no more."""
    chosen, taken = [], set()
    for cpu in sorted(os.sched_getaffinity(0)):
        try:
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") as file:
                core = file.read().strip()
        except OSError:
            core = str(cpu)
        if core not in taken:
            taken.add(core)
            chosen.append(cpu)
    return chosen[:count]


def run(command, cores, processes=0, threads=None):
    """Runs a command on these cores, by mpirun if processes are given."""
    pinned = ["taskset", "-c", ",".join(map(str, cores))]
    if processes:
        pinned += ["mpirun", "--bind-to", "none", "-n", str(processes)]
    pinned += command
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    environment.pop("OMP_NUM_THREADS", None)
    if threads:
        environment["OMP_NUM_THREADS"] = str(threads)
    done = subprocess.run(pinned, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, cwd=CACHE)
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-20:])
        raise Failure(f"{shlex.join(pinned)}\nended with {done.returncode}:\n{tail}")


# ---- LAMMPS -------------------------------------------------------------------------------------------------------
@dataclasses.dataclass
class LammpsRun:
    rate: float
    dangerous: int
    thermo: list  # (step, potential, kinetic) a molecule


class LammpsLog:
    def __init__(self, path):
        with open(path) as file:
            text = file.read()
        self.version = re.match(r"LAMMPS \((.*?)\)", text).group(1)
        self.opt = "lj/cut/opt" in text
        self.runs = []
        rows = None
        for line in text.splitlines():
            words = line.split()
            if words[:1] == ["Step"]:
                rows = []
            elif line.startswith("Loop time of"):
                # Loop time of 1.5 on 1 procs for 100 steps with 256000 atoms
                rate = float(words[8]) * float(words[11]) / float(words[3])
                self.runs.append(LammpsRun(rate, 0, rows))
                rows = None
            elif line.startswith("Dangerous builds = "):
                self.runs[-1].dangerous = int(words[3])
            elif rows is not None and words and words[0].isdigit():
                rows.append((int(words[0]), float(words[1]), float(words[2])))


def lammps(name, script, cores):
    path = os.path.join(CACHE, f"{name}.in")
    with open(path, "w") as file:
        file.write(script)
    log = os.path.join(CACHE, f"{name}.log")
    command = ["lmp", "-sf", "opt", "-in", path, "-log", log, "-screen", "none"]
    try:
        run(command, cores, processes=len(cores) if len(cores) > 1 else 0, threads=1)
    except Failure as failure:  # LAMMPS says why in its log
        errors = []
        if os.path.exists(log):
            with open(log) as file:
                errors = [line for line in file if "ERROR" in line]
        raise Failure(f"{failure}\n{''.join(errors)}({log})") from None
    return LammpsLog(log)


FORCES = """pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
pair_modify shift yes
"""


def start_script(case, quick, file):
    """Melts a lattice, hot and then at its temperature, and writes a data file."""
    hot, warm, free = (100, 150, 50) if quick else (300, 500, 200)
    melt = case.kind == "melt"
    cold = MELT_COOLED_TO if melt else case.temperature
    lines = [
        "units lj", "atom_style atomic", f"lattice fcc {case.density}", f"region box block 0 {case.cells} 0 {case.cells} 0 {case.cells}",
        "create_box 1 box", "create_atoms 1 box", "mass 1 1.0", f"velocity all create {case.temperature} 87287 loop geom",
        FORCES + "neighbor 0.3 bin", "neigh_modify every 1 delay 0 check yes", "fix 1 all nve", "timestep 0.004", "thermo 50"]
    if melt:
        lines += ["run 0", "variable energy equal $(etotal:%.16e)"]
    for temperature, steps in ((max(2.5, 2 * cold), hot), (cold, warm)):
        lines += [f"fix 2 all langevin {temperature} {temperature} 0.5 4711", f"run {steps}"]
    lines += ["unfix 2", "velocity all zero linear"]
    if melt:  # the liquid that the lattice would become at constant energy, after a long time
        lines += ["run 0", "variable scaled equal temp*(v_energy-pe)/ke", "velocity all scale $(v_scaled:%.16e)", f"run {free}"]
    if case.kind == "film":
        lines += ["variable long equal 3*lx", "set group all image 0 0 0", "change_box all x final 0 ${long} units box"]
    lines += ["reset_timestep 0", f"write_data {file} nocoeff"]
    return "\n".join(lines) + "\n"


def make_start(case, quick, cores):
    """The path of the case's data file; made if it is not there, or was made by another script."""
    name = f"start-{case.kind}-{case.density}-{case.molecules}"
    data, made_by = os.path.join(CACHE, f"{name}.data"), os.path.join(CACHE, f"{name}.made_by")
    script = start_script(case, quick, f"{name}.tmp.data")
    if os.path.exists(data) and os.path.exists(made_by):
        with open(made_by) as file:
            if file.read() == script:
                return data, False
    progress(f"{case.name}: LAMMPS melts {case.molecules} molecules (once)")
    lammps(name, script, cores)
    os.replace(os.path.join(CACHE, f"{name}.tmp.data"), data)
    with open(made_by, "w") as file:
        file.write(script)
    return data, True


def run_script(case, data, extra, settings, steps):
    """Reads the start, then one run of `steps` for each (skin, every)."""
    lines = ["units lj", "atom_style atomic", f"read_data {data}", FORCES + extra, "fix 1 all nve", f"timestep {case.dt}",
             "thermo_style custom step pe ke", "thermo_modify norm yes format float %.16e", "thermo 0"]
    for skin, every in settings:
        lines += [f"neighbor {skin} bin", f"neigh_modify every {every} delay 0 check yes", f"run {steps}"]
    return "\n".join(lines) + "\n"


def best_settings(case, data, peer, cores, steps, again):
    """Skin and interval of checks that are fastest for this case, among those without dangerous builds."""
    name = f"sweep-{case.name}" + (f"-{peer.replace(' ', '-')}" if peer else "") + f"-{case.molecules}"
    kept = os.path.join(CACHE, f"{name}.json")
    if again or not os.path.exists(kept):
        progress(f"{case.name}: sweep of LAMMPS's settings{', ' + peer if peer else ''}")
        settings = [(skin, every) for skin in SKINS for every in EVERY]
        # The first one is for warming up.
        log = lammps(name, run_script(case, data, PEERS[case.kind][peer], settings[:1] + settings * 2, steps), cores)
        first, second = log.runs[1:1 + len(settings)], log.runs[1 + len(settings):]
        swept = [{"skin": skin, "every": every, "rate": max(a.rate, b.rate), "dangerous": a.dangerous + b.dangerous}
                 for (skin, every), a, b in zip(settings, first, second)]
        with open(kept, "w") as file:
            json.dump(swept, file, indent=1)
    with open(kept) as file:
        swept = json.load(file)
    for s in swept:
        unfit = f", {s['dangerous']} dangerous builds: not taken" if s["dangerous"] else ""
        progress(f"  skin {s['skin']}, every {s['every']}: {s['rate'] / 1e6:.3f} M/s{unfit}")
    safe = [s for s in swept if s["dangerous"] == 0]
    if not safe:
        raise Failure(f"{case.name}: every setting of LAMMPS had dangerous builds, see {kept}")
    best = max(safe, key=lambda s: s["rate"])
    return best["skin"], best["every"]


# ---- ljmd ---------------------------------------------------------------------------------------------------------
@dataclasses.dataclass
class LjmdRun:
    rate: float
    whole: float  # rate of the whole run, with filling and draining of the ring and reading
    steady: bool
    report: dict
    thermo: list  # (step, potential, kinetic) a molecule


def ljmd(program, case, data, way, overrides, cores):
    name = f"ljmd-{case.name}-{way.replace(' ', '-')}"
    config, out = os.path.join(CACHE, f"{name}.toml"), os.path.join(CACHE, name)
    with open(config, "w") as file:
        file.write(f'[run]\nsteps = {case.steps}\n[system]\ndata = "{data}"\n[lj]\ncutoff = 2.5\nshift = true\n'
                   f'[time]\ndt = {case.dt}\n[output]\nthermo_every = {case.steps}\n')
    arguments, processes = WAYS[case.cores][way]
    command = [program, config, "--device", "host", "--transport", "mpi" if processes else "local", "--out", out] + arguments
    for key, value in {**SETTINGS["all"], **SETTINGS.get(case.name, {}), **SETTINGS.get(f"{case.name}/{way}", {})}.items():
        command += ["--set", f"{key}={value}"]
    for override in overrides:
        command += ["--set", override]
    shutil.rmtree(out, ignore_errors=True)
    run(command, cores, processes)
    with open(os.path.join(out, "run.json")) as file:
        report = json.load(file)
    with open(os.path.join(out, "thermo.csv")) as file:
        thermo = [(int(row["Step"]), float(row["E_pair"]), float(row["KinEng"])) for row in csv.DictReader(file)]
    whole = report["elements"] * report["step"] / report["wall_s"]
    return LjmdRun(report["rate"], whole, report.get("rate_is_of_the_steady_part", True), report, thermo)


# ---- comparing ----------------------------------------------------------------------------------------------------
def check_energies(case, theirs, ours):
    """The relative differences of the energies at the first and the last step; Failure if they are too large."""
    worst = []
    for at, tolerance in ((0, TOLERANCE_START), (-1, TOLERANCE_END)):
        (step, potential, kinetic), (our_step, our_potential, our_kinetic) = theirs.thermo[at], ours.thermo[at]
        if step != our_step:
            raise Failure(f"{case.name}: LAMMPS has energies of step {step}, ljmd of step {our_step}")
        difference = max(abs(our_potential - potential), abs(our_kinetic - kinetic)) / abs(potential)
        if not difference <= tolerance:
            raise Failure(f"{case.name}: ENERGIES DISAGREE at step {step}: potential and kinetic energy a molecule are "
                          f"{potential:.12g} and {kinetic:.12g} by LAMMPS, {our_potential:.12g} and {our_kinetic:.12g} by ljmd "
                          f"(allowed: {tolerance:g} of the potential energy)")
        worst.append(difference)
    return worst


def spread(values):
    return statistics.median(values), min(values), max(values)


def row(name, values, scale=1.0):
    median, least, most = (v / scale for v in spread(values))
    say(f"  {name:<58} {median:9.3f} {least:9.3f} {most:9.3f}")


def measure(case, options, results):
    cores = choose_cores(case.cores)
    if len(cores) < case.cores:
        say(f"\n{case.name}: left out, it needs {case.cores} cores")
        return
    if case.cores > 1 and not shutil.which("mpirun"):
        missing(f"mpirun is missing for {case.name}: install the Debian package openmpi-bin")
    say(f"\n{case.name}: {case.text()}")
    data, fresh = make_start(case, options.quick, cores)

    peers = {}  # name -> skin and interval
    for peer in PEERS[case.kind]:
        peers[peer] = best_settings(case, data, peer, cores, 10 if options.quick else min(SWEEP_STEPS, case.steps), options.sweep or fresh)
    label = {peer: f"LAMMPS{' ' + peer if peer else ''}, skin {skin}, every {every}" for peer, (skin, every) in peers.items()}

    ways = WAYS[case.cores]
    theirs, ours = {peer: [] for peer in peers}, {way: [] for way in ways}
    differences = []
    for number in range(options.rounds):
        for peer, settings in peers.items():
            script = run_script(case, data, PEERS[case.kind][peer], [settings], case.steps)
            log = lammps(f"run-{case.name}", script, cores)
            if not log.opt:
                raise Failure(f"{case.name}: LAMMPS did not use lj/cut/opt: is its package OPT there?")
            theirs[peer].append(log.runs[0])
            progress(f"  round {number + 1}: {('LAMMPS ' + peer).strip()} {log.runs[0].rate / 1e6:.3f} M/s")
            if log.runs[0].dangerous:
                say(f"  note: {label[peer]} had {log.runs[0].dangerous} dangerous builds in round {number + 1}")
        for way in ways:
            ours[way].append(ljmd(options.ljmd, case, data, way, options.ljmd_set, cores))
            progress(f"  round {number + 1}: ljmd {way} {ours[way][-1].rate / 1e6:.3f} M/s")
            differences += [check_energies(case, theirs[peer][-1], ours[way][-1]) for peer in peers]

    say(f"  {'10^6 molecule steps/s':<58} {'median':>9} {'least':>9} {'most':>9}")
    for peer, runs in theirs.items():
        row(label[peer], [r.rate for r in runs], 1e6)
    for way, runs in ours.items():
        note = "" if all(r.steady for r in runs) else " (whole run)"
        row(f"ljmd, {way}{note}", [r.rate for r in runs], 1e6)
        row("  with filling, draining and reading", [r.whole for r in runs], 1e6)
    best = max(ours, key=lambda way: statistics.median([r.rate for r in ours[way]]))
    say("  ratios, round by round")
    for peer, their_runs in theirs.items():
        for way, our_runs in ours.items():
            ratios = [a.rate / b.rate for a, b in zip(our_runs, their_runs)]
            row(f"ljmd, {way} / LAMMPS {peer}".rstrip() + (" (our best)" if way == best and len(ours) > 1 else ""), ratios)
            ratio, least, most = spread(ratios)
            report = our_runs[-1].report
            results.append({
                "case": ", ".join(part for part in (case.name, way if len(ours) > 1 else "", peer) if part),
                "value": statistics.median([r.rate for r in our_runs]), "unit": "molecule steps/s",
                "peer": f"LAMMPS {log.version} -sf opt{label[peer][len('LAMMPS'):]}",
                "peer_value": statistics.median([r.rate for r in their_runs]),
                "ratio": ratio, "ratio_least": least, "ratio_most": most, "our_best": way == best,
                "whole_run_value": statistics.median([r.whole for r in our_runs]), "steady": all(r.steady for r in our_runs),
                "rounds": options.rounds, "cores": case.cores, "molecules": case.molecules, "steps": case.steps,
                "quick": options.quick, "ljmd": {key: report.get(key) for key in ("ranks", "workers", "threads", "isa", "git")},
                "what": case.text(), "cpu": report.get("cpu")})
    start, end = (max(column) for column in zip(*differences))
    say(f"  energies differ by at most {start:.1e} at the start and {end:.1e} at the end (relative)")


def parse_options():
    cases = "\n".join(f"  {case.name:<14} {case.text()}" for case in CASES)
    parser = argparse.ArgumentParser(prog="./dev bench lammps", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description=__doc__.split("\n\n", 1)[0], epilog=f"cases:\n{cases}")
    parser.add_argument("case", nargs="*", help="only these cases")
    parser.add_argument("--cases", default="", metavar="A,B", help="the same as a list with commas")
    parser.add_argument("--rounds", type=int, help="how often each program runs (5)")
    parser.add_argument("--steps", type=int, help="steps of a run instead of the case's own")
    parser.add_argument("--ljmd-set", action="append", default=[], metavar="KEY=VALUE", help="passed to ljmd as --set; may be repeated")
    parser.add_argument("--ljmd", default=os.path.join(ROOT, "build", "host", "bin", "ljmd"), metavar="PROGRAM",
                        help="another ljmd than build/host/bin/ljmd")
    parser.add_argument("--sweep", action="store_true", help="look for LAMMPS's best settings again")
    parser.add_argument("--quick", action="store_true",
                        help="tests this script: small boxes, few steps, 1 round; the rates mean nothing")
    parser.add_argument("--results", metavar="FILE", help="instead of build/bench/lammps.jsonl (with --quick: lammps.quick.jsonl)")
    options = parser.parse_args()

    names = options.case + [name for name in options.cases.split(",") if name]
    known = {case.name: case for case in CASES}
    for name in names:
        if name not in known:
            parser.error(f"no case '{name}'; there are: {' '.join(known)}")
    chosen = [known[name] for name in dict.fromkeys(names)] or CASES
    if options.quick:
        # Not so small that two ranks of ljmd have too few slices.
        chosen = [dataclasses.replace(case, cells=14, steps=32) for case in chosen]
    if options.steps is not None:
        if options.steps < 1:
            parser.error("--steps must be at least 1")
        chosen = [dataclasses.replace(case, steps=options.steps) for case in chosen]
    options.rounds = options.rounds if options.rounds is not None else 1 if options.quick else 5
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    options.ljmd = os.path.abspath(options.ljmd)
    options.results = options.results or os.path.join(BENCH, "lammps.quick.jsonl" if options.quick else "lammps.jsonl")
    return options, chosen


def main():
    options, cases = parse_options()
    if not shutil.which("lmp"):
        missing("lmp is missing: install the Debian package lammps (apt-get install lammps)")
    if not shutil.which("taskset"):
        missing("taskset is missing: install the Debian package util-linux")
    if not os.path.exists(options.ljmd):
        missing(f"{options.ljmd} is missing: ./dev build host ljmd")
    os.makedirs(CACHE, exist_ok=True)
    if os.getloadavg()[0] > 0.5:
        progress(f"note: the load of this machine is {os.getloadavg()[0]:.1f}: others compute on it, rates will be low and vary")

    results, failed = [], False
    with open(options.results, "w") as file:
        for case in cases:
            first = len(results)
            try:
                measure(case, options, results)
            except Failure as failure:
                failed = True
                say(f"  FAILED: {failure}")
            for result in results[first:]:
                file.write(json.dumps(result) + "\n")
            file.flush()
    return 3 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
