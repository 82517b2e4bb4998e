// An end to work that runs no steps of a plan, as reading, checking and planning a model: it looks now and
// then whether it is still wanted. A process that may end itself needs none of this (cli/time_limit.h).
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <optional>

namespace grurun {

/// While it lives, work of the thread that made it calls `look` now and then. What `look` throws ends the
/// work: should somebody on the way catch it, it is thrown again at the next look. Within another one, that
/// one looks first.
class Interruption {
 public:
  explicit Interruption(std::function<void()> look);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  void look();

 private:
  std::function<void()> look_;
  std::exception_ptr ended_;
  Interruption* outer_;
};

/// To be called in loops whose length a file decides, and after what may have caught an interruption. Throws
/// what look() of the thread's Interruption throws; where there is none it does nothing.
void look_for_interruption();

/// Throws Error(limit) once the deadline of a run has passed.
void require_time(const std::optional<std::chrono::steady_clock::time_point>& deadline);

}  // namespace grurun
