#!/usr/bin/env bash
# An emulated cluster on one machine: nodes with networks of their own, Open MPI and Slurm across them. ./dev cluster
# calls this; README.md explains it. Exit codes: 2 bad usage or a machine that cannot do it, else the command's own.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin # not on everybody's path, though tc and slurmd are there
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'EOT'
usage: ./dev cluster COMMAND

  up [N] [RAILS] [RATE]        N nodes en1.. with data networks rail0.. of RATE each, both ways (4 4 400mbit; RATE "none":
                               not shaped); beside them en0, where mpirun and Slurm's controller run
  run PER_NODE [NODES] -- PROGRAM ARGS...   mpirun over the nodes (all, or a list such as 1,3) in this folder
  exec K COMMAND...            run a command on node K in this folder
  link K RAIL up|down          cut or restore one rail of node K
  rails                        bytes that every rail of every node has sent and received
  slurm-up [GPUS]              start Slurm on the nodes, each with so many pretended GPUs (4)
  slurm COMMAND...             a client command of Slurm: sbatch, srun, squeue, scancel ...
  slurm-down                   stop Slurm
  status                       what is there; exit code 1: nothing
  check                        whether this machine can carry a cluster
  down                         stop and remove everything, half-made clusters too
  faults [CASE...]             cut rails, kill and stop ranks on a cluster of its own; faults --list names the cases

Several clusters may be there at once: DSEA_CLUSTER=NAME ./dev cluster ... works on the one of that name ("dsea").
EOT
}

fail() {
  printf 'cluster: %s\n' "$*" >&2
  exit 2
}

name=${DSEA_CLUSTER:-dsea}
[[ $name =~ ^[a-z][a-z0-9]{0,15}$ ]] || fail "DSEA_CLUSTER='$name' is no name for a cluster: use up to 16 of a-z and 0-9"
state=/tmp/dsea-cluster-$name # fixed: TMPDIR differs between the nodes and the outside

# shellcheck source=tests/cluster/nodes.sh
source "$here/nodes.sh"
# shellcheck source=tests/cluster/jobs.sh
source "$here/jobs.sh"
# shellcheck source=tests/cluster/slurm.sh
source "$here/slurm.sh"

command=${1-help}
(($# == 0)) || shift
case $command in
  up) up "$@" ;;
  down) down "$@" ;;
  run) run "$@" ;;
  exec) exec_on "$@" ;;
  link) link "$@" ;;
  rails) rails "$@" ;;
  status) status "$@" ;;
  check) check_machine && echo "this machine can carry an emulated cluster" ;;
  slurm-up) slurm_up "$@" ;;
  slurm) slurm "$@" ;;
  slurm-down) slurm_down "$@" ;;
  rsh) rsh "$@" ;; # for mpirun only
  faults) exec /usr/bin/python3 "$here/faults.py" "$@" ;;
  help | -h | --help) usage ;;
  *)
    usage >&2
    fail "no command '$command'"
    ;;
esac
