#!/usr/bin/env bash
# Makes every file of this folder anew with Debian's LAMMPS (package lammps): the start, the dumps and totals.txt.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"

lmp -in in.start -log none -screen none
lmp -in in.mixture -log log.mixture -screen none
# The lines of thermo: from its header to the loop time.
awk '$1 == "Step" { on = 1; print "step pe ke etotal temp press virial"; next }
     $1 == "Loop" { on = 0 }
     on { $1 = $1; print }' log.mixture >totals.txt
rm log.mixture
