#include <fmt/format.h>
#include <sys/wait.h>

#include <filesystem>

#include "conformance/other_runtime.h"
#include "conformance/run_program.h"
#include "conformance/worker.h"
#include "onnx_io/remove_folder.h"
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
  ~Scratch() { onnx_io::remove_folder(folder_.string()); }
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
  std::vector<std::string> more;
  if (runtime.values_between) more.push_back("GRURUN_VALUES_BETWEEN=1");
  const std::optional<int> status = run_words(words, said, runtime.max_memory, deadline, more);
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
