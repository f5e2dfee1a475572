// A slice of the start that belongs to no slot: made on its way to rank 0, or passed on.
#pragma once

#include "dsea/ring/host_slice.hpp"
#include "dsea/slice/header.hpp"

namespace dsea {

struct StartSlice {
  StartSlice(const Device& device, const SliceLayout& layout, int lanes) : memory(device, layout, lanes, true) {}
  SliceHeader header;
  HostSlice memory;
};

}  // namespace dsea
