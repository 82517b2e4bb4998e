#include <fcntl.h>
#include <fmt/format.h>
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

#include "conformance/other_runtime.h"
#include "conformance/worker.h"
#include "tensor/error.h"

namespace grurun::conformance {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string replaced(std::string word, const std::string& name, const std::string& value) {
  for (std::size_t at = word.find(name); at != word.npos; at = word.find(name, at + value.size()))
    word.replace(at, name.size(), value);
  return word;
}

bool can_be_run(const std::string& program) {
  if (program.find('/') != program.npos) return access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

/// The last line of a file that is not blank, or nothing: what a program that fails says of it.
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

/// In the child, between fork and exec: nothing here takes memory or locks.
[[noreturn]] void become(char* const* words, int output, std::size_t max_memory, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  setpgid(0, 0);
  if (max_memory > 0) {
    const rlimit limit{max_memory, max_memory};
    setrlimit(RLIMIT_DATA, &limit);
  }
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) _exit(126);
  execvp(words[0], words);
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

std::optional<int> run_words(const std::vector<std::string>& words, const std::string& output_file,
                             std::size_t max_memory, std::optional<Clock::time_point> deadline) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int output = open(output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (output < 0) fail_internal("{}: {}", output_file, std::strerror(errno));
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) become(arguments.data(), output, max_memory, parent);
  const int error = errno;
  close(output);
  if (pid < 0) fail_internal("no process for a command: {}", std::strerror(error));
  const std::optional<int> status = wait_until(pid, deadline);
  kill(-pid, SIGKILL);  // what it started and left behind
  return status;
}

OtherOutputs failed(int status, const std::string& said) {
  const auto verdict = [&] {
    if (!WIFEXITED(status)) return Verdict::crashed;
    if (WEXITSTATUS(status) == exit_code(ErrorKind::invalid_model)) return Verdict::invalid;
    if (WEXITSTATUS(status) == exit_code(ErrorKind::unsupported)) return Verdict::unsupported;
    if (WEXITSTATUS(status) == exit_code(ErrorKind::limit)) return Verdict::timed_out;
    return Verdict::crashed;
  }();
  const std::string text =
      fmt::format("the runtime {}{}", WIFEXITED(status) ? "" : "was ", describe_status(status));
  return {{}, verdict, said.empty() ? text : text + ": " + said};
}

/// Removed with all in it when the outputs are read.
class Scratch {
 public:
  explicit Scratch(const std::string& folder) : folder_(folder) {
    fs::create_directories(folder_ / "outputs");
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const char* name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_;
};

}  // namespace

std::vector<std::string> parse_command(const std::string& flag, const std::string& text) {
  std::vector<std::string> words;
  char quote = 0;
  bool in_word = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) fail_usage("{}: the quote {} has no end", flag, quote);
  for (const char* name : {"{model}", "{outputs}"})
    if (text.find(name) == text.npos)
      fail_usage("{} takes a command with {{model}}, {{inputs}} and {{outputs}} in it; there is no {}", flag,
                 name);
  if (!can_be_run(words[0])) fail_usage("{}: {} is no program that can be run", flag, words[0]);
  return words;
}

OtherOutputs run_command(const OtherRuntime& runtime, const Case& test, const std::string& inputs,
                         const trial::DataSet& set, const onnx_io::Graph& graph, const std::string& scratch,
                         std::optional<Clock::time_point> deadline) {
  const Scratch folder(scratch);
  std::string from = inputs;
  if (from.empty()) {
    from = folder.path("inputs");
    trial::write_values(from, graph, trial::input_slots(graph), set.inputs, trial::Side::input);
  }
  const std::string outputs = folder.path("outputs"), said = folder.path("said.txt");
  std::vector<std::string> words = runtime.command;
  for (std::string& word : words)
    word = replaced(replaced(replaced(word, "{model}", test.model), "{inputs}", from), "{outputs}", outputs);
  const std::optional<int> status = run_words(words, said, runtime.max_memory, deadline);
  if (!status) return {{}, Verdict::timed_out, "the runtime took longer than the time limit, and was killed"};
  if (*status != 0) return failed(*status, last_line(said));
  OtherOutputs out = read_outputs(outputs, "", graph);
  if (out.verdict == Verdict::missing) {
    const std::string line = last_line(said);
    out.message = "the runtime ended without an error, but " + replaced(out.message, outputs, "{outputs}") +
                  (line.empty() ? "" : "; its last line: " + line);
  }
  return out;
}

}  // namespace grurun::conformance
