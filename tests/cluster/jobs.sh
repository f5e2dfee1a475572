# Open MPI's programs across the nodes. Sourced by cluster.sh.
# shellcheck shell=bash disable=SC2154 # node, nodes, mpi ...: set by functions of the other files
: "${name:?}" "${state:?}"

# mpirun starts on en0. What it says about itself goes over ethm, messages of MPI over the rails unless the caller's
# environment says otherwise. The nodes are given nothing of the caller's environment but what is named here.
run() {
  local per=${1-} list="" hosts="" variables=() variable k
  number "PER_NODE, the number of ranks on each node," "$per" 1 64
  shift
  [[ ${1-} == -- ]] || { list=${1-} && shift; }
  [[ ${1-} == -- && -n ${2-} ]] || fail "usage: run PER_NODE [NODES] -- PROGRAM ARGS..."
  shift
  need_cluster
  [[ -n $list ]] || list=$(seq -s , 1 "$nodes")
  for k in ${list//,/ }; do
    need_node "$k"
    hosts+=,en$node:$per
  done
  for variable in $(compgen -e); do
    [[ ! $variable =~ ^(UCX_|DSEA_|OMP_|NCCL_|LD_LIBRARY_PATH$) ]] || variables+=(-x "$variable")
  done
  mpi_environment
  enter 0 env "${mpi[@]}" mpirun --mca plm rsh --mca plm_rsh_agent "$state/rsh" --mca plm_rsh_no_tree_spawn 1 \
    --mca oob_tcp_if_include ethm --bind-to none --oversubscribe --wdir "$PWD" -H "${hosts#,}" "${variables[@]}" "$@"
}

# Sets mpi: what Open MPI needs in its environment on these nodes, whoever starts it.
mpi_environment() {
  mpi=(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # more ranks than cores must not spin, and containers often forbid the system call of the single copy
    OMPI_MCA_mpi_yield_when_idle="${OMPI_MCA_mpi_yield_when_idle-1}"
    OMPI_MCA_btl_vader_single_copy_mechanism="${OMPI_MCA_btl_vader_single_copy_mechanism-none}"
    OMPI_MCA_btl_tcp_if_include="${OMPI_MCA_btl_tcp_if_include-$(seq -s , -f 'rail%g' 0 $((rails_count - 1)))}")
}

# Open MPI's launch agent, called on en0 in place of ssh: rsh [OPTIONS] HOST COMMAND...
rsh() {
  while [[ ${1-} == -* ]]; do shift; done
  need_cluster
  need_node "$1"
  shift
  cd / # as ssh would not keep the folder and the environment either
  enter "$node" env -i PATH="$PATH" HOME="${HOME-/root}" TMPDIR="$state/tmp" sh -c "$*"
}
