#include <algorithm>
#include <sstream>

#include "ring/simulated_ring.hpp"
#include "ring/synthetic_worker.hpp"

namespace dsea::sim {

Schedule SimProgram::schedule(int positions) const {
  std::vector<Order> orders;
  for (const SimKind& k : kinds) orders.push_back(k.order);
  return {orders, finish ? std::optional(finish->order) : std::nullopt, steps, positions, program_steps};
}

std::string SimProgram::text() const {
  std::ostringstream out;
  out << slabs << (periodic ? " periodic" : " open") << " slabs, " << fields << " fields, " << steps << " steps, delay "
      << feedback_delay << ", kinds";
  const auto one = [&](const SimKind& k) {
    out << " " << k.order.in << "/" << k.order.out << (k.observes ? "o" : "") << (k.feeds_back ? "f" : "") << ":";
    for (Use u : k.uses) out << "wrcC"[static_cast<int>(u)];
  };
  for (const SimKind& k : kinds) one(k);
  if (program_steps > 1) out << " for " << program_steps << " steps";
  if (finish) {
    out << " finish";
    one(*finish);
  }
  return out.str();
}

Slab initial(const SimProgram& program, int slab) {
  Slab values;
  for (int f = 0; f < program.fields; ++f) values.push_back(Hash(7).add(slab).add(f).value());
  return values;
}

SimProgram random_program(std::mt19937_64& random, int max_order, int max_slabs, int max_steps) {
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  SimProgram program;
  program.slabs = pick(1, 3) == 1 ? pick(1, std::min(4, max_slabs)) : pick(1, max_slabs);
  program.periodic = pick(0, 1) == 1;
  program.fields = pick(1, 3);
  program.steps = pick(0, max_steps);
  const int kinds = pick(1, 4);
  const bool scatters = pick(0, 2) != 0;
  const int small = pick(0, 1) == 0 ? std::min(2, max_order) : max_order;
  const auto kind = [&](bool may_scatter) {
    SimKind k;
    k.order = {pick(0, small), may_scatter && scatters ? pick(0, small) : 0};
    for (int f = 0; f < program.fields; ++f) {
      // With contributions: at least field 0 has them.
      const int last = k.order.out > 0 ? 3 : 2;
      k.uses.push_back(f == 0 && k.order.out > 0 ? Use::contribute : static_cast<Use>(pick(0, last)));
    }
    return k;
  };
  program.program_steps = pick(0, 2) == 0 ? pick(2, 3) : 1;
  for (int i = 0; i < kinds * program.program_steps; ++i) program.kinds.push_back(kind(true));
  if (pick(0, 2) == 0) program.finish = kind(false);
  return program;
}

std::int64_t add_feedback(SimProgram& program, std::mt19937_64& random, int positions) {
  const auto kinds = static_cast<std::int64_t>(program.kinds_a_step());
  // In every step one kind, here and there another, reports.
  std::int64_t writer = 0;
  for (std::int64_t step = 0; step < program.program_steps; ++step) {
    const auto place = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(kinds));
    program.kinds[static_cast<std::size_t>(step * kinds + place)].observes = true;
    writer = std::max(writer, place);
  }
  std::int64_t first_reader = kinds;
  const auto first = static_cast<std::int64_t>(random() % program.kinds.size());
  for (std::int64_t k = first; k < static_cast<std::int64_t>(program.kinds.size());
       k += 1 + static_cast<std::int64_t>(random() % 3)) {
    program.kinds[static_cast<std::size_t>(k)].feeds_back = true;
    first_reader = std::min(first_reader, k % kinds);
  }
  if (program.finish && random() % 2 == 0) {
    program.finish->feeds_back = true;
    first_reader = 0;
  }
  std::int64_t delay = 1;
  while (delay * kinds + first_reader - writer < positions) ++delay;
  return delay;
}

SimResult brute_force(const SimProgram& program) {
  const int n = program.slabs;
  const int all_kinds = static_cast<int>(program.kinds.size());
  const int kinds = program.kinds_a_step();
  SimResult result;
  for (int s = 0; s < n; ++s) result.slabs.push_back(initial(program, s));
  std::vector<Slab>& state = result.slabs;

  const auto index = [&](int slab, int d, int* shift) {  // -1: absent
    int target = slab + d;
    *shift = 0;
    while (program.periodic && target < 0) target += n, --*shift;
    while (program.periodic && target >= n) target -= n, ++*shift;
    return target < 0 || target >= n ? -1 : target;
  };
  const std::int64_t last = program.steps * kinds + (program.finish ? 1 : 0);
  for (std::int64_t substep = 0; substep < last; ++substep) {
    const int k = substep == program.steps * kinds ? all_kinds : static_cast<int>(substep % all_kinds);
    const std::int64_t step = substep / kinds;
    const SimKind& kind = program.kind(k);
    const bool fed = kind.feeds_back && step >= program.feedback_delay;
    const std::uint64_t feedback = fed ? result.sums.at(step - program.feedback_delay) : 0;
    std::vector<std::uint64_t> input, seen;
    for (int s = 0; s < n; ++s) {
      Hash hash = job_hash(substep, step, k, s, feedback);
      for (int d = -kind.order.in; d <= kind.order.in; ++d) {
        int shift = 0;
        const int from = index(s, d, &shift);
        add_input(hash, kind, from < 0 ? nullptr : &state[static_cast<std::size_t>(from)], shift);
      }
      input.push_back(hash.value());
      seen.push_back(observed(hash.value()));
    }
    std::vector<Slab> next = state;
    for (int s = 0; s < n; ++s) {
      for (int f = 0; f < program.fields; ++f) {
        const Use use = kind.uses[static_cast<std::size_t>(f)];
        std::uint64_t& value = next[static_cast<std::size_t>(s)][static_cast<std::size_t>(f)];
        if (use == Use::write) value = written(input[static_cast<std::size_t>(s)], f);
        if (use != Use::contribute) continue;
        value = merged(substep, s, f, kind.order.out, [&](int d) -> std::optional<std::uint64_t> {
          int shift = 0;
          const int source = index(s, d, &shift);
          if (source < 0) return std::nullopt;
          return contributed(input[static_cast<std::size_t>(source)], f, -d);
        });
      }
    }
    state = next;
    if (kind.observes) result.sums[step] = reduced(seen);
  }
  return result;
}

}  // namespace dsea::sim
