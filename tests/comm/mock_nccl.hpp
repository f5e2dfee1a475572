// An NCCL without NCCL, for ranks that are threads of one process, each with a GPU of the CUDA shim. As the real one in
// non-blocking mode it begins things and says "in progress" a few times; messages move in the order of the stream,
// when both ends have come. Stricter than the real one: what could hang or corrupt there is kept as a misuse here.
#pragma once

#include <string>

#include "dsea/comm/nccl_api.hpp"

namespace mock_nccl {

dsea::NcclApi api();

/// Forgets what was counted and noted. No communicator may be alive.
void reset();

/// The next group's link gets this error (ncclResult_t) at both ends, instead of the group's work.
void fail_next_group(int result);

/// All links that there are get this error, by themselves.
void fail_links(int result);

/// Links that are made from now on deliver other bytes than were sent.
void corrupt(bool on);

struct Counts {
  int communicators = 0, destroyed = 0, aborted = 0, groups = 0, messages = 0;
  bool operator==(const Counts&) const = default;
};
Counts counts();

/// What an honest user of NCCL never does, one a line.
std::string misuse();

/// Is there one order of all links in which every GPU made its own?
bool one_global_order();

}  // namespace mock_nccl
