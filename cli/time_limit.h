// --max-time: an end to the process even when one kernel alone takes too long to look at the clock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace grurun::cli {

/// The executor looks at deadline() between nodes and iterations and fails in order. A moment later, should
/// it still be inside a kernel, a thread of this object prints the one line on stderr and ends the process
/// with the exit code of a limit. Destroy it when the run is over.
class TimeLimit {
 public:
  using Clock = std::chrono::steady_clock;

  explicit TimeLimit(std::chrono::duration<double> limit);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  Clock::time_point deadline() const { return deadline_; }

 private:
  void watch();

  std::chrono::duration<double> limit_;
  Clock::time_point deadline_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread watcher_;
};

}  // namespace grurun::cli
