// The bytes of a RingPlan.
#include <algorithm>
#include <map>
#include <utility>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/ring/ring_plan.hpp"

namespace dsea {

namespace {

std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

int RingPlan::buffers(int process, int field) const {
  if (problem_.layout[field].travels) return slots_of(process);
  int between = 0;
  for (int r = 1; r < request_.workers; ++r) between += slots(process, r);
  const bool last_makes = request_.workers == 1 || problem_.side_every > 0;
  return between + (last_makes ? request_.depth : 0);
}

std::vector<const Kind*> RingPlan::contributing_kinds(int position) const {
  std::vector<const Kind*> kinds;
  for (std::int64_t c = 0; c < std::min<std::int64_t>(schedule_.supercycles(), schedule_.kinds()); ++c) {
    const int k = schedule_.kind(schedule_.substep(position, c));
    if (k == Schedule::hand_on || schedule_.is_finish(k)) continue;
    const Kind* kind = &problem_.kinds[static_cast<std::size_t>(k)];
    if (kind->out > 0 && std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

int RingPlan::region_sets(int process, int worker) const {
  int sets = 0;
  for (const Kind* kind : contributing_kinds(position(process, worker))) {
    sets = std::max(sets, std::min(2 * kind->out + 1, topology_.slices()));
  }
  return sets;
}

std::size_t RingPlan::region_set_bytes(int process, int worker) const {
  std::map<std::pair<int, int>, std::size_t> largest;  // of a field and a source offset
  for (const Kind* kind : contributing_kinds(position(process, worker))) {
    for (const Kind::Region& region : kind->contributions) {
      const SliceLayout::Entry& entry = problem_.layout[region.field];
      const std::int64_t away = region.away == 0 ? entry.capacity : std::min(region.away, entry.capacity);
      for (int d = -kind->out; d <= kind->out; ++d) {
        std::size_t& bytes = largest[{region.field, d}];
        bytes = std::max(bytes, padded(entry.element_bytes * static_cast<std::size_t>(d == 0 ? entry.capacity : away)));
      }
    }
  }
  std::size_t sum = 0;
  for (const auto& [key, bytes] : largest) sum += bytes;
  return sum * static_cast<std::size_t>(topology_.lanes());
}

std::vector<MemoryRow> RingPlan::memory(int process) const {
  const auto lanes = static_cast<std::size_t>(topology_.lanes());
  std::vector<MemoryRow> rows;
  const auto add = [&](const std::string& what, std::int64_t count, std::size_t bytes, bool pinned = false) {
    if (count > 0 && bytes > 0) rows.push_back({what, count, bytes, pinned});
  };
  for (int f = 0; f < problem_.layout.size(); ++f) {
    const SliceLayout::Entry& entry = problem_.layout[f];
    add(cat(entry.travels ? "field " : "side field ", entry.name), buffers(process, f), lanes * entry.padded_bytes());
  }
  std::map<std::size_t, int> regions;  // sets by their size
  for (int w = 0; w < request_.workers; ++w) regions[region_set_bytes(process, w)] += region_sets(process, w);
  for (const auto& [bytes, sets] : regions) add("contributions", sets, bytes);
  add("scratch", request_.workers, padded(problem_.scratch_bytes));
  add("snapshots", request_.snapshot_buffers, lanes * problem_.snapshot.bytes_per_slab());
  add("staging", request_.staging_slices, wire_bytes_, true);
  add("start passed on", process == 0 ? 0 : 2, wire_bytes_, request_.staging_slices > 0);
  return rows;
}

std::size_t RingPlan::bytes(int process) const {
  std::size_t sum = 0;
  for (const MemoryRow& row : memory(process)) sum += row.pinned_host ? 0 : row.bytes();
  return sum;
}

int RingPlan::largest_process() const {
  int largest = 0;
  std::size_t most = 0;
  for (int p = 0; p < request_.processes; ++p) {
    const std::size_t needed = bytes(p);
    if (needed <= most) continue;
    most = needed;
    largest = p;
  }
  return largest;
}

void RingPlan::check_memory() {
  if (!request_.memory) return;
  const int process = largest_process();
  const std::size_t needed = bytes(process);
  if (needed <= *request_.memory) return;
  if (request_.only_warn) {
    warnings_.push_back(cat("process ", process, " needs ", bytes_text(static_cast<double>(needed)),
                            " of memory, more than it would have on this machine"));
    return;
  }
  throw UsageError(cat("process ", process, " needs ", bytes_text(static_cast<double>(needed)), " of memory for ",
                       slots_of(process), " slots, but has ", bytes_text(static_cast<double>(*request_.memory)),
                       ": use more processes", request_.workers > 1 ? ", fewer workers a process" : "",
                       request_.slots == SlotChoice::given ? ", fewer slots" : "", " or a smaller data set\n",
                       bytes_text_of(process)));
}

}  // namespace dsea
