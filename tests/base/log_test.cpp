#include "dsea/base/log.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <thread>
#include <vector>

#include "base/error_text.hpp"
#include "dsea/base/error.hpp"

namespace dsea {
namespace {

TEST(Log, WritesItsLevelAndGraverOnes) {
  std::ostringstream out;
  const Log log(LogLevel::info, out);
  log.error("a");
  log.warning("slice ", 3, " is late");
  log.info("b");
  log.debug("c");
  EXPECT_EQ(out.str(), "error: a\nwarning: slice 3 is late\ninfo: b\n");
  EXPECT_TRUE(log.writes(LogLevel::info));
  EXPECT_FALSE(log.writes(LogLevel::debug));
}

TEST(Log, NamesTheRankIfThereAreMore) {
  std::ostringstream out;
  const Log log(LogLevel::debug, out, 0, 1);
  log.info("alone");
  log.for_rank(3, 4).warning("one\ntwo");
  log.for_rank(0, 4).debug("first");
  log.info("still alone");
  EXPECT_EQ(out.str(),
            "info: alone\n[rank 3] warning: one\n[rank 3] warning: two\n[rank 0] debug: first\ninfo: still alone\n");
}

TEST(Log, DefaultWritesWarningsToStderr) {
  const Log log;
  testing::internal::CaptureStderr();
  log.warning("seen");
  log.info("not seen");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: seen\n");
}

TEST(Log, LevelFromText) {
  for (const LogLevel level : {LogLevel::error, LogLevel::warning, LogLevel::info, LogLevel::debug}) {
    EXPECT_EQ(Log::level_from_text(level_name(level)), level);
  }
  EXPECT_EQ(test::error_text<UsageError>([] { Log::level_from_text("loud"); }),
            "unknown log level 'loud': expected error, warning, info or debug");
}

TEST(Log, LinesOfThreadsStayWhole) {
  constexpr int ranks = 4, lines = 200;
  const auto write_all = [&](const Log& log) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([mine = log.for_rank(rank, ranks), rank] {
        for (int i = 0; i < lines; ++i) mine.info(std::string(50, static_cast<char>('a' + rank)));
      });
    }
  };
  const auto check = [&](const std::string& text) {
    std::istringstream in(text);
    std::map<std::string, int> counts;
    for (std::string line; std::getline(in, line);) ++counts[line];
    ASSERT_EQ(counts.size(), std::size_t{ranks});
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(counts[cat("[rank ", rank, "] info: ", std::string(50, static_cast<char>('a' + rank)))], lines);
    }
  };
  std::ostringstream out;
  write_all(Log(LogLevel::info, out));
  check(out.str());
  testing::internal::CaptureStderr();
  write_all(Log(LogLevel::info));
  check(testing::internal::GetCapturedStderr());
}

}  // namespace
}  // namespace dsea
