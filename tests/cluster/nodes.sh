# Nodes and their networks. Sourced by cluster.sh.
# shellcheck shell=bash
#
# A node is a set of namespaces: network, host name, processes, shared memory and mounts. Its first process waits for ever
# and takes in orphans; when it is killed, the kernel ends the whole node. en0, the head, shares the machine's processes,
# because only from there can the nodes' be entered. Switches are bridges in a network namespace of their own.
: "${name:?}" "${state:?}" "${here:?}"

# ---- what is there ------------------------------------------------------------------------------------------------
namespaces() { ip netns list 2>/dev/null | awk '{print $1}' | grep -E "^$name-(sw|try[0-9]+|[0-9]+)$" || true; }
settings() { cat "$state/settings" 2>/dev/null; } # "NODES RAILS RATE", written when the cluster is complete

# Sets nodes, rails_count and rate; fails when there is no complete cluster.
need_cluster() {
  read -r nodes rails_count rate < <(settings) || fail "there is no cluster '$name': ./dev cluster up makes one"
  need_root
}

need_root() { [[ $EUID -eq 0 ]] || fail "emulated nodes need root: run it as root, or by sudo"; }

# number WHAT VALUE LEAST MOST
number() {
  [[ $2 =~ ^(0|[1-9][0-9]{0,3})$ ]] && (($2 >= $3)) && (($2 <= $4)) && return
  fail "$1 is a number from $3 to $4, not '$2'"
}

# Sets node to the number in "2" or "en2".
need_node() {
  node=${1#en}
  number "a node of cluster '$name'" "$node" "${2-1}" "$nodes"
}

# ---- entering a node ----------------------------------------------------------------------------------------------
# enter K COMMAND...: runs it on node K (0: the head) in the present folder.
enter() {
  local k=$1 pid net kinds=(-n -u -i -m)
  shift
  read -r pid net <"$state/nodes/$k/pid" || fail "en$k was never started: ./dev cluster down, then up"
  # The machine may have been started anew since, and the number may be somebody else's.
  [[ $(readlink "/proc/$pid/ns/net") == "$net" ]] || fail "en$k is gone: ./dev cluster down, then up"
  ((k == 0)) || kinds+=(-p)
  nsenter -t "$pid" "${kinds[@]}" env -C "$PWD" TMPDIR="$state/tmp" "$@"
}

exec_on() {
  (($# >= 2)) || fail "usage: exec K COMMAND..."
  need_cluster
  need_node "$1" 0
  shift
  enter "$node" "$@"
}

# ---- making -------------------------------------------------------------------------------------------------------
# Ends with 2 and the remedy where the machine cannot do it; makes and removes one of everything.
check_machine() {
  need_root
  local tool why try=$name-try$BASHPID
  local container="in a container: start it with --privileged, or with --cap-add SYS_ADMIN --cap-add NET_ADMIN --security-opt seccomp=unconfined"
  for tool in ip tc nsenter unshare setsid mpirun; do
    command -v "$tool" >/dev/null || fail "'$tool' is missing: ./dev setup cluster installs it"
  done
  why=$(ip netns add "$try" 2>&1 && ip netns exec "$try" unshare --uts --ipc --mount --pid --fork true 2>&1) || {
    ip netns del "$try" 2>/dev/null || true
    fail "this machine does not allow network namespaces: ${why//$'\n'/; }
  $container"
  }
  why=$(
    ip -n "$try" link add switch type bridge 2>&1 && ip -n "$try" link add port0 type veth peer name port1 2>&1 &&
      ip netns exec "$try" tc qdisc add dev port0 root tbf rate 1mbit burst 256kb latency 50ms 2>&1
  ) || {
    ip netns del "$try"
    fail "this machine does not make switches and shaped rails: $why
  $container; else load what the kernel may lack: modprobe -a bridge veth sch_tbf"
  }
  ip netns del "$try"
}

# wire K NETWORK ADDRESS DEVICE: a cable from node K to the switch of a network.
wire() {
  local node=$name-$1 switch=$name-sw port=p$2-$1
  ip link add "$4" netns "$node" type veth peer name "$port" netns "$switch"
  ip -n "$switch" link set "$port" master "br$2" up
  ip -n "$node" addr add "$3/24" dev "$4"
  ip -n "$node" link set "$4" up
}

start_node() {
  local kinds=(--uts --ipc --mount)
  (($1 == 0)) || kinds+=(--pid --fork --kill-child)
  setsid ip netns exec "$name-$1" unshare "${kinds[@]}" sh "$here/first_process.sh" "$1" "$state" \
    </dev/null >"$state/nodes/$1/log" 2>&1 &
}

up() {
  (($# <= 3)) || fail "usage: up [N] [RAILS] [RATE]"
  local n=${1:-4} rails=${2:-4} rate=${3:-400mbit} k r
  number "N, the number of nodes," "$n" 1 200
  number "RAILS" "$rails" 1 16
  [[ $rate == none || $rate =~ ^[0-9]+(\.[0-9]+)?[kmgt]?bit$ ]] || fail "RATE is tc's, such as 400mbit or 10gbit, or none; not '$rate'"
  need_root
  [[ -z $(settings) ]] || fail "cluster '$name' is up already, with nodes, rails, rate: $(settings); ./dev cluster down removes it"
  [[ ! -e $state && -z $(namespaces) ]] || fail "something of a cluster '$name' is left over: ./dev cluster down removes it"
  check_machine

  mkdir "$state" || fail "somebody else is making a cluster '$name' just now"
  trap 'down >/dev/null; echo "cluster: up was not finished; all of it is removed" >&2' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  mkdir -p "$state/tmp"
  {
    echo "127.0.0.1 localhost"
    echo "10.90.0.254 en0"
    for ((k = 1; k <= n; ++k)); do echo "10.90.0.$k en$k"; done
  } >"$state/hosts"

  ip netns add "$name-sw"
  for r in m $(seq 0 $((rails - 1))); do
    ip -n "$name-sw" link add "br$r" type bridge
    ip -n "$name-sw" link set "br$r" up
  done
  for ((k = n; k >= 0; --k)); do
    mkdir -p "$state/nodes/$k/tmp"
    ip netns add "$name-$k"
    ip -n "$name-$k" link set lo up
    wire "$k" m "10.90.0.$((k ? k : 254))" ethm
    for ((r = 0; k && r < rails; ++r)); do
      wire "$k" "$r" "10.$((91 + r)).0.$k" "rail$r"
      [[ $rate == none ]] || tc -n "$name-$k" qdisc add dev "rail$r" root tbf rate "$rate" burst 256kb latency 50ms
    done
    start_node "$k"
  done
  for ((k = 0; k <= n; ++k)); do
    for ((r = 0; r < 200; ++r)); do
      [[ ! -s $state/nodes/$k/pid ]] || continue 2
      sleep 0.05
    done
    cat "$state/nodes/$k/log" >&2
    fail "en$k did not start within 10 s"
  done
  printf '#!/bin/sh\nDSEA_CLUSTER=%s exec "%s/cluster.sh" rsh "$@"\n' "$name" "$here" >"$state/rsh"
  chmod +x "$state/rsh"
  echo "$n $rails $rate" >"$state/settings"
  trap - EXIT INT TERM HUP
  echo "cluster '$name' is up: $n nodes en1..en$n, $rails rails of $rate each"
}

# ---- removing -----------------------------------------------------------------------------------------------------
# Goes by the names of namespaces, not by what the state folder says, so that nothing half-made is missed.
down() {
  need_root
  local all ns pids tries
  all=$(namespaces)
  [[ -n $all || -e $state ]] || { echo "there is no cluster '$name'" && return 0; }
  for ns in $all; do
    for ((tries = 0; tries < 100; ++tries)); do
      mapfile -t pids < <(ip netns pids "$ns" 2>/dev/null)
      ((${#pids[@]})) || break
      kill -KILL "${pids[@]}" 2>/dev/null || true # some end by themselves meanwhile
      sleep 0.02
    done
    ((${#pids[@]} == 0)) || echo "cluster: processes of ${ns#"$name"-} do not end: ${pids[*]}" >&2
    ip netns del "$ns"
  done
  rm -rf -- "$state"
  echo "cluster '$name' is removed"
}

# ---- looking and cutting ------------------------------------------------------------------------------------------
link() {
  [[ $# == 3 && ($3 == up || $3 == down) ]] || fail "usage: link K RAIL up|down"
  need_cluster
  need_node "$1"
  number "a rail of cluster '$name'" "${2#rail}" 0 $((rails_count - 1))
  ip -n "$name-$node" link set "rail${2#rail}" "$3"
}

rails() {
  need_cluster
  local k r
  echo "node rail sent_bytes received_bytes"
  for ((k = 1; k <= nodes; ++k)); do
    # shellcheck disable=SC2016 # the node's shell expands it
    for ((r = 0; r < rails_count; ++r)); do echo "en$k rail$r"; done |
      enter "$k" sh -c 'while read -r node rail; do
        read -r sent <"/sys/class/net/$rail/statistics/tx_bytes"; read -r got <"/sys/class/net/$rail/statistics/rx_bytes"
        echo "$node $rail $sent $got"; done'
  done
}

status() {
  if [[ -z $(settings) ]]; then
    [[ ! -e $state && -z $(namespaces) ]] && echo "there is no cluster '$name'" && exit 1
    echo "something of a cluster '$name' is left over: ./dev cluster down removes it" && exit 1
  fi
  need_cluster
  local k r cut programs
  echo "cluster '$name': $nodes nodes, $rails_count rails of $rate each; Slurm is $(slurm_is_up && echo up || echo down)"
  for ((k = 1; k <= nodes; ++k)); do
    cut=""
    for ((r = 0; r < rails_count; ++r)); do
      ip -n "$name-$k" -o link show "rail$r" up | grep -q . || cut+=" rail$r"
    done
    programs=$(programs "$k" | awk '{print $2}' | sort | uniq -c | awk '{printf "%s %s x %d", (NR > 1 ? "," : ""), $2, $1}')
    echo "  en$k: rails cut:${cut:- none}; runs:${programs:- nothing}"
  done
}

# programs K: number and name of each process on node K, without its first two and without dead ones.
programs() {
  enter "$1" ps -e -o pid=,ppid=,stat=,comm= | awk '$1 != 1 && $2 != 0 && $3 !~ /^Z/ && !($2 == 1 && $4 == "sleep") {print $1, $4}'
}
