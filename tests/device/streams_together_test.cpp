// Many kernels in several streams, ordered by events only, must do what they do one after the other.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "device/devices.hpp"
#include "dsea/device/event.hpp"
#include "dsea/device/for_each.hpp"

namespace dsea::test {

/// Neither commutes nor forgets: each misplaced or repeated step changes the result.
struct Stir {
  const std::uint64_t* from;
  std::uint64_t* to;
  std::uint64_t salt;
  DSEA_FN void operator()(std::int64_t i) const { to[i] = (to[i] * 6364136223846793005ULL + from[i]) ^ salt; }
};

namespace {

class StreamsTogetherTest : public testing::TestWithParam<DeviceCase> {};
INSTANTIATE_TEST_SUITE_P(Devices, StreamsTogetherTest, testing::ValuesIn(all_devices()), case_name);

constexpr std::size_t places = 6;
constexpr std::int64_t length = 1500;

struct Step {
  std::size_t from, to, stream;
  std::uint64_t salt;
};

std::vector<Step> random_steps(std::size_t n) {
  std::mt19937_64 random(99);
  std::vector<Step> steps;
  while (steps.size() < n) {
    const Step step{random() % places, random() % places, random() % 4, random()};
    if (step.from != step.to) steps.push_back(step);
  }
  return steps;
}

std::vector<std::vector<std::uint64_t>> start() {
  std::vector<std::vector<std::uint64_t>> values(places);
  std::mt19937_64 random(7);
  for (auto& place : values) {
    for (std::int64_t i = 0; i < length; ++i) place.push_back(random());
  }
  return values;
}

TEST_P(StreamsTogetherTest, DoTheSameAsOne) {
  const std::vector<Step> steps = random_steps(GetParam().options.delay_seed != 0 ? 150 : 600);
  auto expected = start();
  for (const Step& step : steps) {
    const Stir stir{expected[step.from].data(), expected[step.to].data(), step.salt};
    for (std::int64_t i = 0; i < length; ++i) stir(i);
  }

  const Device device = GetParam().open();
  std::vector<Stream> streams;
  for (const char* name : {"a", "b", "c", "d"}) streams.emplace_back(device, name);
  std::vector<Buffer> buffers;
  for (const auto& values : start()) buffers.push_back(to_device(streams[0], values));
  // For each place: its last write, and the last read by each stream since.
  std::vector<Event> written, read;
  for (std::size_t i = 0; i < places; ++i) written.emplace_back(device);
  for (std::size_t i = 0; i < places * streams.size(); ++i) read.emplace_back(device);

  for (const Step& step : steps) {
    Stream& stream = streams[step.stream];
    stream.wait(written[step.from]);
    stream.wait(written[step.to]);
    for (std::size_t s = 0; s < streams.size(); ++s) stream.wait(read[step.to * streams.size() + s]);
    for_each(stream, length,
             Stir{buffers[step.from].as<std::uint64_t>(), buffers[step.to].as<std::uint64_t>(), step.salt});
    written[step.to].record(stream);
    read[step.from * streams.size() + step.stream].record(stream);
  }
  for (Stream& stream : streams) stream.synchronize();
  for (std::size_t i = 0; i < places; ++i) {
    EXPECT_EQ(from_device(streams[0], buffers[i].as<std::uint64_t>(), static_cast<std::size_t>(length)), expected[i]);
  }
}

}  // namespace
}  // namespace dsea::test
