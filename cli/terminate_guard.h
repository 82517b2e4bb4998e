// Memory that runs out where no exception can pass: in functions of libraries that are noexcept.
#pragma once

#include <exception>

namespace grurun::cli {

/// While it lives, std::bad_alloc ends this process, and those that it forks, in one line and the exit code
/// of a limit wherever it cannot be caught. Whatever else cannot be caught aborts as ever.
class TerminateGuard {
 public:
  TerminateGuard();
  ~TerminateGuard();
  TerminateGuard(const TerminateGuard&) = delete;
  TerminateGuard& operator=(const TerminateGuard&) = delete;

 private:
  std::terminate_handler former_;
};

}  // namespace grurun::cli
