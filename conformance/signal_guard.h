// SIGINT and SIGTERM while a pool of workers runs.
#pragma once

#include <signal.h>

namespace grurun::conformance {

/// SIGINT and SIGTERM are blocked but while the parent waits, so that none is missed between a look and a
/// wait. What was there before is put back at the end.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  /// Whether one of them came since the beginning.
  bool was_interrupted() const;
  /// What was blocked before.
  const sigset_t& former_mask() const { return mask_; }

 private:
  sigset_t mask_;
  struct sigaction old_int_, old_term_, old_child_;
};

}  // namespace grurun::conformance
