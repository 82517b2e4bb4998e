#include "cli/time_limit.h"

#include <unistd.h>

#include "cli/streams.h"
#include "tensor/error.h"

namespace grurun::cli {
namespace {

constexpr std::chrono::milliseconds grace{500};
constexpr fmt::format_string<double> too_long = "the run took longer than {:g} s (--max-time)";

}  // namespace

TimeLimit::TimeLimit(std::chrono::duration<double> limit)
    : limit_(limit),
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
  tell_text("grurun: limit: " + fmt::format(too_long, limit_.count()) + "\n");
  // Other threads are still at work: nothing can be unwound.
  _exit(exit_code(ErrorKind::limit));
}

}  // namespace grurun::cli
