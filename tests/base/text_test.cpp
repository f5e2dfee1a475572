#include "dsea/base/text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace dsea {
namespace {

TEST(Text, CatPutsAllTogether) {
  EXPECT_EQ(cat("slice ", 3, " of ", std::string("n"), ' ', 0.5, " ", true), "slice 3 of n 0.5 1");
}

TEST(Text, JoinedPutsSeparatorsBetween) {
  const std::vector<std::string> names{"rail0", "", "rail1"};
  EXPECT_EQ(joined(names, ", "), "rail0, , rail1");
  EXPECT_EQ(joined(std::vector<std::string>{"", "a"}, ", "), ", a");
  EXPECT_EQ(joined(std::vector<std::string>{"alone"}, ", "), "alone");
  EXPECT_EQ(joined(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(joined(std::array{1, 20, 3}, "-"), "1-20-3");
  EXPECT_EQ(joined(names, "+", &std::string::size), "5+0+5");
  EXPECT_EQ(joined(std::vector{0.5, 2.0}, "; ", [](double x) { return cat(2 * x, " s"); }), "1 s; 4 s");
}

TEST(Text, Bytes) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1), "1 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1 KiB");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(1536.0 * 1024), "1.5 MiB");
  EXPECT_EQ(bytes_text(1000.0 * 1024), "1000 KiB");
  EXPECT_EQ(bytes_text(1023.6 * 1024), "1 MiB");
  EXPECT_EQ(bytes_text(80.0 * 1024 * 1024 * 1024), "80 GiB");
  EXPECT_EQ(bytes_text(12.345 * 1024), "12.3 KiB");
  EXPECT_EQ(bytes_text(-1536), "-1.5 KiB");
}

TEST(Text, CountsAndRates) {
  EXPECT_EQ(si_text(0), "0");
  EXPECT_EQ(si_text(7), "7");
  EXPECT_EQ(si_text(999), "999");
  EXPECT_EQ(si_text(1000), "1.00 k");
  EXPECT_EQ(si_text(999.6), "1.00 k");
  EXPECT_EQ(si_text(2.5e6), "2.50 M");
  EXPECT_EQ(si_text(999.6e6), "1.00 G");
  EXPECT_EQ(si_text(123.4e9), "123 G");
  EXPECT_EQ(si_text(-2.5e6), "-2.50 M");
  EXPECT_EQ(si_text(1.5), "1.50");
  EXPECT_EQ(si_text(0.25), "0.250");
  EXPECT_EQ(si_text(1.25e-5), "1.25e-05");
  EXPECT_EQ(si_text(std::numeric_limits<double>::infinity()), "inf");
}

TEST(Text, Seconds) {
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(seconds_text(5e-9), "5 ns");
  EXPECT_EQ(seconds_text(1.5e-6), "1.50 us");
  EXPECT_EQ(seconds_text(0.0123), "12.3 ms");
  EXPECT_EQ(seconds_text(0.99996), "1.00 s");
  EXPECT_EQ(seconds_text(4.56), "4.56 s");
  EXPECT_EQ(seconds_text(59.99), "1 min 00 s");
  EXPECT_EQ(seconds_text(125), "2 min 05 s");
  EXPECT_EQ(seconds_text(3599.7), "1 h 00 min");
  EXPECT_EQ(seconds_text(3720), "1 h 02 min");
  EXPECT_EQ(seconds_text(86399), "1 d 00 h");
  EXPECT_EQ(seconds_text(3 * 86400 + 5 * 3600), "3 d 05 h");
  EXPECT_EQ(seconds_text(-4.56), "-4.56 s");
  EXPECT_EQ(seconds_text(std::numeric_limits<double>::infinity()), "inf s");
}

}  // namespace
}  // namespace dsea
