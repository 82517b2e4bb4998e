#include "cli/time_limit.h"

#include <unistd.h>

#include "cli/flag_values.h"
#include "cli/streams.h"
#include "onnx_io/kept_outputs.h"
#include "tensor/error.h"

namespace grurun::cli {
namespace {

constexpr std::chrono::milliseconds grace{500};

std::string too_long(const std::string& what, double seconds) {
  return fmt::format("{} took longer than {:g} s (--max-time)", what, seconds);
}

}  // namespace

TimeLimit::TimeLimit(std::chrono::duration<double> limit, std::string what, std::function<void()> before_end)
    : limit_(limit),
      what_(std::move(what)),
      before_end_(std::move(before_end)),
      deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(limit)),
      watcher_([this] { watch(); }) {}

TimeLimit::~TimeLimit() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  watcher_.join();
}

void TimeLimit::watch() {
  std::unique_lock lock(mutex_);
  if (over_.wait_until(lock, deadline_ + grace, [this] { return is_over_; })) return;
  try {
    if (before_end_) before_end_();
  } catch (const std::exception& error) {
    tell("grurun: {}\n", error.what());
  }
  tell_text("grurun: limit: " + too_long(what_, limit_.count()) + "\n");
  onnx_io::end_kept_outputs();
  // Other threads are still at work: nothing can be unwound.
  _exit(exit_code(ErrorKind::limit));
}

std::string time_limit_text(const std::string& what, const std::string& seconds) {
  const auto limit = parse_time_limit("--max-time", seconds);
  return limit ? too_long(what, limit->count()) : what;
}

std::unique_ptr<TimeLimit> limit_time(const std::string& seconds, const std::string& what,
                                      std::function<void()> before_end) {
  const auto limit = parse_time_limit("--max-time", seconds);
  return limit ? std::make_unique<TimeLimit>(*limit, what, std::move(before_end)) : nullptr;
}

}  // namespace grurun::cli
