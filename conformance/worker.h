// Runs numbered jobs in worker processes, so that a job that crashes or hangs costs nothing but itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace grurun::conformance {

class MemoryGroups;

/// Of the steady clock.
std::chrono::nanoseconds steady_time();

struct PoolOptions {
  int workers = 1;
  /// A job that takes longer than this and the grace below is killed.
  std::optional<std::chrono::nanoseconds> max_time;
  /// What time it is, the same in every process; tests have a clock of their own.
  std::chrono::nanoseconds (*now)() = steady_time;
  /// Called in each worker before its first job, with the descriptor that it answers on; may be empty.
  std::function<void(int answers)> on_start{};
  /// Asked in a worker before each job but its first: false ends it, and a new one takes the job. May be
  /// empty.
  std::function<bool()> goes_on{};
  /// Bytes of memory that a worker may hold (resident.h): one that has more is killed. 0: no limit.
  std::size_t max_resident = 0;
  /// All jobs together: then the workers are killed and the rest is not run.
  std::optional<std::chrono::nanoseconds> max_run_time{};
  /// That each worker is in one of, by its number, if there are any.
  MemoryGroups* groups = nullptr;
};

/// A worker that ends a job by itself at its time limit gets this much longer before it is killed.
inline constexpr std::chrono::milliseconds kill_grace{500};

/// "exited with status 3", "killed by SIGSEGV (Segmentation fault)", of what waitpid tells.
std::string describe_status(int status);

struct JobEnd {
  enum class How { answered, crashed, timed_out, over_memory };

  std::size_t job = 0;
  How how = How::answered;
  std::string
      answer;  // answered: what run returned; crashed: "killed by SIGSEGV (...)", "exited with status 3"
  double seconds = 0;  // of all but answered: how long it ran
};

enum class PoolEnd { done, stopped, interrupted, out_of_time };

/// What a worker is told: how many workers have work, itself included. It falls when no job is left to take.
using WorkersLeft = std::function<int()>;
/// Does a job in a worker and returns its answer.
using Job = std::function<std::string(std::size_t job, const WorkersLeft& left)>;

/// In a worker, from any of its threads: answers the job that it is at and ends the process, with whatever
/// still runs there. The next job gets a new worker.
[[noreturn]] void answer_and_end(const std::string& answer);

/// Runs run(0, ...) ... run(jobs - 1, ...), each once, in workers forked from this process: it must have no
/// other threads. Workers live long and take one job after another; one that dies is replaced, its job
/// reported as crashed, timed_out or over_memory, and no other job is lost. on_end is called here, in the
/// order in which jobs end; when it returns false the rest is dropped and the result is stopped. SIGINT and
/// SIGTERM kill the workers and give interrupted, max_run_time gives out_of_time; their former handlers are
/// put back afterwards. Throws Error(internal) when not even one worker can be started, or workers die
/// without taking a job.
PoolEnd run_pool(std::size_t jobs, const PoolOptions& options, const Job& run,
                 const std::function<bool(JobEnd)>& on_end);

}  // namespace grurun::conformance
