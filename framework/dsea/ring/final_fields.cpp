#include "dsea/ring/final_fields.hpp"

namespace dsea {

FieldMask travelling_fields(const SliceLayout& layout) {
  FieldMask fields = 0;
  for (int f = 0; f < layout.size(); ++f) fields |= layout[f].travels ? bit_of(f) : 0;
  return fields;
}

std::size_t bytes_of(const SliceLayout& layout, FieldMask fields) {
  std::size_t bytes = 0;
  for (int f = 0; f < layout.size(); ++f) bytes += (fields & bit_of(f)) != 0 ? layout[f].bytes() : 0;
  return bytes;
}

FieldMask final_fields(const SliceLayout& layout, const Kind& kind) {
  constexpr std::size_t least_share = 4;
  FieldMask fields = 0;
  for (int f = 0; f < layout.size(); ++f) {
    const Use use = kind.use(f);
    if (use == Use::read || use == Use::carry) fields |= bit_of(f);
  }
  fields &= travelling_fields(layout);
  const bool worth = least_share * bytes_of(layout, fields) >= bytes_of(layout, travelling_fields(layout));
  return worth ? fields : 0;
}

FieldMask final_fields(const Problem& problem, const Schedule& schedule, std::int64_t substep) {
  const int kind = substep < 0 ? Schedule::hand_on : schedule.kind(substep);
  if (kind == Schedule::hand_on) return 0;
  return final_fields(problem.layout,
                      schedule.is_finish(kind) ? *problem.finish : problem.kinds[static_cast<std::size_t>(kind)]);
}

}  // namespace dsea
