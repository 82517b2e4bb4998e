#include "engine/kernels/machine/machine_speed.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/machine/machine_speed.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// In flight at once: more than latency times ports asks for, and as many as 16 registers hold.
constexpr size_t sum_count = 12;

/// Makes sum_count * `rounds` vector multiply-adds; the operations that this took.
double multiply_adds(size_t rounds, float& result) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.5f), term = hn::Set(d, 1.0f);
  hn::Vec<decltype(d)> sums[sum_count];
  for (size_t i = 0; i < sum_count; ++i) sums[i] = hn::Set(d, static_cast<float>(i));
  for (size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (size_t i = 0; i < sum_count; ++i) sums[i] = hn::MulAdd(sums[i], factor, term);
  }
  auto total = sums[0];
  for (size_t i = 1; i < sum_count; ++i) total = hn::Add(total, sums[i]);
  result = hn::GetLane(hn::SumOfLanes(d, total));
  return 2.0 * static_cast<double>(sum_count * rounds * hn::Lanes(d));
}

float sum_of(const float* x, size_t n) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sums[sum_count];
  for (auto& sum : sums) sum = hn::Zero(d);
  size_t i = 0;
  for (; i + sum_count * lanes <= n; i += sum_count * lanes) {
#pragma GCC unroll 12
    for (size_t k = 0; k < sum_count; ++k) sums[k] = hn::Add(sums[k], hn::LoadU(d, x + i + k * lanes));
  }
  auto total = sums[0];
  for (size_t k = 1; k < sum_count; ++k) total = hn::Add(total, sums[k]);
  float result = hn::GetLane(hn::SumOfLanes(d, total));
  for (; i < n; ++i) result += x[i];
  return result;
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {
namespace {

HWY_EXPORT(multiply_adds);
HWY_EXPORT(sum_of);

/// Takes a sum, so that it is not left out: one object a caller, as threads must not write to one together.
class Sink {
 public:
  void take(float value) { value_ = value; }

 private:
  volatile float value_ = 0;
};

/// The most work a second that `work`, which returns how much it did, reaches in one of some tries: what
/// else the machine does can only make it slower.
template <class Work>
double best_rate(const Work& work) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::milliseconds(20);
  double best = 0;
  int tries = 0;
  for (auto begin = Clock::now(); tries < 3 || begin < until; ++tries) {
    const double done = work();
    const auto end = Clock::now();
    best = std::max(best, done / std::chrono::duration<double>(end - begin).count());
    begin = end;
  }
  return best;
}

}  // namespace

double measured_flops() {
  constexpr size_t rounds = 50'000;
  const int64_t workers = threads();
  std::vector<double> done(static_cast<size_t>(workers));
  return best_rate([&] {
    parallel_for(workers, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        float result = 0;
        Sink sink;
        done[static_cast<size_t>(i)] = HWY_DYNAMIC_DISPATCH(multiply_adds)(rounds, result);
        sink.take(result);
      }
    });
    double all = 0;
    for (const double each : done) all += each;
    return all;
  });
}

double measured_read_bandwidth(int64_t bytes) {
  const std::vector<float> x(static_cast<size_t>(std::max<int64_t>(bytes / 4, 1)), 1.0f);
  const size_t times = std::max<size_t>(1, (size_t{1} << 20) / x.size());
  Sink sink;
  return best_rate([&] {
    for (size_t i = 0; i < times; ++i) sink.take(HWY_DYNAMIC_DISPATCH(sum_of)(x.data(), x.size()));
    return static_cast<double>(4 * times * x.size());
  });
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
