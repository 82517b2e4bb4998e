// The one exception type: a kind that decides the exit code, one line that names the thing, the rule and what
// to do, and the chain of contexts it passed through (model, node, case). Thrown anywhere, caught at a case's
// boundary and in main.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace grurun {

enum class ErrorKind {
  usage,          // exit 2: a flag, name or path the user gave
  invalid_model,  // exit 3: a model or data file that breaks a rule of its format or of the standard
  unsupported,    // exit 4: right by the standard, but not done here
  limit,          // exit 5: time, memory, depth or iterations ran out
  internal,       // exit 70: our own fault
};

/// The documented exit code of the single-model commands for an error of this kind.
int exit_code(ErrorKind kind);

/// "invalid", "unsupported", ...: the word that starts the line on stderr.
const char* kind_name(ErrorKind kind);

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message);

  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }

  /// Outermost first: "model m.onnx", "node 'gru_1' (GRU-14)".
  const std::vector<std::string>& context() const { return context_; }

  /// Says where the error passed through; called from the inside out while it unwinds.
  void add_context(std::string where);

  /// "unsupported: model.onnx: node 'x' (GRU-14): the message"; one line, control characters escaped.
  const char* what() const noexcept override { return line_.c_str(); }

 private:
  void compose();

  ErrorKind kind_;
  std::string message_;
  std::vector<std::string> context_;
  std::string line_;
};

template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void fail_usage(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::usage, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void fail_invalid(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::invalid_model, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void fail_unsupported(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::unsupported, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void fail_internal(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::internal, fmt::format(format, std::forward<Args>(args)...));
}

/// Runs body(); an Error that leaves it gets where() as one more context. where is called only then.
template <typename Where, typename Body>
decltype(auto) with_context(Where&& where, Body&& body) {
  try {
    return body();
  } catch (Error& error) {
    error.add_context(where());
    throw;
  }
}

}  // namespace grurun
