# A real Slurm across the nodes: controller and munge on en0, a daemon on each node. Sourced by cluster.sh.
# shellcheck shell=bash disable=SC2154 # node, nodes, mpi ...: set by functions of the other files
: "${name:?}" "${state:?}"

slurm_folder=$state/slurm
slurm_daemons() { # K: their numbers, as en0 sees them for 0, else as the node does
  if (($1 == 0)); then
    local pids
    pids=$(ip netns pids "$name-0" | paste -sd,)
    ps -o pid=,comm= -p "${pids:-0}" | awk '$2 ~ /^(slurmctld|munged)$/ {print $1}'
  else
    programs "$1" | awk '$2 ~ /^slurm(d|stepd)$/ {print $1}'
  fi
}
slurm_is_up() { [[ -e $slurm_folder/up ]]; }
slurm_run() { # K COMMAND...
  local k=$1
  shift
  enter "$k" env SLURM_CONF="$slurm_folder/slurm.conf" "$@"
}

slurm_configuration() { # GPUS
  local f=$slurm_folder gres="" k
  (($1 == 0)) || gres="Gres=gpu:$1"
  echo "CgroupPlugin=cgroup/v1" >"$f/cgroup.conf"
  : >"$f/gres.conf"
  (($1 == 0)) || echo "NodeName=en[1-$nodes] Name=gpu File=$f/dev/gpu[0-$(($1 - 1))]" >"$f/gres.conf"
  cat >"$f/slurm.conf" <<EOT
ClusterName=$name
SlurmctldHost=en0(10.90.0.254)
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket=$f/munge/socket
CredType=cred/munge
StateSaveLocation=$f/state
SlurmdSpoolDir=$f/spool/%n
SlurmctldPidFile=$f/slurmctld.pid
SlurmdPidFile=$f/slurmd-%n.pid
SlurmctldLogFile=$f/log/slurmctld
SlurmdLogFile=$f/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
# Jobs start and end within seconds, so that tests are short; nodes come back by themselves.
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
KillWait=5
InactiveLimit=0
MinJobAge=600
ReturnToService=2
MpiDefault=pmix
JobRequeue=1
TmpFS=$state/tmp
# More cores and memory than there may be.
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=en[1-$nodes] CPUs=8 RealMemory=8000 $gres State=UNKNOWN
PartitionName=all Nodes=en[1-$nodes] Default=YES MaxTime=01:00:00 State=UP OverTimeLimit=0
EOT
  for ((k = 1; k <= nodes; ++k)); do mkdir -p "$f/spool/en$k"; done
}

slurm_up() {
  (($# <= 1)) || fail "usage: slurm-up [GPUS]"
  local gpus=${1:-4} f=$slurm_folder k tool tries idle=0
  number "GPUS, the number of pretended GPUs of a node," "$gpus" 0 16
  need_cluster
  for tool in slurmctld slurmd sinfo munged; do
    command -v "$tool" >/dev/null || fail "'$tool' is missing: ./dev setup cluster installs it"
  done
  ! slurm_is_up || fail "Slurm is up already on cluster '$name': ./dev cluster slurm-down stops it"
  slurm_down >/dev/null
  mkdir -p "$f/dev" "$f/log" "$f/state" "$f/munge"
  chmod 755 "$f" "$f/munge"
  for ((k = 0; k < gpus; ++k)); do
    mknod "$f/dev/gpu$k" c 1 3 || fail "device files for pretended GPUs cannot be made here: ./dev cluster slurm-up 0 works without"
  done
  slurm_configuration "$gpus"

  (umask 077 && head -c 1024 /dev/urandom >"$f/munge/key")
  enter 0 munged --force --key-file="$f/munge/key" --socket="$f/munge/socket" --pid-file="$f/munge/pid" \
    --log-file="$f/log/munged" --seed-file="$f/munge/seed" || fail "munged did not start: see $f/log/munged"
  slurm_run 0 slurmctld -i || fail "slurmctld did not start: see $f/log/slurmctld"
  for ((k = 1; k <= nodes; ++k)); do slurm_run "$k" slurmd || fail "slurmd did not start on en$k: see $f/log"; done
  for ((tries = 0; tries < 150; ++tries)); do
    idle=$(slurm_run 0 sinfo -h -N -t idle 2>/dev/null | wc -l)
    ((idle < nodes)) || break
    sleep 0.2
  done
  ((idle == nodes)) || fail "only $idle of $nodes nodes became idle within 30 s: see $f/log"
  touch "$f/up"
  echo "Slurm is up on cluster '$name': $nodes nodes with $gpus GPUs each; ./dev cluster slurm sinfo shows them"
}

slurm() {
  (($#)) || fail "usage: slurm COMMAND..., such as: slurm srun -N 2 hostname"
  need_cluster
  slurm_is_up || fail "Slurm is not up on cluster '$name': ./dev cluster slurm-up starts it"
  mpi_environment
  slurm_run 0 env "${mpi[@]}" "$@"
}

slurm_down() {
  need_cluster
  local k pids tries
  for ((tries = 0; tries < 50; ++tries)); do
    for ((k = 0; k <= nodes; ++k)); do
      mapfile -t pids < <(slurm_daemons "$k")
      ((${#pids[@]} == 0)) || {
        enter "$k" kill -KILL "${pids[@]}" 2>/dev/null || true
        continue 2
      }
    done
    break
  done
  rm -rf -- "$slurm_folder"
  echo "Slurm is stopped on cluster '$name'"
}
