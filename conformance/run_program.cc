#include "conformance/run_program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tensor/error.h"

namespace grurun::conformance {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// In the child, between fork and exec: nothing here takes memory or locks.
[[noreturn]] void become(char* const* words, char* const* environment, int output, std::size_t max_memory,
                         pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  setpgid(0, 0);
  if (max_memory > 0) {
    const rlimit limit{max_memory, max_memory};
    setrlimit(RLIMIT_DATA, &limit);
  }
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) _exit(126);
  execvpe(words[0], words, environment);
  _exit(127);
}

/// How the process ended; nullopt: it was killed at the deadline.
std::optional<int> wait_until(pid_t pid, std::optional<Clock::time_point> deadline) {
  constexpr std::chrono::microseconds longest_nap{20000};
  std::chrono::microseconds nap{500};
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) return status;
    if (ended < 0 && errno != EINTR) fail_internal("waiting for a command: {}", std::strerror(errno));
    if (deadline && Clock::now() >= *deadline) break;
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, longest_nap);
  }
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);  // before it has made a group of its own
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return std::nullopt;
}

}  // namespace

bool can_be_run(const std::string& program) {
  if (program.find('/') != program.npos) return access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

std::string python_program() {
  const char* python = std::getenv("GRURUN_PYTHON");
  return python == nullptr ? "python3" : python;
}

std::optional<int> run_words(const std::vector<std::string>& words, const std::string& output_file,
                             std::size_t max_memory, std::optional<Clock::time_point> deadline,
                             const std::vector<std::string>& variables) {
  std::vector<char*> arguments, environment;
  for (char** each = environ; *each != nullptr; ++each) environment.push_back(*each);
  for (const std::string& each : variables) environment.push_back(const_cast<char*>(each.c_str()));
  environment.push_back(nullptr);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int output = open(output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (output < 0) fail_internal("{}: {}", output_file, std::strerror(errno));
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) become(arguments.data(), environment.data(), output, max_memory, parent);
  const int error = errno;
  close(output);
  if (pid < 0) fail_internal("no process for a command: {}", std::strerror(error));
  const std::optional<int> status = wait_until(pid, deadline);
  kill(-pid, SIGKILL);  // what it started and left behind
  return status;
}

std::string last_line(const std::string& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  constexpr std::streamoff most = 4096;
  const std::streamoff size = in.tellg();
  in.seekg(std::max<std::streamoff>(size - most, 0));
  std::string last;
  for (std::string line; std::getline(in, line);)
    if (line.find_first_not_of(" \t\r") != line.npos) last = line;
  constexpr std::size_t longest = 300;
  return last.substr(0, longest);
}

}  // namespace grurun::conformance
