#include "conformance/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>

#include "conformance/memory_groups.h"
#include "tensor/sanitizers.h"

namespace grurun::conformance {
namespace {

using How = JobEnd::How;
using testing::HasSubstr;

std::map<std::size_t, JobEnd> run(std::size_t jobs, const PoolOptions& options,
                                  const std::function<std::string(std::size_t)>& job) {
  std::map<std::size_t, JobEnd> ends;
  const auto alone = [&](std::size_t number, const WorkersLeft&) { return job(number); };
  const PoolEnd end = run_pool(jobs, options, alone, [&](JobEnd job_end) {
    EXPECT_TRUE(ends.emplace(job_end.job, job_end).second) << "job " << job_end.job << " ended twice";
    return true;
  });
  EXPECT_EQ(end, PoolEnd::done);
  EXPECT_EQ(ends.size(), jobs);
  return ends;
}

[[noreturn]] void die_of(int number) {
  signal(number, SIG_DFL);  // sanitizers would turn it into an exit
  raise(number);
  std::abort();
}

TEST(Pool, EveryJobRunsOnceAndAnswersWhole) {
  for (const int workers : {1, 2, 5}) {
    const auto ends = run(200, {workers, std::nullopt}, [](std::size_t job) {
      return std::string(job % 7 == 0 ? 300'000 : job, static_cast<char>('a' + job % 26));
    });
    for (const auto& [job, end] : ends) {
      EXPECT_EQ(end.how, How::answered);
      EXPECT_EQ(end.answer, std::string(job % 7 == 0 ? 300'000 : job, static_cast<char>('a' + job % 26)));
    }
  }
}

TEST(Pool, AWorkerThatDoesNotGoOnIsReplaced) {
  PoolOptions options{2, std::nullopt};
  options.goes_on = [] { return false; };
  std::set<std::string> processes;
  for (const auto& [job, end] : run(8, options, [](std::size_t) { return std::to_string(getpid()); })) {
    EXPECT_EQ(end.how, How::answered) << job;
    processes.insert(end.answer);
  }
  EXPECT_EQ(processes.size(), 8U);
}

TEST(Pool, WorkersAreProcessesThatLiveLong) {
  const auto ends = run(50, {2, std::nullopt}, [](std::size_t) { return std::to_string(getpid()); });
  std::set<std::string> processes;
  for (const auto& [job, end] : ends) processes.insert(end.answer);
  EXPECT_LE(processes.size(), 2u);
  EXPECT_FALSE(processes.contains(std::to_string(getpid())));
}

TEST(Pool, ACrashCostsOneJob) {
  const auto ends = run(40, {2, std::nullopt}, [](std::size_t job) -> std::string {
    if (job == 3) die_of(SIGSEGV);
    if (job == 17) std::_Exit(3);
    if (job == 18) die_of(SIGABRT);
    if (job == 39) die_of(SIGKILL);
    return "ok";
  });
  for (const auto& [job, end] : ends) {
    const bool crashes = job == 3 || job == 17 || job == 18 || job == 39;
    EXPECT_EQ(end.how, crashes ? How::crashed : How::answered) << job;
  }
  EXPECT_THAT(ends.at(3).answer, HasSubstr("killed by SIGSEGV"));
  EXPECT_EQ(ends.at(17).answer, "exited with status 3");
  EXPECT_THAT(ends.at(18).answer, HasSubstr("killed by SIGABRT"));
  EXPECT_THAT(ends.at(39).answer, HasSubstr("killed by SIGKILL"));
}

#if defined(__x86_64__)
// A worker looks at the clock between taking a job and noting it in its slot; job 0 sees to it that this ends
// the process.
TEST(Pool, AJobThatAWorkerTookAlongIsRunByAnother) {
  const auto ends = run(3, {1, std::nullopt}, [](std::size_t job) -> std::string {
    if (job == 0) {
      signal(SIGSEGV, SIG_DFL);
      prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    }
    return std::to_string(job);
  });
  for (const auto& [job, end] : ends) {
    EXPECT_EQ(end.how, How::answered) << job;
    EXPECT_EQ(end.answer, std::to_string(job));
  }
}
#endif

TEST(Pool, EveryJobMayCrash) {
  const auto ends = run(12, {3, std::nullopt}, [](std::size_t) -> std::string { die_of(SIGBUS); });
  for (const auto& [job, end] : ends) EXPECT_EQ(end.how, How::crashed);
}

// Stands still but for what jobs add to it, so that a slow machine ends no job.
class PoolClock {
 public:
  static std::chrono::nanoseconds now() { return std::chrono::nanoseconds(*time_); }
  static void advance(std::chrono::nanoseconds by) { *time_ += by.count(); }

 private:
  using Time = std::atomic<std::int64_t>;
  // Of this process and those that it forks.
  static inline Time* const time_ = static_cast<Time*>(
      mmap(nullptr, sizeof(Time), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
};

constexpr std::chrono::milliseconds max_time{100};
constexpr std::chrono::nanoseconds time_to_kill = max_time + kill_grace;

std::string hang() {
  PoolClock::advance(time_to_kill);
  std::this_thread::sleep_for(std::chrono::minutes(1));
  return "was not killed";
}

TEST(Pool, AHangIsKilledAndCostsOneJob) {
  const auto ends = run(20, {1, max_time, PoolClock::now},
                        [](std::size_t job) -> std::string { return job == 2 || job == 11 ? hang() : "ok"; });
  for (const auto& [job, end] : ends)
    EXPECT_EQ(end.how, job == 2 || job == 11 ? How::timed_out : How::answered) << job;
  EXPECT_NEAR(ends.at(2).seconds, std::chrono::duration<double>(time_to_kill).count(), 1e-9);
}

TEST(Pool, AHangCostsNoOtherWorkerItsJob) {
  std::map<std::size_t, How> ends;
  const auto job = [](std::size_t number, const WorkersLeft& left) -> std::string {
    if (number != 2) return "ok";
    while (left() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return hang();
  };
  const PoolEnd end = run_pool(20, {2, max_time, PoolClock::now}, job, [&](const JobEnd& job_end) {
    ends[job_end.job] = job_end.how;
    return true;
  });
  EXPECT_EQ(end, PoolEnd::done);
  EXPECT_EQ(ends.size(), 20u);
  for (const auto& [number, how] : ends)
    EXPECT_EQ(how, number == 2 ? How::timed_out : How::answered) << number;
}

// As one that somebody stops between two jobs, or as it starts: nobody else would take what it took along.
TEST(Pool, AStoppedWorkerThatIsAtNoJobIsReplaced) {
  for (const std::size_t jobs : {1U, 20U}) {
    PoolOptions options{1, max_time, PoolClock::now};
    int* const starts = static_cast<int*>(
        mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    options.on_start = [&](int) {
      if (++*starts > 1) return;
      PoolClock::advance(time_to_kill);
      raise(SIGSTOP);
    };
    for (const auto& [job, end] : run(jobs, options, [](std::size_t) { return "ok"; }))
      EXPECT_EQ(end.how, How::answered) << job;
    EXPECT_EQ(*starts, 2);
    munmap(starts, sizeof(int));
  }
}

/// Fills it and stays, for the parent to look.
std::string hold(std::size_t bytes, int flags) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (at == MAP_FAILED) return "no memory";
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  return "was not killed";
}

/// So many mappings of one piece of memory.
std::string repeat(std::size_t bytes, int times) {
  void* const at =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  for (int i = 1; i < times; ++i) {
    void* const again = mremap(at, 0, bytes, MREMAP_MAYMOVE);
    if (again == MAP_FAILED) return "not mapped";
    static_cast<volatile char*>(again)[0] = 1;
    madvise(again, bytes, 22);  // MADV_POPULATE_READ
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  return "ok";
}

TEST(Pool, AWorkerThatHoldsTooMuchMemoryIsKilledAndCostsOneJob) {
  if (GRURUN_ASAN || GRURUN_TSAN) GTEST_SKIP() << "the sanitizers take memory of their own";
  PoolOptions options{2, std::nullopt};
  options.max_resident = std::size_t{96} << 20;
  const auto ends = run(6, options, [](std::size_t job) -> std::string {
    if (job == 1) return hold(std::size_t{128} << 20, MAP_PRIVATE);
    if (job == 3) return hold(std::size_t{128} << 20, MAP_SHARED);
    return job == 4 ? repeat(std::size_t{16} << 20, 10) : "ok";
  });
  for (const auto& [job, end] : ends) {
    EXPECT_EQ(end.how, job == 1 || job == 3 ? How::over_memory : How::answered) << job << end.answer;
    EXPECT_EQ(job == 4 ? end.answer : "ok", "ok");
  }
}

TEST(Pool, AWorkerThatPassesTheMemoryOfItsGroupIsKilledAndCostsOneJob) {
  if (GRURUN_ASAN || GRURUN_TSAN) GTEST_SKIP() << "the sanitizers take memory of their own";
  MemoryGroups groups(1, std::size_t{48} << 20);
  if (groups.version() == 0) GTEST_SKIP() << "no control groups can be made";
  PoolOptions options{1, std::nullopt};
  options.groups = &groups;
  const auto ends = run(5, options, [](std::size_t job) -> std::string {
    if (job == 1) return hold(std::size_t{96} << 20, MAP_PRIVATE);
    if (job == 2) return hold(std::size_t{96} << 20, MAP_SHARED);
    if (job == 3) die_of(SIGKILL);
    return "ok";
  });
  for (const auto& [job, end] : ends)
    EXPECT_EQ(end.how, job == 1 || job == 2 ? How::over_memory
                       : job == 3           ? How::crashed
                                            : How::answered)
        << job << end.answer;
}

TEST(Pool, JobsThatEndInTimeAreNotKilledHoweverManyThereAre) {
  const auto ends = run(30, {1, max_time, PoolClock::now}, [](std::size_t) {
    PoolClock::advance(time_to_kill - std::chrono::nanoseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // for the parent to look
    return std::string("ok");
  });
  for (const auto& [job, end] : ends) EXPECT_EQ(end.how, How::answered) << job;
}

// Of two workers one dies and is replaced; then the jobs run out, and the last one is told that it is alone.
TEST(Pool, TellsHowManyWorkersAreLeft) {
  const auto job = [](std::size_t number, const WorkersLeft& left) {
    const std::string before = std::to_string(left());
    if (number == 0) die_of(SIGKILL);
    if (number == 1) {
      for (int i = 0; i < 20'000 && left() > 1; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return before + std::to_string(left());
  };
  std::map<std::size_t, std::string> answers;
  const PoolEnd end = run_pool(3, {2, std::nullopt}, job, [&](const JobEnd& job_end) {
    answers[job_end.job] = job_end.how == How::answered ? job_end.answer : "died";
    return true;
  });
  EXPECT_EQ(end, PoolEnd::done);
  EXPECT_EQ(answers[0], "died");
  EXPECT_THAT(answers[1], testing::EndsWith("1"));
}

TEST(Pool, StopsWhenTold) {
  std::size_t ended = 0;
  const PoolEnd end = run_pool(
      1000, {2, std::nullopt},
      [](std::size_t, const WorkersLeft&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return std::string();
      },
      [&](JobEnd) { return ++ended < 5; });
  EXPECT_EQ(end, PoolEnd::stopped);
  EXPECT_EQ(ended, 5u);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);  // no worker is left behind
}

TEST(Pool, AnInterruptKillsTheWorkersAndIsReported) {
  const PoolEnd end = run_pool(
      8, {2, std::nullopt},
      [](std::size_t job, const WorkersLeft&) {
        if (job == 0) return std::string("first");
        for (;;) pause();
      },
      [&](JobEnd job_end) {
        EXPECT_EQ(job_end.job, 0u);
        kill(getpid(), SIGINT);
        return true;
      });
  EXPECT_EQ(end, PoolEnd::interrupted);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

TEST(Pool, OtherSignalsDoNotDisturbIt) {
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &old);
  const pid_t parent = getpid();
  const auto ends = run(50, {2, std::nullopt}, [parent](std::size_t) {
    kill(parent, SIGUSR1);
    return std::string("ok");
  });
  sigaction(SIGUSR1, &old, nullptr);
  EXPECT_EQ(ends.size(), 50u);
}

TEST(Pool, TellsWhatAWorkerDiedOfWhereSigchldWasIgnored) {
  signal(SIGCHLD, SIG_IGN);
  const auto ends = run(1, {1, std::nullopt}, [](std::size_t) -> std::string { die_of(SIGKILL); });
  EXPECT_THAT(ends.at(0).answer, HasSubstr("killed by SIGKILL"));
  EXPECT_EQ(signal(SIGCHLD, SIG_DFL), SIG_IGN);
}

TEST(Pool, AsManyWorkersAsTheSystemGives) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int lowest_free = dup(STDIN_FILENO);
  ASSERT_GE(lowest_free, 0);
  close(lowest_free);
  const rlimit few{static_cast<rlim_t>(lowest_free) + 4, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto ends = run(100, {20, std::nullopt}, [](std::size_t job) -> std::string {
    if (job % 10 == 3) die_of(SIGKILL);
    return "ok";
  });
  setrlimit(RLIMIT_NOFILE, &before);
  for (const auto& [job, end] : ends) EXPECT_EQ(end.how, job % 10 == 3 ? How::crashed : How::answered) << job;
}

TEST(Pool, NoJobsNoWorkers) {
  EXPECT_TRUE(run(0, {2, std::nullopt}, [](std::size_t) { return std::string(); }).empty());
}

}  // namespace
}  // namespace grurun::conformance
