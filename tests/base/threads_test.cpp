#include "dsea/base/threads.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

#include "base/error_text.hpp"
#include "dsea/base/error.hpp"

namespace dsea {
namespace {

/// Runs in a thread of its own, so that what a test changes ends with it.
template <class F>
void in_thread(F&& run) {
  std::jthread(run).join();
}

TEST(Threads, AreNamed) {
  in_thread([] {
    std::array<char, 32> name{};
    name_this_thread("io");
    pthread_getname_np(pthread_self(), name.data(), name.size());
    EXPECT_EQ(std::string(name.data()), "io");
    name_this_thread("a name that is too long");
    pthread_getname_np(pthread_self(), name.data(), name.size());
    EXPECT_EQ(std::string(name.data()), "a name that is ");
  });
}

TEST(Threads, ArePinned) {
  const std::vector<int> all = available_cpus();
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(std::ranges::is_sorted(all));
  in_thread([&] {
    pin_this_thread(std::vector<int>{all.back()});
    EXPECT_EQ(available_cpus(), std::vector<int>{all.back()});
    EXPECT_EQ(sched_getcpu(), all.back());
    in_thread([&] { EXPECT_EQ(available_cpus(), std::vector<int>{all.back()}); });
    pin_this_thread(all);
    EXPECT_EQ(available_cpus(), all);
  });
}

TEST(Threads, PinErrors) {
  const auto pin_text = [](std::vector<int> cpus) {
    return test::error_text<RunError>([&] { pin_this_thread(cpus); });
  };
  EXPECT_EQ(pin_text({}), "cannot pin a thread to processors []: the list is empty");
  EXPECT_EQ(pin_text({0, -1}), "cannot pin a thread to processors [0, -1]: there are no such processors");
  EXPECT_EQ(pin_text({60000}), "cannot pin a thread to processors [60000]: this process may use none of them");
}

TEST(Threads, SignalsAreBlocked) {
  in_thread([] {
    block_signals();
    sigset_t set;
    pthread_sigmask(SIG_BLOCK, nullptr, &set);
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGALRM}) EXPECT_EQ(sigismember(&set, signal), 1);
    for (const int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS}) EXPECT_EQ(sigismember(&set, signal), 0);
  });
}

TEST(Threads, ProcessorTimeGrowsWithWork) {
  const double process_before = process_cpu_seconds();
  in_thread([] {
    const double before = thread_cpu_seconds();
    volatile unsigned sum = 0;
    while (thread_cpu_seconds() < before + 0.005) sum = sum + 1;
    EXPECT_GT(sum, 0u);
  });
  EXPECT_GE(process_cpu_seconds(), process_before + 0.005);
}

}  // namespace
}  // namespace dsea
