#include <fmt/format.h>

#include <algorithm>

#include "opset/findings/rules.h"
#include "report/findings/check_format.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

using opset::Finding;
using opset::Severity;

constexpr std::size_t most_of_a_kind = 10;

// GitHub's escapes of a command's text; a property's value has two more.
std::string escaped(const std::string& text, bool property) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::size_t length = character_length(std::string_view(text).substr(at));
    if (c == '%') {
      out += "%25";
    } else if (c == '\r') {
      out += "%0D";
    } else if (c == '\n') {
      out += "%0A";
    } else if (property && c == ':') {
      out += "%3A";
    } else if (property && c == ',') {
      out += "%2C";
    } else if (length == 0) {
      out += ' ';
    } else {
      out.append(text, at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string command(const char* kind, const std::string& path, const std::string& title,
                    const std::string& text) {
  return fmt::format("::{} file={},title={}::{}\n", kind, escaped(path, true), escaped(title, true),
                     escaped(text, false));
}

std::string where(const Finding& finding) {
  std::string text = finding.node;
  if (!finding.op.empty()) text += fmt::format(" ({})", finding.op);
  return text.empty() ? "" : text + ": ";
}

class Commands {
 public:
  void add(const char* kind, std::size_t& count, const std::string& path, const std::string& title,
           const std::string& text) {
    if (++count > most_of_a_kind) {
      ++left_out_;
    } else {
      text_ += command(kind, path, title, text);
    }
  }

  std::string finish() {
    if (left_out_ > 0) text_ += fmt::format("{} more findings; grurun check lists them\n", left_out_);
    return std::move(text_);
  }

 private:
  std::string text_;
  std::size_t left_out_ = 0;
};

}  // namespace

std::string check_github(const std::vector<CheckedModel>& models) {
  Commands commands;
  std::size_t errors = 0;
  for (const CheckedModel& model : models) {
    if (!model.failure.empty()) commands.add("error", errors, model.path, "not read", model.failure);
  }
  for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
    std::size_t others = 0;
    std::size_t& count = severity == Severity::error ? errors : others;
    const char* kind = severity == Severity::note ? "notice" : opset::severity_name(severity);
    for (const CheckedModel& model : models) {
      for (const Finding& finding : model.findings) {
        if (finding.severity != severity) continue;
        commands.add(kind, count, model.path, finding.code, where(finding) + finding.message);
      }
    }
  }
  return commands.finish();
}

}  // namespace grurun::report
