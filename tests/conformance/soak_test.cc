// A suite again and again in one process, while its workers are killed and stopped at random: nothing is
// lost, nothing changes, nothing piles up. `make soak` runs it on the official cases, 200 times.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "conformance/discover.h"
#include "conformance/suite.h"
#include "conformance/wire.h"
#include "tensor/sanitizers.h"
#include "tests/places/in_tree.h"

namespace grurun::conformance {
namespace {

namespace fs = std::filesystem;

/// A process that kills or stops a child of this one now and then, not itself; then it leaves them alone, so
/// that long cases end, too.
class Killer {
 public:
  Killer(unsigned seed, unsigned most_pause_us) {
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::mt19937 random(seed);
    for (int i = 0; i < most_killed && getppid() == parent; ++i) {
      usleep(most_pause_us / 4 + static_cast<unsigned>(random()) % most_pause_us);
      std::ifstream list("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
      std::vector<pid_t> children;
      for (pid_t child = 0; list >> child;)
        if (child != getpid()) children.push_back(child);
      if (!children.empty())
        kill(children[random() % children.size()], random() % 8 == 0 ? SIGSTOP : SIGKILL);
    }
    _exit(0);
  }
  ~Killer() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Killer(const Killer&) = delete;
  Killer& operator=(const Killer&) = delete;

 private:
  static constexpr int most_killed = 25;

  pid_t pid_ = -1;
};

std::ptrdiff_t open_files() {
  return std::distance(fs::directory_iterator("/proc/self/fd"), {});
}

long resident_pages() {
  std::ifstream file("/proc/self/statm");
  long size = 0, resident = 0;
  file >> size >> resident;
  return resident;
}

/// The verdict, the comparisons to the last bit and all that is said, without the time that it took.
std::string bits_of(CaseResult result) {
  result.seconds = 0;
  return encode(result);
}

struct Soak {
  int rounds = 2;
  std::string suite = tests::in_tree("testdata/recurrent");
  std::size_t most_cases = 150;
  unsigned most_pause_us = 30'000;
  int seconds = 2;  // of a case: a worker that was stopped is waited for as long
};

Soak chosen() {
  Soak soak;
  const char* const suite = std::getenv("GRURUN_SOAK_SUITE");
  if (suite == nullptr) return soak;
  soak.suite = suite;
  soak.most_cases = SIZE_MAX;
  soak.most_pause_us = 400'000;
  soak.seconds = 5;
  if (const char* const rounds = std::getenv("GRURUN_SOAK_ROUNDS")) soak.rounds = std::atoi(rounds);
  return soak;
}

TEST(Soak, NothingIsLostWhenWorkersDie) {
  if (GRURUN_ASAN || GRURUN_TSAN) GTEST_SKIP() << "a worker starts too slowly under a sanitizer";
  if (!fs::exists("/proc/thread-self/children")) GTEST_SKIP() << "this kernel lists no children";
  const Soak soak = chosen();
  SuiteResult first;
  std::ptrdiff_t files = 0;
  long pages = 0;
  std::size_t again = 0;
  // Where every case ends before the killer wakes, more rounds are run.
  for (int round = 0; round <= soak.rounds || (again == 0 && round <= 30); ++round) {
    SuiteResult result;
    result.cases = discover({soak.suite}).cases;
    if (result.cases.size() > soak.most_cases) result.cases.resize(soak.most_cases);
    result.options.workers = 2;
    result.options.threads = 2;
    result.options.retries = 50;
    result.options.each.max_time = std::chrono::seconds(soak.seconds);
    result.options.folders = {soak.suite};
    {
      std::optional<Killer> killer;  // the first round is what the others are held against
      if (round > 0) killer.emplace(static_cast<unsigned>(round), soak.most_pause_us);
      run_suite(result, {});
    }
    ASSERT_EQ(result.end, PoolEnd::done);
    ASSERT_EQ(result.not_run(), 0U);
    for (const CaseOutcome& outcome : result.outcomes) again += outcome.attempts.size();
    if (round == 0) {
      first = std::move(result);
      continue;
    }
    for (std::size_t i = 0; i < first.outcomes.size(); ++i)
      ASSERT_EQ(bits_of(result.outcomes[i].result), bits_of(first.outcomes[i].result))
          << first.cases[i].full_name() << " in round " << round;
    if (round == 1) files = open_files(), pages = resident_pages();
    if (soak.rounds > 2)
      std::printf("round %d: %zu cases were run again so far, %ld pages, %td files\n", round, again,
                  resident_pages(), open_files());
  }
  EXPECT_GT(again, 0U) << "no worker died at work";
  EXPECT_EQ(open_files(), files);
  EXPECT_LT(resident_pages(), pages + pages / 4 + 4096);
}

}  // namespace
}  // namespace grurun::conformance
