#include "comm/nccl_ranks.hpp"

#include "comm/mock_nccl.hpp"
#include "dsea/comm/local_transport.hpp"

namespace comm_test {

NcclRanks::NcclRanks(int ranks)
    : ranks_(ranks),
      base_(dsea::make_local_transports(ranks)),
      offers_(dsea::make_local_transports(ranks)),
      answers_(dsea::make_local_transports(ranks)),
      meeting_(ranks),
      brought_(static_cast<std::size_t>(ranks)) {
  device(ranks - 1);  // throws here, where nobody waits, if DSEA_SHIM_DEVICES is less
}

dsea::NcclWorld NcclRanks::world(int rank) {
  const auto r = static_cast<std::size_t>(rank);
  const std::size_t mirrored = static_cast<std::size_t>(ranks_ - 1) - r;
  dsea::NcclWorld world;
  world.base = std::move(base_[r]);
  if (ranks_ > 1) {
    dsea::Transport& offers = *offers_[r];
    dsea::Transport& answers = *answers_[mirrored];
    world.next = {&offers.to_next(), &answers.from_previous()};
    world.previous = {&answers.to_next(), &offers.from_previous()};
  }
  world.exchange = [this, r](std::span<const std::byte> mine) {
    brought_[r].assign(mine.begin(), mine.end());
    meeting_.arrive_and_wait();
    auto all = brought_;
    meeting_.arrive_and_wait();
    return all;
  };
  return world;
}

dsea::Device NcclRanks::device(int rank) { return dsea::Device::open({.backend = "cuda", .index = rank}); }

std::unique_ptr<dsea::Transport> NcclRanks::transport(int rank, const dsea::NcclOptions& options) {
  return dsea::make_nccl_transport(world(rank), device(rank), mock_nccl::api(), options);
}

}  // namespace comm_test
