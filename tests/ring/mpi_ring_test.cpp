// The same rings over MPI: each digest is that of a plain sweep.
#include <gtest/gtest.h>

#include "dsea/app/rank_run.hpp"
#include "dsea/base/log.hpp"
#include "dsea/comm/mpi_session.hpp"
#include "dsea/comm/mpi_transport.hpp"
#include "ring/settings.hpp"

namespace {

using synthetic::Setting;
using synthetic::Shape;

TEST(MpiRing, DigestIsThatOfASweep) {
  dsea::MpiSession session;
  const auto transport = dsea::make_mpi_transport(session);
  const auto shapes = synthetic::shapes();
  // About 24 settings a shape cover all pairs; every third of them here, another third in each shape.
  std::size_t n = 0;
  for (const Shape& shape : shapes) {
    for (const Setting& s : synthetic::cover(-session.size())) {
      if (n++ % 3 != 0) continue;
      SCOPED_TRACE(shape.toml() + s.toml());
      dsea::DeviceOptions device;
      device.backend = "host";
      device.threads = s.threads;
      const auto config = dsea::Config::from_text(shape.toml() + s.toml());
      const auto make = [](const dsea::Config& c) { return std::make_unique<dsea::ProgramOf<synthetic::Program>>(c); };
      dsea::RankRun run(make, config, device, *transport, dsea::Log(), session.size());
      dsea::RingOptions options = dsea::ring_options(dsea::RunSettings::read(config));
      std::vector<std::int64_t> steps;
      options.on_row = [&](const dsea::StepSums& sums) { steps.push_back(sums.step); };
      const dsea::RingOutcome outcome = run.run(options, {});
      if (session.rank() != 0) continue;
      const synthetic::Sweep sweep(shape, s.steps, 40);
      ASSERT_EQ(outcome.digest, sweep.digest());
      ASSERT_EQ(steps.size(), sweep.low.size());
      ASSERT_EQ(outcome.ranks.size(), static_cast<std::size_t>(session.size()));
    }
  }
}

}  // namespace
