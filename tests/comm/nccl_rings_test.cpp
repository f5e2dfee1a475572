// A whole ring whose slices travel by transport nccl, from its filling to its draining.
#include <gtest/gtest.h>

#include <exception>
#include <thread>

#include "comm/mock_nccl.hpp"
#include "comm/nccl_ranks.hpp"
#include "dsea/app/rank_run.hpp"
#include "dsea/dsea.hpp"
#include "kernels/heat/heat.hpp"

namespace {

const std::string text =
    "[run]\nsteps = 11\n[grid]\nnx = 7\nny = 20\nnz = 40\n[boundary]\nx = \"periodic\"\ny = \"insulated\"\n"
    "[heat]\nstart = \"random\"\n[ring]\nworkers = 2\n";

std::unique_ptr<dsea::WorkerProgram> make(const dsea::Config& config) {
  return std::make_unique<dsea::ProgramOf<heat::Heat>>(config);
}

std::uint64_t digest_of_ring(int ranks) {
  mock_nccl::reset();
  comm_test::NcclRanks all(ranks);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  std::uint64_t digest = 0;
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          const dsea::Config config = dsea::Config::from_text(text);
          const auto transport = all.transport(rank);
          dsea::RankRun run(make, config, {.backend = "cuda", .index = rank}, *transport, dsea::Log(), ranks);
          try {
            const dsea::RingOutcome outcome = run.run(dsea::ring_options(dsea::RunSettings::read(config)), {});
            if (rank == 0) digest = outcome.digest;
          } catch (...) {
            transport->fail(3, "on purpose");
            throw;
          }
        } catch (const std::exception& error) {
          ADD_FAILURE() << "rank " << rank << ": " << error.what();
        }
      });
    }
  }
  EXPECT_EQ(mock_nccl::misuse(), "");
  EXPECT_GT(mock_nccl::counts().groups, 6 * ranks) << "slices travelled some other way";
  return digest;
}

TEST(NcclRings, GiveTheSameDigestAsOneProcess) {
  const std::uint64_t expected =
      dsea::run_local<heat::Heat>(dsea::Config::from_text(text), 1, {.backend = "host"}).digest();
  for (const int ranks : {2, 3}) EXPECT_EQ(digest_of_ring(ranks), expected) << ranks << " ranks";
}

}  // namespace
