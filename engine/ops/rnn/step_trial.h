// Whether threads gain by sharing the steps of a layer: found out by trying.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "engine/kernels/machine/tuning.h"

namespace grurun::engine::rnn {

namespace tuning = kernels::tuning;

/// What threads tell each other at every step takes longer between cores that share no cache, and far longer
/// on a CPU that somebody else uses, too: a short step may then take longer shared than alone. Where a
/// process runs can change at any time, so that now and then some steps are taken both ways. What a step
/// gives does not depend on it.
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
    turn_.store((turn + 1) % tuning::steps_between_trials, std::memory_order_relaxed);
    if (turn >= 2 * tuning::tried_steps) return body(shares_.load(std::memory_order_relaxed));
    const bool shared = turn < tuning::tried_steps;
    std::atomic<std::int64_t>& best = shared ? best_shared_ : best_alone_;
    const auto begin = Clock::now();
    body(shared);
    const std::int64_t time = std::chrono::nanoseconds(Clock::now() - begin).count();
    // The first step either way gets its data from where the steps before it left them.
    if (turn % tuning::tried_steps <= 1 || time < best.load(std::memory_order_relaxed))
      best.store(time, std::memory_order_relaxed);
    if (turn + 1 == 2 * tuning::tried_steps)
      shares_.store(
          best_shared_.load(std::memory_order_relaxed) < best_alone_.load(std::memory_order_relaxed),
          std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint32_t> turn_{0};
  std::atomic<bool> shares_{true};
  std::atomic<std::int64_t> best_shared_{0}, best_alone_{0};  // nanoseconds
};

}  // namespace grurun::engine::rnn
