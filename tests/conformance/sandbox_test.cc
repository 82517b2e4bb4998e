// What code of a stranger, in a worker, cannot do: each attempt is a job, ends in an answer or in the job's
// own end, and the jobs behind it run.
#include "conformance/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "conformance/discover.h"
#include "conformance/privileges.h"
#include "conformance/process_limits.h"
#include "conformance/suite.h"
#include "conformance/worker.h"
#include "tensor/error.h"
#include "tensor/sanitizers.h"
#include "tests/places/in_tree.h"

namespace grurun::conformance {
namespace {

namespace fs = std::filesystem;

std::string result_of(long result) {
  return result < 0 ? std::strerror(errno) : "done";
}

std::string open_to_read(const std::string& path) {
  return result_of(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

std::string start_program() {
  char program[] = "/bin/true";
  char* arguments[] = {program, nullptr};
  return result_of(execve(program, arguments, nullptr));
}

std::string fork_bomb() {
  for (int i = 0; i < 1000; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child < 0) return std::strerror(errno);
  }
  return "done";
}

/// Of the process's own limits, which hostile code may set as it can.
template <typename Resource>
std::string raise_limit(Resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "no limit";
  if (limit.rlim_max != limit.rlim_cur) return "it is not final";
  limit.rlim_cur += 1000;
  limit.rlim_max = limit.rlim_cur;
  return result_of(setrlimit(resource, &limit));
}

/// The first byte of a file that the system makes up.
std::string read_of_process(const std::string& file) {
  const int open_file = open(("/proc/" + file).c_str(), O_RDONLY | O_CLOEXEC);
  char byte = 0;
  return result_of(open_file < 0 ? -1 : read(open_file, &byte, 1));
}

std::string take_all_memory() {
  try {
    std::vector<std::unique_ptr<char[]>> held;
    for (;;) {
      held.push_back(std::make_unique<char[]>(64 << 20));
      std::memset(held.back().get(), 1, 64 << 20);
    }
  } catch (const std::bad_alloc&) {
    return "no memory";
  }
}

class Sandboxed : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GRURUN_ASAN || GRURUN_TSAN) GTEST_SKIP() << "the sanitizers start and trace processes themselves";
    const SandboxState state = sandbox_support();
    if (state.landlock == 0 || !state.seccomp) GTEST_SKIP() << "this kernel has " << state.text();
    fs::create_directories(folder_ / "model");
    fs::create_directories(folder_ / "home");
    std::ofstream(folder_ / "model" / "data.bin") << "data";
    std::ofstream(folder_ / "home" / "secret") << "secret";
    std::ofstream(folder_ / "home" / "shared.bin") << "shared";
    const std::pair<const char*, std::string> links[] = {{"shared.bin", path("home/shared.bin")},
                                                         {"root", "/"},
                                                         {"around", path("")},
                                                         {"process", "/proc/self"},
                                                         {"environment", "/proc/self/environ"},
                                                         {"nowhere", path("nowhere")}};
    for (const auto& [name, to] : links) {
      links_.push_back(path(std::string("model/") + name));
      fs::create_symlink(to, links_.back());
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  using Attempts = std::vector<std::pair<const char*, std::function<std::string()>>>;

  /// What came of each attempt, of two workers that share them.
  std::map<std::string, JobEnd> run(const Attempts& attempts) const {
    return run(attempts, {.read = {path("model")}, .links = links_});
  }
  static std::map<std::string, JobEnd> run(const Attempts& attempts, const SandboxPaths& paths) {
    const Sandbox sandbox(SandboxMode::strict, SandboxRole::worker, paths);
    PoolOptions options{2, std::chrono::seconds(20)};
    options.on_start = [&](int answers) {
      limit_memory(std::size_t{256} << 20);
      limit_files();
      limit_processor_time(std::chrono::seconds(1000));
      sandbox.enter();
      keep_only(answers);
    };
    std::map<std::string, JobEnd> ends;
    const auto job = [&](std::size_t i, const WorkersLeft&) { return attempts[i].second(); };
    const PoolEnd end = run_pool(attempts.size(), options, job, [&](JobEnd one) {
      ends[attempts[one.job].first] = one;
      return true;
    });
    EXPECT_EQ(end, PoolEnd::done);
    return ends;
  }

  std::vector<std::string> links_;
  const fs::path folder_ = fs::temp_directory_path() / ("grurun-sandbox-" + std::to_string(getpid()));
};

TEST_F(Sandboxed, ReadsItsFolderAndComputes) {
  const Attempts attempts = {
      {"read", [&] { return open_to_read(path("model/data.bin")); }},
      {"read where a link leads", [&] { return open_to_read(path("model/shared.bin")); }},
      {"list", [&] { return std::to_string(std::distance(fs::directory_iterator(path("model")), {})); }},
      {"thread",
       [] {
         std::string out;
         std::thread([&] { out = "done"; }).join();
         return out;
       }},
      {"memory", [] { return std::string(std::vector<char>(100 << 20, 'x').back() == 'x' ? "done" : ""); }},
      {"abort itself", []() -> std::string { std::abort(); }},
  };
  const auto ends = run(attempts);
  EXPECT_EQ(ends.at("read").answer, "done");
  EXPECT_EQ(ends.at("read where a link leads").answer, "done");
  EXPECT_EQ(ends.at("list").answer, "7");
  EXPECT_EQ(ends.at("thread").answer, "done");
  EXPECT_EQ(ends.at("memory").answer, "done");
  EXPECT_EQ(ends.at("abort itself").how, JobEnd::How::crashed);
}

TEST_F(Sandboxed, DoesNothingElse) {
  setenv("GRURUN_TEST_SECRET", "secret", 1);
  const int inherited = open(path("home/secret").c_str(), O_RDONLY | O_CLOEXEC);
  const pid_t parent = getpid();
  const std::string denied = std::strerror(EACCES), forbidden = std::strerror(EPERM);
  const Attempts attempts = {
      {"read the home folder", [&] { return open_to_read(path("home/secret")); }},
      {"read through a way up", [&] { return open_to_read(path("model/../home/secret")); }},
      {"read through a link to all", [&] { return open_to_read(path("model/root/etc/passwd")); }},
      {"read through a link to what is around",
       [&] { return open_to_read(path("model/around/home/secret")); }},
      {"read through a link to a process", [&] { return open_to_read(path("model/process/environ")); }},
      {"read through a link to the environment", [&] { return open_to_read(path("model/environment")); }},
      {"read /etc", [] { return open_to_read("/etc/passwd"); }},
      {"write /tmp", [&] { return result_of(open(path("new").c_str(), O_WRONLY | O_CREAT, 0600)); }},
      {"write the model", [&] { return result_of(open(path("model/data.bin").c_str(), O_WRONLY)); }},
      {"remove the model", [&] { return result_of(unlink(path("model/data.bin").c_str())); }},
      {"open a socket", [] { return result_of(socket(AF_INET, SOCK_STREAM, 0)); }},
      {"open a local socket", [] { return result_of(socket(AF_UNIX, SOCK_STREAM, 0)); }},
      {"start a program", start_program},
      {"fork", fork_bomb},
      {"trace", [&] { return result_of(ptrace(PTRACE_ATTACH, parent, nullptr, nullptr)); }},
      {"leave the namespace", [] { return result_of(unshare(CLONE_NEWUSER)); }},
      {"kill the parent", [&] { return result_of(kill(parent, SIGKILL)); }},
      {"run what it wrote",
       [] {
         return result_of(mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                               -1, 0) == MAP_FAILED
                              ? -1
                              : 0);
       }},
      {"raise its limit of memory", [] { return raise_limit(RLIMIT_DATA); }},
      {"raise its limit of processor time", [] { return raise_limit(RLIMIT_CPU); }},
      {"read the parent's environment", [&] { return read_of_process(fmt::format("{}/environ", parent)); }},
      {"read the parent's maps", [&] { return read_of_process(fmt::format("{}/maps", parent)); }},
      {"read the parent's status", [&] { return read_of_process(fmt::format("{}/status", parent)); }},
      {"read its own environment's file", [] { return read_of_process("self/environ"); }},
      {"read its own memory's file", [] { return read_of_process("self/mem"); }},
      {"leave by its own root", [] { return read_of_process("self/root/etc/passwd"); }},
      {"write where the parent prints",
       [] {
         struct stat there {
         }, nothing{};
         const bool is_nothing = fstat(STDOUT_FILENO, &there) == 0 && stat("/dev/null", &nothing) == 0 &&
                                 there.st_rdev == nothing.st_rdev && S_ISCHR(there.st_mode);
         return std::string(is_nothing ? "nowhere" : "there");
       }},
      {"hide memory in a file without a name", [] { return result_of(memfd_create("hidden", 0)); }},
      {"take all memory", take_all_memory},
      {"read the environment",
       [] { return std::string(getenv("GRURUN_TEST_SECRET") == nullptr ? "nothing" : "secret"); }},
      {"use what was open",
       [&] {
         char read = 0;  // the number may be that of something else by now
         return std::string(pread(inherited, &read, 1, 0) == 1 ? "read" : "cannot");
       }},
      {"go on", [] { return std::string("done"); }},
  };
  const auto ends = run(attempts);
  close(inherited);
  unsetenv("GRURUN_TEST_SECRET");
  const std::map<std::string, std::string> wanted = {
      {"read the home folder", denied},
      {"read through a way up", denied},
      {"read through a link to all", denied},
      {"read through a link to what is around", denied},
      {"read through a link to a process", denied},
      {"read through a link to the environment", denied},
      {"read /etc", denied},
      {"write /tmp", denied},
      {"write the model", denied},
      {"remove the model", forbidden},
      {"open a socket", forbidden},
      {"open a local socket", forbidden},
      {"start a program", forbidden},
      {"fork", forbidden},
      {"trace", forbidden},
      {"leave the namespace", forbidden},
      {"kill the parent", forbidden},
      {"run what it wrote", forbidden},
      {"raise its limit of memory", forbidden},
      {"raise its limit of processor time", forbidden},
      {"read the parent's environment", denied},
      {"read the parent's maps", denied},
      {"read the parent's status", denied},
      {"read its own environment's file", denied},
      {"read its own memory's file", denied},
      {"leave by its own root", denied},
      {"write where the parent prints", "nowhere"},
      {"hide memory in a file without a name", forbidden},
      {"take all memory", "no memory"},
      {"read the environment", "nothing"},
      {"use what was open", "cannot"},
      {"go on", "done"},
  };
  for (const auto& [attempt, answer] : wanted) EXPECT_EQ(ends.at(attempt).answer, answer) << attempt;
}

TEST_F(Sandboxed, OfAModelInTheRootReadsNothingOfTheSystem) {
  const pid_t parent = getpid();
  const Attempts attempts = {
      {"read a file", [&] { return open_to_read(path("model/data.bin")); }},
      {"read the parent's environment", [&] { return read_of_process(fmt::format("{}/environ", parent)); }},
      {"read its own environment's file", [] { return read_of_process("self/environ"); }},
  };
  const std::string denied = std::strerror(EACCES);
  for (const char* const root : {"/", "/..", "//"}) {
    const auto ends = run(attempts, {.read = {root}});
    EXPECT_EQ(ends.at("read a file").answer, "done") << root;
    EXPECT_EQ(ends.at("read the parent's environment").answer, denied) << root;
    EXPECT_EQ(ends.at("read its own environment's file").answer, denied) << root;
  }
}

/// What a step of a run tries, in a worker of a suite: each attempt once, whichever case comes to it.
struct Tried {
  std::atomic<std::size_t> next{0};
  char answers[16][64] = {};
};

TEST_F(Sandboxed, StepsThatAttackEndTheirCaseAtMost) {
  const std::string denied = std::strerror(EACCES), forbidden = std::strerror(EPERM);
  const pid_t parent = getpid();
  const std::vector<std::pair<std::function<std::string()>, std::string>> attempts = {
      {[&] { return open_to_read(path("home/secret")); }, denied},
      {[&] { return result_of(open(path("new").c_str(), O_WRONLY | O_CREAT, 0600)); }, denied},
      {[] { return result_of(socket(AF_INET, SOCK_STREAM, 0)); }, forbidden},
      {start_program, forbidden},
      {fork_bomb, forbidden},
      {[&] { return result_of(kill(parent, SIGKILL)); }, forbidden},
      {[] { return take_all_memory(), throw std::bad_alloc(), ""; }, ""},
      {[]() -> std::string { std::abort(); }, ""},
      {[]() -> std::string { return raise(SIGSEGV), ""; }, ""},
  };
  void* const shared =
      mmap(nullptr, sizeof(Tried), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* const tried = new (shared) Tried;
  SuiteResult result;
  const std::string suite = tests::in_tree("testdata/recurrent");
  result.cases = discover({suite}).cases;
  result.cases.resize(20);
  result.options.workers = 2;
  result.options.threads = 2;
  result.options.max_memory = std::size_t{256} << 20;
  result.options.sandbox = SandboxMode::strict;
  result.options.folders = {suite};
  result.options.each.between_steps = [&] {
    const std::size_t turn = tried->next.fetch_add(1);
    if (turn >= attempts.size()) return;
    const std::string answer = attempts[turn].first();
    answer.copy(tried->answers[turn], sizeof tried->answers[turn] - 1);
  };
  run_suite(result, {});
  EXPECT_EQ(result.not_run(), 0U);
  std::map<Verdict, int> verdicts;
  for (const CaseOutcome& outcome : result.outcomes) ++verdicts[outcome.result.verdict];
  EXPECT_EQ(verdicts[Verdict::passed], 17);
  EXPECT_EQ(verdicts[Verdict::crashed], 2);
  EXPECT_EQ(verdicts[Verdict::timed_out], 1);
  for (std::size_t i = 0; i < attempts.size(); ++i)
    EXPECT_EQ(std::string(tried->answers[i]), attempts[i].second) << "attempt " << i;
  EXPECT_TRUE(result.sandbox.starts_with(sandbox_support().text())) << result.sandbox;
  munmap(shared, sizeof(Tried));
}

TEST(ProcessLimits, OfProcessorTimeLeaveACaseItsOwn) {
  rlimit former{};
  ASSERT_EQ(getrlimit(RLIMIT_CPU, &former), 0);
  limit_processor_time(std::chrono::seconds(1000));
  EXPECT_TRUE(has_processor_time(std::chrono::seconds(900)));
  EXPECT_FALSE(has_processor_time(std::chrono::seconds(1100)));
  setrlimit(RLIMIT_CPU, &former);
}

TEST(SandboxMode, HasThreeNames) {
  EXPECT_EQ(parse_sandbox_mode("auto"), SandboxMode::automatic);
  EXPECT_EQ(parse_sandbox_mode("strict"), SandboxMode::strict);
  EXPECT_EQ(parse_sandbox_mode("off"), SandboxMode::off);
  EXPECT_EQ(parse_sandbox_mode("on"), std::nullopt);
}

TEST(RunPool, EndsWhenTheTimeOfAllJobsIsUp) {
  PoolOptions options;
  options.max_run_time = std::chrono::milliseconds(300);
  int ended = 0;
  const auto job = [](std::size_t, const WorkersLeft&) {
    usleep(200'000);
    return std::string();
  };
  const auto count = [&](JobEnd) { return ++ended > 0; };
  EXPECT_EQ(run_pool(20, options, job, count), PoolEnd::out_of_time);
  EXPECT_LT(ended, 5);
}

}  // namespace
}  // namespace grurun::conformance
