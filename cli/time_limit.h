// --max-time: an end to the process even when one kernel, reader or check takes too long to look at the
// clock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace grurun::cli {

/// The executor looks at deadline() between nodes and iterations and fails in order. A moment later, should
/// it still be inside a kernel, or where nothing looks at the clock, a thread of this object calls
/// `before_end`, prints the one line on stderr and ends the process with the exit code of a limit. Destroy it
/// when the work is over.
class TimeLimit {
 public:
  using Clock = std::chrono::steady_clock;

  /// what: "the run", as the line names it. before_end: writes what is known until then, on another thread
  /// than the one at work; may be empty.
  explicit TimeLimit(std::chrono::duration<double> limit, std::string what = "the run",
                     std::function<void()> before_end = {});
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  Clock::time_point deadline() const { return deadline_; }

 private:
  void watch();

  std::chrono::duration<double> limit_;
  std::string what_;
  std::function<void()> before_end_;
  Clock::time_point deadline_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread watcher_;
};

/// "the check took longer than 60 s (--max-time)", of a text of --max-time.
std::string time_limit_text(const std::string& what, const std::string& seconds);

/// Of a --max-time whose text is `seconds`; nullptr for 0, no limit.
std::unique_ptr<TimeLimit> limit_time(const std::string& seconds, const std::string& what,
                                      std::function<void()> before_end = {});

}  // namespace grurun::cli
