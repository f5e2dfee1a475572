#include "dsea/device/device.hpp"

#include <gtest/gtest.h>

#include "device/devices.hpp"
#include "dsea/base/error.hpp"

namespace dsea::test {
namespace {

DeviceOptions host() {
  DeviceOptions options;
  options.backend = "host";
  return options;
}

TEST(Device, HostSaysWhatItIs) {
  DeviceOptions options = host();
  options.isa = Isa::baseline;
  const Device device = Device::open(options);
  EXPECT_EQ(device.backend(), Backend::host);
  EXPECT_FALSE(device.is_cuda());
  EXPECT_EQ(device.threads(), 1);
  EXPECT_EQ(device.isa(), Isa::baseline);
  EXPECT_FALSE(device.async());
  EXPECT_EQ(device.name(), "host, 1 thread, baseline");
  EXPECT_EQ(device.why(), "host: asked for");
  EXPECT_GT(device.memory_available(), 0);
  device.make_current();
}

TEST(Device, TakesTheBestInstructionSet) { EXPECT_EQ(Device::open(host()).isa(), best_isa()); }

TEST(Device, KeepsOptions) {
  DeviceOptions options = host();
  options.threads = 3;
  options.async_streams = true;
  options.delay_seed = 5;
  const Device device = Device::open(options);
  EXPECT_TRUE(device.async());
  EXPECT_EQ(device.delay_seed(), 5u);
#if defined(DSEA_HAVE_OPENMP)
  EXPECT_EQ(device.threads(), 3);
#else
  EXPECT_EQ(device.threads(), 1);
  EXPECT_TRUE(contains(device.why(), "OpenMP")) << device.why();
#endif
}

TEST(Device, RefusesHigherInstructionSet) {
  if (best_isa() == Isa::avx512) GTEST_SKIP() << "this machine has them all";
  DeviceOptions options = host();
  options.isa = Isa::avx512;
  const std::string text = message_of<UsageError>([&] { Device::open(options); });
  EXPECT_TRUE(contains(text, "avx512") && contains(text, isa_name(best_isa()))) << text;
}

TEST(Device, RefusesNonsense) {
  DeviceOptions options = host();
  options.backend = "gpu";
  EXPECT_TRUE(contains(message_of<UsageError>([&] { Device::open(options); }), "'gpu'"));
  options = host();
  options.threads = 0;
  EXPECT_THROW(Device::open(options), UsageError);
  options = host();
  options.index = -1;
  EXPECT_THROW(Device::open(options), UsageError);
}

TEST(Device, CudaIsThereOrRefusedAndAutoFollows) {
  DeviceOptions options;
  bool found = true;
  options.backend = "cuda";
  try {
    EXPECT_TRUE(Device::open(options).is_cuda());
  } catch (const UsageError& error) {
    found = false;
    EXPECT_TRUE(contains(error.what(), "no CUDA device")) << error.what();
  }
  options.backend = "auto";
  const Device device = Device::open(options);
  EXPECT_EQ(device.is_cuda(), found);
  EXPECT_TRUE(contains(device.why(), found ? "cuda: found" : "host: no CUDA device (")) << device.why();
}

TEST(Device, RefusesGpuBeyondTheLast) {
  DeviceOptions options;
  options.backend = "cuda";
  options.index = 1000;
  EXPECT_THROW(Device::open(options), UsageError);
}

TEST(Isa, NamesGoBothWays) {
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) EXPECT_EQ(isa_from_name(isa_name(isa)), isa);
  EXPECT_FALSE(isa_from_name("AVX2"));
  EXPECT_FALSE(isa_from_name(""));
  EXPECT_LT(Isa::baseline, Isa::avx2);
  EXPECT_LT(Isa::avx2, Isa::avx512);
}

}  // namespace
}  // namespace dsea::test
