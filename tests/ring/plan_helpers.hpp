// Problems for tests of the plan: a few lists, kinds by their orders.
#pragma once

#include <string>
#include <vector>

#include "dsea/ring/program.hpp"
#include "dsea/ring/ring_plan.hpp"
#include "ring/simulated_ring.hpp"

namespace dsea::test {

inline Kind kind(const std::string& name, Order order, Field<double> field) {
  Kind k(name, order.in, order.out);
  if (order.out > 0) k.contributes(field);
  return k;
}

inline Problem problem(int slabs, bool periodic, const std::vector<Order>& orders,
                       std::optional<Order> finish = std::nullopt) {
  Problem p;
  p.slabs = slabs;
  p.periodic = periodic;
  const auto x = p.layout.list<double>("x", 10);
  for (std::size_t k = 0; k < orders.size(); ++k) p.kinds.push_back(kind("kind" + std::to_string(k), orders[k], x));
  if (finish) p.finish = kind("finish", *finish, x);
  return p;
}

/// The problem that a synthetic program stands for, as far as a plan looks at it.
inline Problem problem(const sim::SimProgram& program) {
  std::vector<Order> orders;
  for (const auto& k : program.kinds) orders.push_back(k.order);
  Problem p = problem(program.slabs, program.periodic, orders,
                      program.finish ? std::optional(program.finish->order) : std::nullopt);
  p.program_steps = program.program_steps;
  const Observable o = p.observable("sum");
  for (std::size_t k = 0; k < program.kinds.size(); ++k) {
    if (program.kinds[k].observes) p.kinds[k].observes(o);
    if (program.kinds[k].feeds_back) p.kinds[k].feeds_back(o);
  }
  if (program.finish && program.finish->feeds_back) p.finish->feeds_back(o);
  return p;
}

inline std::vector<std::vector<int>> slots(const RingPlan& plan) {
  std::vector<std::vector<int>> all;
  for (int p = 0; p < plan.request().processes; ++p) all.push_back(plan.setup(p).slots);
  return all;
}

}  // namespace dsea::test
