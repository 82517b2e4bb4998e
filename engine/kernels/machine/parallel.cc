#include "engine/kernels/machine/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/kernels/machine/on_this_thread.h"
#include "engine/kernels/machine/tuning.h"
#include "tensor/error.h"
#include "tensor/memory/container_limits.h"

namespace grurun::kernels {
namespace {

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
  const auto end = std::chrono::steady_clock::now() + tuning::spin_time;
  do {
    for (int i = 0; i < tuning::spins; ++i) {
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

/// Of the pool, which need not exist to tell it.
constinit std::atomic<int> pool_size{1};

/// One loop at a time, each thread with a share of its chunks. Who takes a chunk counts it off first, and the
/// loop is over when all that were counted off are done: a loop's fields stay while somebody reads them, a
/// worker that wakes late finds nothing or what is left of a later loop, and a caller never waits for a
/// worker that the system has not scheduled. A step of a small recurrent layer takes hardly longer than
/// telling another thread of it: threads pass as few cache lines between them as they can, and a worker that
/// woke too late for one step stays awake for the next.
class Pool {
 public:
  using Body = void (*)(void*, int64_t, int64_t);

  ~Pool() { stop_workers(); }

  int size() const { return pool_size.load(std::memory_order_relaxed); }

  void resize(int n) {
    std::lock_guard lock(mutex_);
    stop_workers();
    pool_size.store(n, std::memory_order_relaxed);
    shares_ = std::make_unique<Share[]>(static_cast<size_t>(n));
    start_failed_ = false;
  }

  void run(int64_t n, int64_t chunk, Body body, void* context) {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return body(context, 0, n);
    start_workers();
    const Loop loop{body, context, n, chunk};
    const auto chunks = static_cast<uint32_t>((n - 1) / chunk + 1);
    done_.store(0, std::memory_order_relaxed);
    share_out(loop, chunks);
    inside_body = true;
    run_chunk(loop, 0);
    uint32_t taken = 1;
    for (int i = 0; i < size(); ++i) taken += take_share(shares_[static_cast<size_t>(i)]);
    inside_body = false;
    for (uint32_t seen; (seen = done_.load(std::memory_order_acquire)) != chunks - taken;)
      await_change(done_, seen);
    if (!failed_.load(std::memory_order_relaxed)) return;
    failed_.store(false, std::memory_order_relaxed);
    std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  struct Loop {
    Body body;
    void* context;
    int64_t n, chunk;
  };

  /// Chunks that a thread begins with; others take what it leaves. A cache line.
  struct alignas(64) Share {
    // Chunks that nobody has taken yet, or stop. The bits above count_bits are others for every loop, so that
    // it is seen to have been there when all of it is taken.
    std::atomic<uint32_t> left{0};
    uint32_t end = 0;  // of its chunks
    std::atomic<int> caller_cpu{-1};
    Loop loop{};
  };
  static_assert(sizeof(Share) == 64);

  // All but the first chunk, which is the caller's.
  void share_out(const Loop& loop, uint32_t chunks) {
    const int cpu = sched_getcpu();
    const auto threads = static_cast<uint32_t>(size());
    for (uint32_t i = threads; i-- > 0;) {
      Share& share = shares_[i];
      const uint32_t begin = std::max<uint32_t>(1, chunks * i / threads), end = chunks * (i + 1) / threads;
      if (begin >= end) continue;
      share.end = end, share.loop = loop;
      share.caller_cpu.store(cpu, std::memory_order_relaxed);
      hand_over(share, ((share.left.load(std::memory_order_relaxed) | count_bits) + 1) + (end - begin));
    }
  }

  // The store is sequentially consistent: whether somebody sleeps is looked up after it.
  static void hand_over(Share& share, uint32_t left) {
    share.left.store(left);
    share.left.notify_all();
  }

  static bool any_left(uint32_t left) { return (left & count_bits) != 0; }

  void start_workers() {
    while (!start_failed_ && static_cast<int>(workers_.size()) + 1 < size()) {
      try {
        workers_.emplace_back([this, self = workers_.size() + 1] { work(self); });
      } catch (const std::system_error&) {  // a limit on threads: fewer of them still give the same results
        start_failed_ = true;
      }
    }
  }

  void stop_workers() {
    for (size_t i = 0; i < workers_.size(); ++i) hand_over(shares_[i + 1], stop);
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  void work(size_t self) {
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0) CPU_ZERO(&usable);
    const auto threads = static_cast<size_t>(size());
    Share& own = shares_[self];
    inside_body = true;
    for (;;) {
      const uint32_t seen = own.left.load(std::memory_order_acquire);
      if (seen == stop) return;
      if (!any_left(seen)) {
        await_change(own.left, seen);
        continue;
      }
      const int caller_cpu = own.caller_cpu.load(std::memory_order_relaxed);
      for (size_t i = 0; i < threads; ++i) {
        const uint32_t taken = take_share(shares_[(self + i) % threads]);
        if (taken == 0) continue;
        done_.fetch_add(taken);
        done_.notify_one();
      }
      const int cpu = sched_getcpu();
      if (cpu >= 0 && cpu < CPU_SETSIZE && cpu == caller_cpu) leave_cpu(cpu, usable);
    }
  }

  // How many chunks of it the calling thread has run.
  uint32_t take_share(Share& share) {
    uint32_t taken = 0, left = share.left.load(std::memory_order_relaxed);
    while (any_left(left) && left != stop) {
      if (!share.left.compare_exchange_weak(left, left - 1, std::memory_order_acquire,
                                            std::memory_order_relaxed))
        continue;
      run_chunk(share.loop, share.end - (left & count_bits));
      ++taken, --left;
    }
    return taken;
  }

  void run_chunk(const Loop& loop, uint32_t chunk) {
    if (failed_.load(std::memory_order_relaxed)) return;
    const int64_t begin = chunk * loop.chunk;
    try {
      loop.body(loop.context, begin, std::min(begin + loop.chunk, loop.n));
    } catch (...) {
      if (!failed_.exchange(true, std::memory_order_acq_rel)) error_ = std::current_exception();
    }
  }

  static constexpr uint32_t count_bits = 0xffff, stop = ~uint32_t{0};

  std::mutex mutex_;
  bool start_failed_ = false;
  std::vector<std::thread> workers_;
  std::unique_ptr<Share[]> shares_ = std::make_unique<Share[]>(1);
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  alignas(64) std::atomic<uint32_t> done_{0};  // chunks that workers have run
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

}  // namespace

OnThisThread::OnThisThread() : before_(std::exchange(inside_body, true)) {}
OnThisThread::~OnThisThread() {
  inside_body = before_;
}

void set_threads(int n) {
  if (inside_body) fail_internal("set_threads called from within a parallel loop");
  pool().resize(n < 1 ? usable_cpus() : n);
}

int usable_cpus() {
  static const int granted = [] {
    const std::optional<double> cpus = read_container_limits().cpus;
    return cpus ? static_cast<int>(std::clamp(std::ceil(*cpus), 1.0, 1e6)) : std::numeric_limits<int>::max();
  }();
  cpu_set_t set;
  const int there = sched_getaffinity(0, sizeof set, &set) == 0
                        ? CPU_COUNT(&set)
                        : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, std::min(there, granted));
}

int threads() {
  return pool_size.load(std::memory_order_relaxed);
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
