// Whether threads gain by sharing the steps of a layer: found out by trying.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace grurun::engine::rnn {

/// What threads tell each other at every step takes a fifth of a microsecond between cores that share a
/// cache, a whole one between others, and far more on a CPU that somebody else uses, too: a step of a few
/// microseconds may then take longer shared than alone. Where a process runs can change at any time, so that
/// now and then some steps are taken both ways. What a step gives does not depend on it.
///
/// Runs of a plan side by side may use the same trial: a time that gets lost is measured again. Clock is as
/// those of std::chrono.
template <class Clock = std::chrono::steady_clock>
class StepTrial {
 public:
  /// Calls body(shared) for a step, which may be shared.
  template <typename Body>
  void step(Body&& body) {
    const std::uint32_t turn = turn_.load(std::memory_order_relaxed);
    turn_.store((turn + 1) % kSteps, std::memory_order_relaxed);
    if (turn >= 2 * kTried) return body(shares_.load(std::memory_order_relaxed));
    const bool shared = turn < kTried;
    std::atomic<std::int64_t>& best = shared ? best_shared_ : best_alone_;
    const auto begin = Clock::now();
    body(shared);
    const std::int64_t time = std::chrono::nanoseconds(Clock::now() - begin).count();
    // The first step either way gets its data from where the steps before it left them.
    if (turn % kTried <= 1 || time < best.load(std::memory_order_relaxed))
      best.store(time, std::memory_order_relaxed);
    if (turn + 1 == 2 * kTried)
      shares_.store(
          best_shared_.load(std::memory_order_relaxed) < best_alone_.load(std::memory_order_relaxed),
          std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint32_t kTried = 5;     // steps of either way
  static constexpr std::uint32_t kSteps = 2048;  // from one trial to the next

  std::atomic<std::uint32_t> turn_{0};
  std::atomic<bool> shares_{true};
  std::atomic<std::int64_t> best_shared_{0}, best_alone_{0};  // nanoseconds
};

}  // namespace grurun::engine::rnn
