#!/usr/bin/env bash
# The digest of heat and ljmd is the same over transports local, mpi and ucx, over 1, 2 and 4 rails between four nodes, with
# one and two ranks a node, with and without relays. Usage: digests_test.sh FOLDER-OF-PROGRAMS
set -uo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
bin=$(cd -- "${1:?folder of the programs}" && pwd)
apps=$here/../../apps
cluster=$here/cluster.sh
export DSEA_CLUSTER=digests$((BASHPID % 1000000))
work=$(mktemp -d)
failed=0 compared=0
"$cluster" check || exit 77
trap '"$cluster" down >/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
"$cluster" up 4 4 none >/dev/null || exit 1

# shellcheck disable=SC2034 # used by name
heat=("$bin/heat" "$apps/heat/heat.toml" --set "grid.nx=48" --set "grid.ny=40" --set "grid.nz=40" --set run.steps=40)
# shellcheck disable=SC2034
ljmd=("$bin/ljmd" "$apps/ljmd/demo.toml" --set run.steps=30)

# digest COMMAND...: the last line of its output, or what went wrong
digest() {
  local output
  output=$("$@" 2>&1) || { printf 'failed: %s\n' "$output" && return; }
  grep '^digest ' <<<"$output" || printf 'no digest: %s\n' "$output"
}

for program in heat ljmd; do
  declare -n words=$program
  right=$(digest "${words[@]}" --out "$work/out" --ranks 3 --threads 1)
  [[ $right == digest\ * ]] || { printf 'FAILED: %s over local: %s\n' "$program" "$right" && exit 1; }
  # ranks a node, transport, rails, relays
  for run in "1 mpi 1 0" "1 ucx 1 0" "1 ucx 2 0" "1 ucx 4 0" "2 ucx 4 0" "2 ucx 2 1" "2 ucx 4 1"; do
    read -r ranks transport rails relays <<<"$run"
    names=$(seq -s '","' -f 'rail%g' 0 $((rails - 1)))
    options=(--transport "$transport" --set "ring.rails=[\"$names\"]")
    [[ $relays == 0 ]] || options+=(--set "ring.relays=true")
    seen=$(digest "$cluster" run "$ranks" -- "${words[@]}" --out "$work/out" --threads 1 "${options[@]}")
    ((++compared))
    [[ $seen == "$right" ]] && continue
    printf 'FAILED: %s, %s ranks a node, %s, %s rails, relays %s: %s instead of %s\n' "$program" "$ranks" "$transport" \
      "$rails" "$relays" "$seen" "$right"
    failed=1
  done
done
printf '%d digests compared\n' "$compared"
exit "$failed"
