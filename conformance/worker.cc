#include "conformance/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "conformance/memory_groups.h"
#include "conformance/resident.h"
#include "conformance/shared_board.h"
#include "conformance/signal_guard.h"
#include "tensor/error.h"

namespace grurun::conformance {

namespace {

/// Before each answer in the pipe.
struct AnswerHead {
  std::uint64_t job;
  std::uint64_t size;
};

bool write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

/// Of this process, a worker: where it answers, and which job it is at.
int answers_to = -1;
std::atomic<std::uint64_t> job_at{0};

bool send_answer(int out, std::uint64_t job, const std::string& answer) {
  const AnswerHead head{job, answer.size()};
  std::string message(reinterpret_cast<const char*>(&head), sizeof head);
  message += answer;
  return write_all(out, message.data(), message.size());
}

[[noreturn]] void work(Board* board, Slot* slot, std::size_t jobs, std::optional<std::size_t> first, int out,
                       const PoolOptions& options, const Job& run) {
  const WorkersLeft left = [board] {
    return static_cast<int>(board->workers.load(std::memory_order_relaxed));
  };
  answers_to = out;
  for (bool is_first = true;; is_first = false) {
    if (!is_first && options.goes_on && !options.goes_on()) _exit(0);
    const std::uint64_t job = first ? *first : board->next.fetch_add(1, std::memory_order_relaxed);
    first.reset();
    if (job >= jobs) _exit(0);
    slot->began_ns.store(options.now().count(), std::memory_order_relaxed);
    slot->job.store(job + 1, std::memory_order_release);
    job_at.store(job);
    if (!send_answer(out, job, run(job, left))) _exit(1);
  }
}

/// A case's result is bounded (run_case); what says that it is longer is no result.
constexpr std::uint64_t most_of_answer = std::uint64_t{64} << 20;

struct Worker {
  pid_t pid = -1;
  int in = -1;                                    // answers; -1: not running
  std::string received;                           // bytes of an answer that is not complete yet
  std::uint64_t last = 0;                         // job + 1 of the last answer
  std::int64_t idle_since_ns = 0;                 // when it was started, or last answered
  std::uint64_t doomed = 0;                       // job + 1 that made the parent kill it; of none: jobs + 1
  JobEnd::How sentence = JobEnd::How::timed_out;  // for what
};

class Pool {
 public:
  Pool(std::size_t jobs, const PoolOptions& options, const Job& run,
       const std::function<bool(JobEnd)>& on_end)
      : jobs_(jobs),
        options_(options),
        run_(run),
        on_end_(on_end),
        workers_(std::clamp<std::size_t>(static_cast<std::size_t>(std::max(options.workers, 1)), 1,
                                         std::max<std::size_t>(jobs, 1))),
        board_(workers_.size()),
        reported_(jobs) {}

  ~Pool() {
    for (Worker& worker : workers_)
      if (worker.in >= 0) end(worker, true);
  }

  PoolEnd all() {
    if (jobs_ == 0) return PoolEnd::done;
    board_->workers.store(workers_.size(), std::memory_order_relaxed);
    std::size_t started = 0;
    while (started < workers_.size() && start(started, std::nullopt)) ++started;
    board_->workers.fetch_sub(workers_.size() - started, std::memory_order_relaxed);
    while (ended_ < jobs_) {
      if (signals_.was_interrupted()) return PoolEnd::interrupted;
      if (options_.max_run_time && now_ns() - begin_ns_ > options_.max_run_time->count())
        return PoolEnd::out_of_time;
      if (none_runs()) start_for_lost();
      wait();
      if (stopped_) return PoolEnd::stopped;
    }
    return PoolEnd::done;
  }

 private:
  /// False when the system gives no pipe or process, but other workers run: they do, one by one, all that is
  /// left.
  bool start(std::size_t index, std::optional<std::size_t> first) {
    Slot& slot = board_->slots[index];
    slot.job.store(0, std::memory_order_relaxed);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return refused("pipe");
    std::fflush(nullptr);
    const std::int64_t began_ns = now_ns();
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) {
      const int error = errno;
      close(ends[0]);
      close(ends[1]);
      errno = error;
      return refused("process");
    }
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      signal(SIGINT, SIG_IGN);  // a terminal sends Ctrl-C to the whole group; the parent decides
      signal(SIGTERM, SIG_DFL);
      sigprocmask(SIG_SETMASK, &signals_.former_mask(), nullptr);
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      close(ends[0]);
      for (const Worker& other : workers_)
        if (other.in >= 0) close(other.in);
      if (options_.groups != nullptr) options_.groups->enter(index);
      if (options_.on_start) start_work(ends[1]);
      work(board_.operator->(), &slot, jobs_, first, ends[1], options_, run_);
    }
    close(ends[1]);
    Worker started;
    started.pid = pid;
    started.in = ends[0];
    started.idle_since_ns = began_ns;
    workers_[index] = std::move(started);
    return true;
  }

  /// A worker that cannot be made ready takes no job: after a few of them the pool gives up.
  void start_work(int answers) const {
    try {
      options_.on_start(answers);
    } catch (const std::exception& error) {
      const std::string line = fmt::format("grurun: a worker cannot start: {}\n", error.what());
      write_all(STDERR_FILENO, line.data(), line.size());
      _exit(1);
    }
  }

  bool refused(const char* what) const {
    if (none_runs()) fail_internal("no {} for a worker: {}", what, std::strerror(errno));
    return false;
  }

  bool none_runs() const {
    return std::ranges::none_of(workers_, [](const Worker& worker) { return worker.in >= 0; });
  }

  /// A worker that dies between taking a job and noting it in its slot takes the job along, and so does one
  /// that could not be started for it.
  void start_for_lost() {
    const auto lost = std::find(reported_.begin(), reported_.end(), false);
    board_->workers.fetch_add(1, std::memory_order_relaxed);
    start(0, static_cast<std::size_t>(lost - reported_.begin()));
  }

  void wait() {
    // Small cases answer every few hundred microseconds: to wake for each takes a processor from the workers.
    constexpr timespec pause{0, 2'000'000};
    if (jobs_ - ended_ > 16 * workers_.size()) nanosleep(&pause, nullptr);
    std::vector<pollfd> polled;
    std::vector<std::size_t> owners;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (workers_[i].in < 0) continue;
      polled.push_back({workers_[i].in, POLLIN, 0});
      owners.push_back(i);
    }
    std::int64_t left = time_left_ns();
    if (options_.max_resident != 0) left = std::min(left, between_looks_ns);
    const timespec timeout{static_cast<time_t>(left / 1'000'000'000),
                           static_cast<long>(left % 1'000'000'000)};
    const int ready = ppoll(polled.data(), polled.size(), &timeout, &signals_.former_mask());
    if (ready < 0 && errno != EINTR) fail_internal("waiting for workers: {}", std::strerror(errno));
    for (std::size_t i = 0; ready > 0 && i < polled.size() && !stopped_; ++i)
      if (polled[i].revents != 0) receive(owners[i]);
    if (!stopped_) kill_late();
    if (!stopped_ && options_.max_resident != 0) kill_large();
  }

  /// job + 1 of the job that a worker is at, 0 for none. A damaged worker may write anything into its slot.
  std::uint64_t job_of(std::size_t index) const {
    const std::uint64_t job = board_->slots[index].job.load(std::memory_order_acquire);
    const bool is_one = job != 0 && job <= jobs_;
    return is_one && (job == workers_[index].last || !reported_[job - 1]) ? job : 0;
  }

  std::int64_t now_ns() const { return options_.now().count(); }

  /// When a worker's time is up. One that is at no job has to take the next, or to end: one that somebody has
  /// stopped does neither, and may have taken a job along.
  std::optional<std::int64_t> deadline_ns(std::size_t index, std::uint64_t job) const {
    const Worker& worker = workers_[index];
    const bool is_idle = job == 0 || job == worker.last;
    if (worker.in < 0 || worker.doomed != 0 || (!options_.max_time && !is_idle)) return std::nullopt;
    const std::chrono::nanoseconds limit =
        options_.max_time ? *options_.max_time + kill_grace : std::chrono::nanoseconds(most_idle);
    return limit.count() +
           (is_idle ? worker.idle_since_ns : board_->slots[index].began_ns.load(std::memory_order_relaxed));
  }

  /// Nanoseconds until the first worker's time is up; a slot's job may have begun since, which only comes too
  /// early.
  std::int64_t time_left_ns() const {
    std::int64_t first = INT64_MAX;
    if (options_.max_run_time) first = begin_ns_ + options_.max_run_time->count();
    for (std::size_t i = 0; i < workers_.size(); ++i)
      first = std::min(first, deadline_ns(i, job_of(i)).value_or(first));
    return std::clamp<std::int64_t>(first - now_ns(), 1'000'000, std::chrono::nanoseconds(most_idle).count());
  }

  void kill_late() {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const std::uint64_t job = job_of(i);
      const std::optional<std::int64_t> deadline = deadline_ns(i, job);
      if (!deadline || now_ns() < *deadline) continue;
      workers_[i].doomed = job != 0 ? job : jobs_ + 1;
      kill(workers_[i].pid, SIGKILL);  // its pipe ends, and receive() sees to the rest
    }
  }

  void kill_large() {
    const std::int64_t now = now_ns();
    if (now - looked_ns_ < between_looks_ns) return;
    looked_ns_ = now;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      Worker& worker = workers_[i];
      const std::uint64_t job = job_of(i);
      if (worker.in < 0 || job == 0 || job == worker.last || worker.doomed != 0) continue;
      if (!holds_more(worker.pid, options_.max_resident)) continue;
      worker.doomed = job;
      worker.sentence = JobEnd::How::over_memory;
      kill(worker.pid, SIGKILL);
    }
  }

  void receive(std::size_t index) {
    Worker& worker = workers_[index];
    char buffer[65536];
    const ssize_t got = read(worker.in, buffer, sizeof buffer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return died(index);
    worker.received.append(buffer, static_cast<std::size_t>(got));
    std::size_t used = 0;
    while (worker.received.size() - used >= sizeof(AnswerHead) && !stopped_) {
      AnswerHead head;
      std::memcpy(&head, worker.received.data() + used, sizeof head);
      if (head.size > most_of_answer) {
        kill(worker.pid, SIGKILL);
        used = worker.received.size();
        break;
      }
      if (head.size > worker.received.size() - used - sizeof head) break;
      // No answer of ours: a case has damaged its process.
      if (head.job >= jobs_ || reported_[head.job]) {
        kill(worker.pid, SIGKILL);
        used = worker.received.size();
        break;
      }
      worker.last = head.job + 1;
      worker.idle_since_ns = now_ns();
      report({head.job, JobEnd::How::answered, worker.received.substr(used + sizeof head, head.size), 0});
      used += sizeof head + head.size;
    }
    worker.received.erase(0, used);
  }

  /// The pipe has ended and everything in it was read.
  void died(std::size_t index) {
    Worker& worker = workers_[index];
    const std::uint64_t job = job_of(index);
    const double seconds = static_cast<double>(now_ns() - board_->slots[index].began_ns.load()) * 1e-9;
    const std::uint64_t doomed = worker.doomed;
    const JobEnd::How sentence = worker.sentence;
    const bool unanswered = job != 0 && job != worker.last;
    const int status = end(worker, false);
    const bool by_kernel = options_.groups != nullptr && options_.groups->has_killed(index);
    std::optional<std::size_t> again;
    if (unanswered && doomed != 0 && doomed != job) {
      again = job - 1;  // the late one answered just before it was killed, and this one had begun
    } else if (unanswered && doomed != 0) {
      report({job - 1, sentence, {}, seconds});
    } else if (unanswered) {
      report({job - 1, by_kernel ? JobEnd::How::over_memory : JobEnd::How::crashed, describe_status(status),
              seconds});
    }
    // What came with an answered last job was lost by nobody; a worker that never took a job is a fault of
    // ours.
    idle_deaths_ = job == 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 0) ? idle_deaths_ + 1 : 0;
    if (idle_deaths_ > 3) fail_internal("workers die before they take a case: {}", describe_status(status));
    if (!stopped_ && (again || board_->next.load(std::memory_order_relaxed) < jobs_)) {
      board_->workers.fetch_add(1, std::memory_order_relaxed);
      if (!start(index, again)) board_->workers.fetch_sub(1, std::memory_order_relaxed);
    }
  }

  int end(Worker& worker, bool by_force) {
    if (by_force) kill(worker.pid, SIGKILL);
    close(worker.in);
    worker.in = -1;
    board_->workers.fetch_sub(1, std::memory_order_relaxed);
    int status = 0;
    while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  void report(JobEnd end) {
    ++ended_;
    reported_[end.job] = true;
    if (!on_end_(std::move(end))) stopped_ = true;
  }

  std::size_t jobs_;
  PoolOptions options_;
  const Job& run_;
  const std::function<bool(JobEnd)>& on_end_;
  SignalGuard signals_;
  std::vector<Worker> workers_;
  SharedBoard board_;
  std::vector<bool> reported_;  // by job
  /// Between two looks at what memory workers hold: in this time a core can fill some 100 MB.
  static constexpr std::int64_t between_looks_ns = 50'000'000;
  /// Where jobs have no limit of time.
  static constexpr std::chrono::seconds most_idle{60};
  const std::int64_t begin_ns_ = now_ns();
  std::int64_t looked_ns_ = begin_ns_;
  std::size_t ended_ = 0;
  int idle_deaths_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::string describe_status(int status) {
  if (WIFEXITED(status)) return fmt::format("exited with status {}", WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  const char* name = sigabbrev_np(number);
  const char* text = strsignal(number);
  return fmt::format("killed by SIG{} ({})", name != nullptr ? name : "?",
                     text != nullptr ? text : "unknown signal");
}

void answer_and_end(const std::string& answer) {
  _exit(send_answer(answers_to, job_at.load(), answer) ? 0 : 1);
}

std::chrono::nanoseconds steady_time() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

PoolEnd run_pool(std::size_t jobs, const PoolOptions& options, const Job& run,
                 const std::function<bool(JobEnd)>& on_end) {
  return Pool(jobs, options, run, on_end).all();
}

}  // namespace grurun::conformance
