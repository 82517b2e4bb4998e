#include "tests/cli/command_line.h"

#include <onnx/defs/parser.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace grurun::cli::testing {
namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Outcome CommandLine::shell(const std::string& script) const {
  const char* binary = std::getenv("GRURUN_BINARY");
  if (binary == nullptr) {
    ADD_FAILURE() << "GRURUN_BINARY names the program to test; ctest sets it";
    return {};
  }
  // Beside the working folder, so that tests can list what the program left there.
  const fs::path streams = streams_.folder();
  const std::string command = "cd " + quoted(folder().string()) + " && GRURUN=" + quoted(binary) + " && { " +
                              script + "\n} >" + quoted(streams / "out") + " 2>" + quoted(streams / "err");
  // The process that removes what a killed command left is a child of this one when the command has ended:
  // it is waited for, too.
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) std::abort();
  const int status = std::system(command.c_str());
  while (::wait(nullptr) > 0) {
  }
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = content(streams / "out");
  outcome.err = content(streams / "err");
  return outcome;
}

Outcome CommandLine::grurun(const std::vector<std::string>& arguments) const {
  std::string script = "\"$GRURUN\"";
  for (const std::string& argument : arguments) script += " " + quoted(argument);
  return shell(script);
}

void CommandLine::write(const std::string& name, const std::string& bytes) const {
  fs::create_directories((folder() / name).parent_path());
  std::ofstream(folder() / name, std::ios::binary) << bytes;
}

std::string CommandLine::read(const std::string& name) const {
  return content(folder() / name);
}

void CommandLine::write_model(const std::string& name, const std::string& text) const {
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, text.c_str());
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
  write(name, model.SerializeAsString());
}

::testing::AssertionResult fails(const Outcome& outcome, int code, const std::string& kind,
                                 const std::string& fragment) {
  const std::string& line = outcome.err;
  const bool one_line = !line.empty() && line.find('\n') == line.size() - 1;
  const bool right = outcome.code == code && one_line && line.starts_with("grurun: " + kind + ": ") &&
                     line.find(fragment) != std::string::npos && outcome.out.empty();
  if (right) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "wanted exit code " << code << " and one line with '" << kind << "' and '" << fragment
         << "'; exit code " << outcome.code << "\nstderr: " << outcome.err << "stdout: " << outcome.out;
}

}  // namespace grurun::cli::testing
