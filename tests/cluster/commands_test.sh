#!/usr/bin/env bash
# What the cluster's commands promise: whole nodes, refusals with the remedy, and nothing left behind.
# shellcheck disable=SC2016 # what stands in single quotes is for the nodes
set -uo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
cluster=$here/cluster.sh
export DSEA_CLUSTER=commands$((BASHPID % 1000000))
work=$(mktemp -d)
failed=0
"$cluster" check || exit 77
trap '"$cluster" down >/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
cd -- "$work" || exit 1

# expect WHAT CODE PATTERN COMMAND...: its exit code, and what its output must match
expect() {
  local what=$1 code=$2 pattern=$3 output seen=0
  shift 3
  output=$("$@" 2>&1) || seen=$?
  if [[ $seen != "$code" ]] || ! grep -Eq -- "$pattern" <<<"$output"; then
    printf 'FAILED: %s: exit code %s (expected %s), output (expected %s):\n%s\n' "$what" "$seen" "$code" "$pattern" "$output"
    failed=1
  fi
}
nothing_left() {
  ! ip netns list | grep -q "^$DSEA_CLUSTER-" && [[ ! -e /tmp/dsea-cluster-$DSEA_CLUSTER ]] &&
    ! pgrep -f "/dsea-cluster-$DSEA_CLUSTER/" >/dev/null
}

expect "a name that is none" 2 "DSEA_CLUSTER='a-b'" env DSEA_CLUSTER=a-b "$cluster" status
expect "no command of this name" 2 "no command 'upp'" "$cluster" upp
expect "no cluster yet" 2 "cluster up makes one" "$cluster" rails
expect "no cluster to look at" 1 "there is no cluster" "$cluster" status
expect "down without a cluster" 0 "there is no cluster" "$cluster" down
for arguments in "0" "201" "x" "2 0" "2 17" "2 2 fast" "2 2 4" "-1"; do
  # shellcheck disable=SC2086 # several arguments
  expect "up $arguments" 2 "N, the number of nodes|RAILS|RATE" "$cluster" up $arguments
done

expect "up" 0 "2 nodes en1..en2, 2 rails of 100mbit" "$cluster" up 2 2 100mbit
expect "up twice" 2 "cluster down removes it" "$cluster" up
expect "another one beside it" 0 "1 nodes" env DSEA_CLUSTER="${DSEA_CLUSTER}b" "$cluster" up 1 1 none
expect "a host name of its own" 0 "^en2$" "$cluster" exec 2 hostname
expect "no node 3" 2 "from 0 to 2, not '3'" "$cluster" exec 3 hostname
expect "processes of its own" 0 "^ *1 sh$" "$cluster" exec en1 ps -p 1 -o pid=,comm=
expect "the command's exit code" 7 "" "$cluster" exec 1 sh -c 'exit 7'
expect "shared memory of its own" 0 "^ok$" sh -c "'$cluster' exec 1 touch /dev/shm/x && '$cluster' exec 2 test ! -e /dev/shm/x && echo ok"
expect "rails reach each other" 1 "Connection refused" "$cluster" exec 1 bash -c 'exec 3<>/dev/tcp/10.92.0.2/9'
expect "a cut rail" 0 "" "$cluster" link 2 rail1 down
expect "status names it" 0 "en2: rails cut: rail1;" "$cluster" status
expect "a cut rail reaches nobody" 124 "^$" "$cluster" exec 1 timeout 1 bash -c 'exec 3<>/dev/tcp/10.92.0.2/9'
expect "a rail that is not there" 2 "from 0 to 1, not '2'" "$cluster" link 1 2 down
expect "a rail restored" 0 "" "$cluster" link 2 1 up
expect "status names it no more" 0 "en2: rails cut: none" "$cluster" status
expect "counters of every rail" 0 "^en2 rail1 [0-9]+ [0-9]+$" "$cluster" rails

printf '#!/bin/sh\necho "$(hostname) rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE $OMP_NUM_THREADS $LANGUAGE."\n' >program
chmod +x program
expect "run by a relative path, only named variables" 0 "^en2 rank 1 of 2 3 \.$" \
  env OMP_NUM_THREADS=3 LANGUAGE=x "$cluster" run 1 -- ./program
expect "run on one node" 0 "^en2 rank 1 of 2 " "$cluster" run 2 en2 -- ./program
expect "run without a program" 2 "usage: run" "$cluster" run 1 --
expect "run's exit code" 3 "" "$cluster" run 1 -- sh -c 'exit 3'

if command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null; then
  expect "slurm before slurm-up" 2 "slurm-up starts it" "$cluster" slurm sinfo
  expect "slurm-up" 0 "2 nodes with 1 GPUs" "$cluster" slurm-up 1
  expect "slurm-up twice" 2 "is up already" "$cluster" slurm-up 1
  expect "srun gives GPUs" 0 "^en2 0$" "$cluster" slurm srun -N 2 --gpus-per-node=1 sh -c 'echo "$(hostname) $CUDA_VISIBLE_DEVICES"'
  expect "slurm-down" 0 "stopped" "$cluster" slurm-down
  expect "no daemon is left" 1 "^$" sh -c "'$cluster' exec 1 pgrep slurm"
  expect "slurm-up again, for down to find" 0 "2 nodes" "$cluster" slurm-up 0
fi

"$cluster" exec 1 sleep 1000 2>/dev/null & # as a job that down must end
sleeper=$!
expect "down" 0 "is removed" "$cluster" down
wait "$sleeper"
nothing_left || { echo "FAILED: down left something" && failed=1; }
expect "the other one still there" 0 "1 nodes" env DSEA_CLUSTER="${DSEA_CLUSTER}b" "$cluster" status
env DSEA_CLUSTER="${DSEA_CLUSTER}b" "$cluster" down >/dev/null

# up that is interrupted, at any moment, removes its half; up that is killed leaves it to down.
for signal in INT TERM KILL; do
  for delay in 0.02 0.1 0.2; do
    set -m # else bash makes its background commands ignore SIGINT
    "$cluster" up 8 4 none >/dev/null 2>&1 &
    set +m
    sleep "$delay"
    kill -"$signal" "$!" 2>/dev/null
    wait "$!" 2>/dev/null
    [[ $signal != KILL ]] || sleep 0.2 # what it had started ends
    "$cluster" down >/dev/null
    nothing_left || { echo "FAILED: up ended by $signal after $delay s, and down, left something" && failed=1; }
  done
done
((failed)) || echo "all as expected"
exit "$failed"
