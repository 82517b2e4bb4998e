// What a search for reasons may spend.
#pragma once

#include <algorithm>
#include <chrono>

namespace grurun::trial::diagnosis {

/// Multiplications that may still be spent, and time: until a deadline by the clock, and what this thread
/// computes alone, so that the same is found on a machine that has other work, if later. For one thread.
class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  Budget(double operations, Clock::duration processor_time, Clock::time_point deadline)
      : Budget(operations, Clock::now(), processor_now() + processor_time, deadline) {}

  void spend(double operations) { left_ -= operations; }
  /// A budget of a part of what is left, and the time of that part; what it spent is spent here afterwards.
  Budget share(double part) const {
    const auto time = std::chrono::duration_cast<Clock::duration>((end_ - processor_now()) * part);
    return Budget(left_ * part, time, deadline_);
  }
  void spend(const Budget& share) { left_ -= share.given_ - share.left_; }

  bool is_over() const {
    if (left_ <= 0) return true;
    const Clock::time_point now = Clock::now();
    if (now <= not_before_) return false;
    const Clock::duration time = end_ - processor_now();
    not_before_ = std::min(now + time, deadline_);
    return now > not_before_;
  }

 private:
  Budget(double operations, Clock::time_point begin, Clock::duration end, Clock::time_point deadline)
      : left_(operations), given_(operations), end_(end), deadline_(deadline), not_before_(begin) {}

  /// Processor time of the calling thread.
  static Clock::duration processor_now();

  double left_;
  double given_;
  Clock::duration end_;  // by processor_now
  Clock::time_point deadline_;
  /// Computing takes no less time than processor time: until then that, dear to ask for, cannot be over.
  mutable Clock::time_point not_before_;
};

}  // namespace grurun::trial::diagnosis
