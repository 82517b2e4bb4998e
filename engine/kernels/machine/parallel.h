#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

/// The one thread pool of the engine. No other code of the engine starts a thread.
namespace grurun::kernels {

/// Sets how many threads, the calling one included, a parallel_for may use. Values below 1 mean one for each
/// CPU that this process may run on. The default is 1. Starts no thread: those that are missing start with
/// the first loop that wants them, so that a process may fork before; a child that forks later begins with an
/// empty pool. Must not be called from within a loop body: throws Error(internal).
void set_threads(int n);

/// What set_threads chose.
int threads();

/// CPUs that this process may run on, no more than the processor time that its container grants, rounded up;
/// at least 1.
int usable_cpus();

namespace detail {

/// Calls body(context, begin, end) for chunks that cover [0, n), on this thread and idle ones of the pool.
void run_chunks(int64_t n, int64_t chunk, void (*body)(void*, int64_t, int64_t), void* context);

/// True while the calling thread executes a loop body, where a nested loop runs serially.
bool inside_parallel_for();

}  // namespace detail

/// How many threads a parallel_for of the calling thread may use: 1 within another loop's body.
inline int threads_here() {
  return detail::inside_parallel_for() ? 1 : threads();
}

/// Calls f(begin, end) for disjoint ranges that cover [0, n), each at least `grain` long but the last. Which
/// ranges, in which order and on which thread is unspecified, so results must not depend on it; a thread
/// begins with the same part of [0, n) in every loop, though, and finds in its cache what it left there.
/// Returns when all calls have returned. Nested calls, and calls while another thread's loop holds the pool,
/// run serially. If a call throws, ranges not yet begun are skipped and the first exception is rethrown here.
template <class F>
void parallel_for(int64_t n, int64_t grain, F&& f) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int workers = threads_here();
  if (workers <= 1 || n <= grain) {
    f(int64_t{0}, n);
    return;
  }
  // Several chunks a thread even out unequal progress; each still holds a grain's worth of work. Of what may
  // be elements of arrays a chunk is whole cache lines, or all its vectors would straddle two.
  constexpr int64_t line = 64, many = 16 * line;
  int64_t per_thread = (n - 1) / (int64_t{4} * workers) + 1;
  if (per_thread >= many) per_thread = (per_thread + line - 1) / line * line;
  using Body = std::remove_reference_t<F>;
  detail::run_chunks(
      n, std::max(grain, per_thread),
      [](void* context, int64_t begin, int64_t end) { (*static_cast<Body*>(context))(begin, end); },
      const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

}  // namespace grurun::kernels
