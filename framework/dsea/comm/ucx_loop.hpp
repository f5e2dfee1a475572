// The thread behind a port or a relay of transport ucx. For ucx_*.cpp only.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dsea/comm/ucx_rail.hpp"

namespace dsea::detail {

using UcxRails = std::vector<std::unique_ptr<UcxRail>>;  // null: lost

/// UCX works off its queues only while somebody calls it, and one side's transfer may need the other side long after
/// that has all its own bytes: so each port has a thread that sleeps until a rail has an event.
class UcxLoop {
 public:
  UcxLoop();
  ~UcxLoop();
  UcxLoop(const UcxLoop&) = delete;
  UcxLoop& operator=(const UcxLoop&) = delete;

  /// Starts the thread. It calls look() until that has moved nothing and armed the rails; then it sleeps until one of
  /// them has an event, wake() is called or `pause` has passed.
  struct Idle {
    bool moved = false;
    std::chrono::nanoseconds pause = std::chrono::seconds(1);
  };
  void start(UcxRails& rails, std::function<Idle()> look);
  /// Ends the thread; may be called twice.
  void stop();
  /// Any thread.
  void wake() const;

 private:
  void work(const std::stop_token& stop);

  UcxRails* rails_ = nullptr;
  std::function<Idle()> look_;
  std::vector<pollfd> files_;
  int wake_ = -1;
  std::jthread thread_;
};

}  // namespace dsea::detail
