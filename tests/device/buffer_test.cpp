#include "dsea/device/buffer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "device/devices.hpp"

namespace dsea::test {
namespace {

class BufferTest : public testing::TestWithParam<DeviceCase> {};
INSTANTIATE_TEST_SUITE_P(Devices, BufferTest, testing::ValuesIn(all_devices()), case_name);

TEST_P(BufferTest, IsAlignedAndZero) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  for (const Memory memory : {Memory::device, Memory::pinned}) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{4097},
                                    (std::size_t{9} << 20) + 5}) {  // the last one in huge pages, by both threads
      const std::vector<char> dirt(bytes, 'x');
      Buffer dirty = to_device(stream, dirt);  // likely to leave its contents to the next one
      dirty = Buffer();

      const Buffer buffer(device, bytes, memory);
      EXPECT_EQ(buffer.size(), bytes);
      EXPECT_EQ(buffer.memory(), memory);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
      EXPECT_TRUE(from_device(stream, buffer.as<const char>(), bytes) == std::vector<char>(bytes, 0)) << bytes;
    }
  }
}

TEST_P(BufferTest, HoldsWhatIsWritten) {
  const Device device = GetParam().open();
  Stream stream(device, "test");
  const std::vector<int> values = {3, 1, 4, 1, 5};
  const Buffer buffer = to_device(stream, values);
  EXPECT_EQ(from_device(stream, buffer.as<const int>(), values.size()), values);
}

TEST_P(BufferTest, Moves) {
  const Device device = GetParam().open();
  Buffer a(device, 100, Memory::pinned);
  void* const data = a.data();
  Buffer b(std::move(a));
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(b.size(), 100u);
  Buffer c(device, 7, Memory::device);
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(c.memory(), Memory::pinned);
  EXPECT_EQ(b.data(), nullptr);  // NOLINT(bugprone-use-after-move): moved-from buffers are empty
  EXPECT_EQ(b.size(), 0u);
  EXPECT_FALSE(b);
  EXPECT_TRUE(c);
}

TEST_P(BufferTest, MayBeEmpty) {
  const Buffer buffer(GetParam().open(), 0, Memory::device);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.size(), 0u);
}

TEST_P(BufferTest, SaysHowMuchIsMissing) {
  const Device device = GetParam().open();
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  const std::string text = message_of<RunError>([&] { Buffer(device, most, Memory::device); });
  EXPECT_TRUE(contains(text, "18446744073709551615 bytes")) << text;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their allocators end the program instead
  EXPECT_THROW(Buffer(device, std::size_t{1} << 60, Memory::device), RunError);
  EXPECT_THROW(Buffer(device, std::size_t{1} << 60, Memory::pinned), RunError);
#endif
}

}  // namespace
}  // namespace dsea::test
