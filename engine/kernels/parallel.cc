#include "engine/kernels/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace grurun::kernels {
namespace {

/// Steps of a model follow each other within this time, mostly, and waking a thread takes nearly as long.
constexpr std::chrono::microseconds kSpinTime{200};
constexpr int kSpins = 64;  // between two looks at the clock
constexpr uint32_t kClosed = uint32_t{1} << 30;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Waits until `word` differs from `old`: a bounded spin, then asleep, so that a busy machine is not made
/// busier.
void await_change(const std::atomic<uint32_t>& word, uint32_t old) {
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kSpins; ++i) {
      if (word.load(std::memory_order_acquire) != old) return;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  word.wait(old, std::memory_order_acquire);
}

/// Moves the calling thread to another of the CPUs that it may use, if there is one: for good, since the
/// system that has put it beside a busy thread, with a CPU idle, would do so again.
void leave_cpu(int cpu, const cpu_set_t& usable) {
  cpu_set_t others = usable;
  CPU_CLR(static_cast<size_t>(cpu), &others);
  if (CPU_COUNT(&others) > 0) sched_setaffinity(0, sizeof others, &others);
}

thread_local bool inside_body = false;

/// One loop at a time. `gate_` counts the workers that are in it and carries kClosed while they must stay
/// out; the loop's fields are written only while the gate is closed and empty. A worker that wakes late finds
/// the gate closed and goes back to sleep, so a caller never waits for a worker that the system has not
/// scheduled.
class Pool {
 public:
  using Body = void (*)(void*, int64_t, int64_t);

  ~Pool() { stop_workers(); }

  int size() const { return size_.load(std::memory_order_relaxed); }

  void resize(int n) {
    std::lock_guard lock(mutex_);
    stop_workers();
    size_.store(n, std::memory_order_relaxed);
    shares_ = std::make_unique<Share[]>(static_cast<size_t>(n));
    start_failed_ = false;
  }

  void run(int64_t n, int64_t chunk, Body body, void* context) {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return body(context, 0, n);
    start_workers();
    chunk_ = chunk, body_ = body, context_ = context;
    share_out(n);
    error_ = nullptr;
    failed_.store(false, std::memory_order_relaxed);
    caller_cpu_.store(sched_getcpu(), std::memory_order_relaxed);
    gate_.fetch_and(~kClosed, std::memory_order_acq_rel);
    generation_.fetch_add(1, std::memory_order_acq_rel);
    generation_.notify_all();
    take_chunks(0);
    gate_.fetch_or(kClosed, std::memory_order_acq_rel);
    for (uint32_t seen; (seen = gate_.load(std::memory_order_acquire)) != kClosed;) await_change(gate_, seen);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  /// Chunks that a thread begins with; others take what it leaves.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  void share_out(int64_t n) {
    const int64_t chunks = (n - 1) / chunk_ + 1;
    const auto boundary = [&](int64_t i) { return std::min(n, chunks * i / size() * chunk_); };
    for (int64_t i = 0; i < size(); ++i) {
      shares_[static_cast<size_t>(i)].next.store(boundary(i), std::memory_order_relaxed);
      shares_[static_cast<size_t>(i)].end = boundary(i + 1);
    }
  }

  void start_workers() {
    while (!start_failed_ && static_cast<int>(workers_.size()) + 1 < size()) {
      const uint32_t generation = generation_.load(std::memory_order_relaxed);
      try {
        workers_.emplace_back(
            [this, generation, self = static_cast<int>(workers_.size()) + 1] { work(self, generation); });
      } catch (const std::system_error&) {  // a limit on threads: fewer of them still give the same results
        start_failed_ = true;
      }
    }
  }

  void stop_workers() {
    stop_.store(true, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_acq_rel);
    generation_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    stop_.store(false, std::memory_order_relaxed);
  }

  void work(int self, uint32_t generation) {
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0) CPU_ZERO(&usable);
    for (;;) {
      await_change(generation_, generation);
      generation = generation_.load(std::memory_order_acquire);
      if (stop_.load(std::memory_order_relaxed)) return;
      const int cpu = sched_getcpu();
      if (cpu >= 0 && cpu < CPU_SETSIZE && cpu == caller_cpu_.load(std::memory_order_relaxed))
        leave_cpu(cpu, usable);
      if (!(gate_.fetch_add(1, std::memory_order_acq_rel) & kClosed)) take_chunks(self);
      if (gate_.fetch_sub(1, std::memory_order_acq_rel) == (kClosed | 1)) gate_.notify_all();
    }
  }

  void take_chunks(int self) {
    inside_body = true;
    for (int i = 0; i < size(); ++i) take_share(shares_[static_cast<size_t>((self + i) % size())]);
    inside_body = false;
  }

  void take_share(Share& share) {
    while (!failed_.load(std::memory_order_relaxed)) {
      const int64_t begin = share.next.fetch_add(chunk_, std::memory_order_relaxed);
      if (begin >= share.end) break;
      try {
        body_(context_, begin, share.end - begin < chunk_ ? share.end : begin + chunk_);
      } catch (...) {
        if (!failed_.exchange(true, std::memory_order_acq_rel)) error_ = std::current_exception();
      }
    }
  }

  std::mutex mutex_;
  std::atomic<int> size_{1};
  bool start_failed_ = false;
  std::vector<std::thread> workers_;
  std::atomic<bool> stop_{false};
  std::atomic<uint32_t> generation_{0};
  std::atomic<uint32_t> gate_{kClosed};
  std::atomic<int> caller_cpu_{-1};

  std::unique_ptr<Share[]> shares_ = std::make_unique<Share[]>(1);
  int64_t chunk_ = 1;
  Body body_ = nullptr;
  void* context_ = nullptr;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

Pool* instance = nullptr;

/// Never destroyed: a thread may still leave a loop while the process exits.
Pool& pool() {
  static std::once_flag once;
  std::call_once(once, [] {
    instance = new Pool;
    // The parent's workers do not exist in a child, and its locks may be held: the child abandons them.
    pthread_atfork(nullptr, nullptr, [] {
      const int size = instance->size();
      instance = new Pool;
      instance->resize(size);
    });
  });
  return *instance;
}

int usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

void set_threads(int n) {
  if (inside_body) throw std::logic_error("set_threads called from within a parallel loop");
  pool().resize(n < 1 ? usable_cpus() : n);
}

int threads() {
  return pool().size();
}

namespace detail {

void run_chunks(int64_t n, int64_t chunk, void (*body)(void*, int64_t, int64_t), void* context) {
  pool().run(n, chunk, body, context);
}

bool inside_parallel_for() {
  return inside_body;
}

}  // namespace detail
}  // namespace grurun::kernels
