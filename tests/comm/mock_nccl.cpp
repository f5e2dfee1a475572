#include "comm/mock_nccl.hpp"

#include <cuda_runtime_api.h>

#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace mock_nccl {
namespace {

constexpr int invalid_usage = 5, internal_error = 3, invalid_argument = 4;

struct Op {
  bool send = false;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

struct Link {
  int number = 0;
  bool corrupt = false;
  int device[2] = {-1, -1};
  bool aborted[2] = {false, false};
  int error = 0;
  const Op* offer = nullptr;  // of the sender, until the receiver has it
  std::size_t of = 0;         // messages in its group
};

struct Comm {
  std::shared_ptr<Link> link;
  int rank = 0;
  bool ready = false, finalizing = false, sent = false, received = false;
  int questions = 0;
  std::vector<Op> pending;
  cudaStream_t stream = nullptr;
};

struct Batch {
  std::shared_ptr<Link> link;
  int rank = 0;
  std::vector<Op> ops;
};

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::shared_ptr<Link>> links;  // by id
  std::map<int, std::vector<int>> orders;              // of links, by device
  Counts counts;
  std::string misuse;
  int fail_next = 0;
  bool corrupt = false;
  int ids = 0;
};

State& state() {
  static State all;
  return all;
}

void note(const std::string& what) { state().misuse += what + "\n"; }

thread_local int group_depth = 0;
thread_local Comm* group_comm = nullptr;
thread_local int group_error = 0;

Comm* as_comm(dsea::NcclComm comm) { return static_cast<Comm*>(comm); }

bool in_progress(const Comm& comm) { return !comm.ready || !comm.pending.empty() || comm.finalizing; }

int get_version(int* version) {
  *version = 21805;
  return 0;
}

int get_unique_id(dsea::NcclUniqueId* id) {
  const std::scoped_lock lock(state().mutex);
  const std::string text = "link " + std::to_string(++state().ids);
  std::memcpy(id->bytes, text.c_str(), text.size() + 1);
  return 0;
}

int comm_init(dsea::NcclComm* result, int ranks, dsea::NcclUniqueId id, int rank, dsea::NcclConfig* config) {
  int device = -1;
  cudaGetDevice(&device);
  const std::scoped_lock lock(state().mutex);
  *result = nullptr;
  if (ranks != 2 || config->size != sizeof *config || config->magic != 0xcafebeef) return invalid_argument;
  if (config->blocking != 0) note("a communicator that blocks");
  std::shared_ptr<Link>& link = state().links[id.bytes];
  if (!link) {
    link = std::make_shared<Link>();
    link->number = static_cast<int>(state().links.size());
    link->corrupt = state().corrupt;
  }
  if (link->device[rank] >= 0) return invalid_usage;
  link->device[rank] = device;
  state().orders[device].push_back(link->number);
  ++state().counts.communicators;
  auto* const comm = new Comm;
  comm->link = link;
  comm->rank = rank;
  *result = comm;
  return dsea::nccl_in_progress;
}

/// What a kernel of NCCL does, in the stream's order.
void run(void* argument) {
  const std::unique_ptr<Batch> batch(static_cast<Batch*>(argument));
  Link& link = *batch->link;
  std::unique_lock lock(state().mutex);
  const auto wait = [&](auto condition) {
    state().changed.wait(lock, [&] { return condition() || link.aborted[batch->rank]; });
    return !link.aborted[batch->rank];
  };
  for (const Op& op : batch->ops) {
    if (op.send) {
      if (!wait([&] { return link.offer == nullptr; })) return;
      link.offer = &op;
      link.of = batch->ops.size();
      state().changed.notify_all();
      const bool taken = wait([&] { return link.offer != &op; });
      if (link.offer == &op) link.offer = nullptr;
      if (!taken) return;
    } else {
      if (!wait([&] { return link.offer != nullptr; })) return;
      if (link.offer->bytes != op.bytes || link.of != batch->ops.size()) {
        note("the two ends of a link bring messages of different sizes, or other groups");
        link.error = internal_error;
      } else {
        std::memcpy(op.data, link.offer->data, op.bytes);
        if (link.corrupt) op.data[0] ^= std::byte{1};
      }
      link.offer = nullptr;
      state().changed.notify_all();
    }
  }
}

/// The background work of a communicator: it gets on a little with every question.
int get_async_error(dsea::NcclComm handle, int* result) {
  Comm& comm = *as_comm(handle);
  const std::scoped_lock lock(state().mutex);
  Link& link = *comm.link;
  *result = link.error;
  if (link.error != 0 || !in_progress(comm)) return 0;
  *result = dsea::nccl_in_progress;
  if (!comm.ready && (link.device[0] < 0 || link.device[1] < 0)) return 0;  // the other one has not come
  if (!comm.ready && link.device[0] == link.device[1]) {
    *result = link.error = invalid_usage;
    return 0;
  }
  if (++comm.questions < 3) return 0;
  comm.questions = 0;
  comm.ready = true;
  comm.finalizing = false;
  *result = 0;
  if (comm.pending.empty()) return 0;
  auto batch = std::make_unique<Batch>(Batch{comm.link, comm.rank, std::exchange(comm.pending, {})});
  if (const int error = std::exchange(state().fail_next, 0)) {
    *result = link.error = error;
  } else if (cudaLaunchHostFunc(comm.stream, &run, batch.get()) != cudaSuccess) {
    *result = link.error = 1;
  } else {
    static_cast<void>(batch.release());
  }
  return 0;
}

int finalize(dsea::NcclComm handle) {
  const std::scoped_lock lock(state().mutex);
  if (in_progress(*as_comm(handle))) note("a communicator is finalised while it is busy");
  as_comm(handle)->finalizing = true;
  return as_comm(handle)->link->error != 0 ? as_comm(handle)->link->error : dsea::nccl_in_progress;
}

int end(dsea::NcclComm handle, bool abort) {
  const std::unique_ptr<Comm> comm(as_comm(handle));
  const std::scoped_lock lock(state().mutex);
  if (!abort && in_progress(*comm)) note("a communicator is destroyed while it is busy");
  ++(abort ? state().counts.aborted : state().counts.destroyed);
  comm->link->aborted[comm->rank] = true;
  state().changed.notify_all();
  return 0;
}
int destroy(dsea::NcclComm comm) { return end(comm, false); }
int abort(dsea::NcclComm comm) { return end(comm, true); }

int group_start() {
  ++group_depth;
  return 0;
}

int add(Op op, int type, int peer, dsea::NcclComm handle, void* stream) {
  Comm& comm = *as_comm(handle);
  cudaPointerAttributes memory{};
  cudaPointerGetAttributes(&memory, op.data);
  const std::scoped_lock lock(state().mutex);
  const auto refuse = [&](const char* why) {
    note(why);
    return group_error = invalid_usage;
  };
  if (group_depth != 1) return refuse("a message outside of a group");
  if (group_comm != nullptr && group_comm != &comm) return refuse("two communicators in a group");
  group_comm = &comm;
  if (!comm.ready || comm.finalizing) return refuse("a message of a communicator that is not ready");
  if (type != dsea::nccl_bytes || peer != 1 - comm.rank || op.bytes == 0)
    return refuse("a message that makes no sense");
  if (memory.type != cudaMemoryTypeDevice) return refuse("a message in host memory");
  if (memory.device != comm.link->device[comm.rank]) return refuse("a message in memory of another GPU");
  (op.send ? comm.sent : comm.received) = true;
  if (comm.sent && comm.received) note("a communicator is used in both directions");
  comm.pending.push_back(op);
  comm.stream = static_cast<cudaStream_t>(stream);
  ++state().counts.messages;
  return dsea::nccl_in_progress;
}
int send(const void* data, std::size_t count, int type, int peer, dsea::NcclComm comm, void* stream) {
  return add({true, static_cast<std::byte*>(const_cast<void*>(data)), count}, type, peer, comm, stream);
}
int receive(void* data, std::size_t count, int type, int peer, dsea::NcclComm comm, void* stream) {
  return add({false, static_cast<std::byte*>(data), count}, type, peer, comm, stream);
}

int group_end() {
  --group_depth;
  const std::scoped_lock lock(state().mutex);
  group_comm = nullptr;
  if (const int error = std::exchange(group_error, 0)) return error;
  ++state().counts.groups;
  return dsea::nccl_in_progress;
}

const char* error_string(int result) { return result == invalid_usage ? "invalid usage" : "remote process exited"; }
const char* last_error(dsea::NcclComm) { return "the mock says so"; }

/// Can this link be followed back to itself?
bool on_a_cycle(const std::map<int, std::set<int>>& before, int from) {
  std::set<int> seen;
  std::vector<int> todo{from};
  while (!todo.empty()) {
    const int link = todo.back();
    todo.pop_back();
    const auto found = before.find(link);
    if (found == before.end()) continue;
    for (const int next : found->second) {
      if (next == from) return true;
      if (seen.insert(next).second) todo.push_back(next);
    }
  }
  return false;
}

}  // namespace

dsea::NcclApi api() {
  return {&get_version, &get_unique_id, &comm_init, &get_async_error, &finalize,   &destroy, &abort,  &group_start,
          &group_end,   &send,          &receive,   &error_string,    &last_error, "mock",   "2.18.5"};
}

void reset() {
  const std::scoped_lock lock(state().mutex);
  state().links.clear();
  state().orders.clear();
  state().counts = {};
  state().misuse.clear();
  state().fail_next = 0;
  state().corrupt = false;
}

void fail_next_group(int result) {
  const std::scoped_lock lock(state().mutex);
  state().fail_next = result;
}

void fail_links(int result) {
  const std::scoped_lock lock(state().mutex);
  for (const auto& [id, link] : state().links) link->error = result;
}

void corrupt(bool on) {
  const std::scoped_lock lock(state().mutex);
  state().corrupt = on;
}

Counts counts() {
  const std::scoped_lock lock(state().mutex);
  return state().counts;
}

std::string misuse() {
  const std::scoped_lock lock(state().mutex);
  return state().misuse;
}

bool one_global_order() {
  const std::scoped_lock lock(state().mutex);
  std::map<int, std::set<int>> before;
  for (const auto& [device, order] : state().orders) {
    for (std::size_t i = 1; i < order.size(); ++i) before[order[i - 1]].insert(order[i]);
  }
  for (const auto& [link, followers] : before) {
    if (on_a_cycle(before, link)) return false;
  }
  return true;
}

}  // namespace mock_nccl
