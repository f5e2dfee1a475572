// The load thread, on all ranks but the first: makes this rank's share of the slices of the start, and passes on what
// the ranks before it have made. Slices come to rank 0 in their order; rank r makes slices r, r + P, ... of P ranks,
// rank 0 its own.
#include "dsea/base/check.hpp"
#include "dsea/ring/ring.hpp"

namespace dsea {

void Ring::load_role() {
  const int slices = topology_.slices(), ranks = transport_.size();
  for (auto* start : {&own_start_, &other_start_}) {
    *start = std::make_unique<StartSlice>(device_, problem_.layout, topology_.lanes());
  }
  if (rank_ < slices) make_start(rank_, *own_start_);
  for (int slice = 1; slice < slices; ++slice) {
    const int maker = slice % ranks;
    if (maker == 0 || maker > rank_) continue;
    if (maker < rank_) {
      receive_start(slice, *other_start_);
      send_start(*other_start_);
    } else {
      send_start(*own_start_);
      if (slice + ranks < slices) make_start(slice + ranks, *own_start_);  // while the others make theirs
    }
    moved();
  }
  own_start_.reset();
  other_start_.reset();
}

void Ring::make_start(int slice, StartSlice& start) {
  load_status_.set("makes a slice of the start", slice);
  start.header = start_header(slice);
  for (int lane = 0; lane < topology_.lanes(); ++lane) {
    RawField* fields = start.memory.blank(lane);
    const int slab = topology_.slab(slice, lane);
    if (slab >= 0) init_slab(slab, fields);
    for (int f = 0; f < problem_.layout.size(); ++f) start.header.counts[f][lane] = *fields[f].count;
  }
  ++report_.loaded;
  moved();
}

std::vector<Segment> Ring::start_segments(StartSlice& start) const {
  const RawField* lanes[max_lanes] = {};
  for (int lane = 0; lane < topology_.lanes(); ++lane) lanes[lane] = start.memory.own(lane);
  std::vector<Segment> segments = body_segments(travelling_fields(problem_.layout), start.header, lanes);
  for (Segment& s : segments) s.on_device = false;
  return segments;
}

void Ring::receive_start(int slice, StartSlice& start) {
  load_status_.set("receives a slice of the start", slice);
  ReceivePort& port = transport_.load_from_previous();
  const Segment head{&start.header, sizeof start.header, false};
  transfer(port, {&head, 1});
  check_header(start.header, slice, 0);
  DSEA_CHECK_EQ(start.header.magic, SliceHeader::magic_value, "a slice of the start came in parts");
  transfer(port, start_segments(start));
}

void Ring::send_start(StartSlice& start) {
  load_status_.set("sends a slice of the start to the next rank", start.header.slice);
  SendPort& port = transport_.load_to_next();
  const Segment head{&start.header, sizeof start.header, false};
  transfer(port, {&head, 1}, load_connection);
  transfer(port, start_segments(start), load_connection);
}

}  // namespace dsea
