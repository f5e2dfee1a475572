#!/usr/bin/env bash
# The one prepared script for a machine with a GPU (no MPI needed there): device tests, ljmd on the GPU against the host and
# against itself, then rates of ljmd by the number of molecules a slice. Under 4 minutes.
#
#   bench/device.sh [BUILD [OUT]]     BUILD: a build of the cuda preset (build/cuda); OUT: folder for device.jsonl, logs
#
# Build before, elsewhere if need be (./dev build cuda), and carry the folder along.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
build=${1:-build/cuda}
out=${2:-build/bench/device}
device=${DSEA_BENCH_DEVICE:-cuda}
ljmd=$build/bin/ljmd
[[ -x $ljmd ]] || { echo "device.sh: $ljmd is not there: run ./dev build cuda" >&2; exit 2; }
mkdir -p "$out"
failed=0

note() { printf '== %4d s  %s\n' "$SECONDS" "$*"; }

note "machine: $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || echo 'no nvidia-smi')"

for test in device_test ring_test; do
  [[ -x $build/bin/tests/$test ]] || { note "$test is not built: left out"; continue; }
  note "$test"
  if ! DSEA_TEST_BACKEND=$device timeout 60 "$build/bin/tests/$test" --gtest_brief=1 > "$out/$test.log" 2>&1; then
    tail -n 20 "$out/$test.log"
    failed=1
  fi
done

# Reference data on both back ends: the same numbers but for rounding; the same digest in every run on one of them.
run() { # NAME ARGUMENT...
  local name=$1
  shift
  "$ljmd" apps/ljmd/ljmd.toml --out "$out/$name" "$@" > "$out/$name.log" 2>&1 || { tail -n 5 "$out/$name.log"; return 1; }
}
digest() { sed -n 's/^digest //p' "$out/$1.log"; }
cat > "$out/lj864.toml" <<TOML
[system]
data = "$PWD/tests/data/lj864/data.ref864"
[run]
steps = 100
[output]
thermo_every = 1
TOML
lj864() { # NAME ARGUMENT...
  local name=$1
  shift
  "$ljmd" "$out/lj864.toml" --out "$out/$name" "$@" > "$out/$name.log" 2>&1 || { tail -n 5 "$out/$name.log"; return 1; }
}
note "lj864 on the host, and on the device with 1 and 3 ranks"
lj864 host --device host && lj864 first --device "$device" && lj864 second --device "$device" --ranks 3 || failed=1
if ((failed == 0)); then
  python3 - "$out/host/thermo.csv" "$out/first/thermo.csv" <<'PY' || failed=1
import csv, sys
rows = [list(csv.reader(open(p))) for p in sys.argv[1:]]
worst = 0.0
for host, device in zip(*(r[1:] for r in rows)):
    for a, b in zip(map(float, host), map(float, device)):
        worst = max(worst, abs(a - b) / max(1.0, abs(a)))
print(f"   host against device: {worst:.1e} at most (limit 1e-10), {len(rows[0]) - 1} lines")
sys.exit(worst > 1e-10 or len(rows[0]) != len(rows[1]))
PY
  if [[ $(digest first) == "$(digest second)" ]]; then
    note "digest $(digest first) with 1 and 3 ranks"
  else
    note "digests differ: $(digest first), $(digest second)"
    failed=1
  fi
fi

# Rates: slabs of a lattice, a slice is two of them. The number of steps makes a run some seconds long.
: > "$out/device.jsonl"
for cells in "8 18" "8 58" "8 183" "8 580"; do
  ((SECONDS < ${DSEA_BENCH_LIMIT:-200})) || { note "no time left for the larger ones"; break; }
  read -r nx side <<< "$cells"
  name=lattice_${side}
  note "lattice of $nx x $side x $side cells, density 0.8442"
  if run "$name" --device "$device" --set run.steps="${DSEA_BENCH_STEPS:-480}" --set output.thermo_every=0 --set time.dt=0.005 \
    --set system.density=0.8442 --set system.temperature=1.44 --set "system.cells=[$nx, $side, $side]" --set ring.stream=x; then
    python3 - "$out/$name/run.json" "$out/device.jsonl" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
line = {"case": f"ljmd, {r['elements'] // r['slices']} molecules a slice", "value": r["rate"], "unit": "molecule steps/s",
        "device": r["device"], "workers": r["workers"], "slices": r["slices"]}
print(f"   {line['case']}: {r['rate'] / 1e6:.1f} M/s")
print(json.dumps(line), file=open(sys.argv[2], "a"))
PY
  else
    failed=1
  fi
done
note "done, results in $out/device.jsonl"
exit "$failed"
